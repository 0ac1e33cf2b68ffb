"""Claude Code: its own screen in the pane, watched through its own hooks.

`phase.py` is all that `list` loads; `type.py` is the rest.
"""
