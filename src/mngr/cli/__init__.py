"""Words in, actions, text or JSON out: one file a command, and nothing here decides anything about agents.

May import every room; no room imports it. Start with `commands.py` and `app.py`, then `verb.py` and any verb.
"""
