"""OpenCode: its own screen in the pane, and messages through a plugin inside it.

`phase.py` is all that `list` loads; `type.py` is the rest.
"""
