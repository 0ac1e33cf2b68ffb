"""The verbs, one file each: they move bytes with Host, take locks, append events, and undo themselves on failure.

May import every room but cli. Start with `manager.py` (what all verbs share), then `create.py` and `rows.py`.
"""
