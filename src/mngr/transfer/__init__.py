"""Code there and back again: how a working copy reaches a host, and how its work returns.

May import hosts and below. Start with `protocol.py`; `mirror.py` is the way that works everywhere.
"""
