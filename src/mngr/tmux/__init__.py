"""Panes on any host: our own tmux server, sessions, what is typed and shown, and the terminal recorder.

Everything is sh text run through `Host.run`. May import hosts and below. Start with `server.py`, then `session.py`.
"""
