"""Codex: its own screen in the pane, and messages through its app server.

`phase.py` is all that `list` loads; `type.py` is the rest.
"""
