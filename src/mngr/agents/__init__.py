"""Agent types: what to run, what its evidence means, how to talk to it, what it cost.

May import tmux, transfer, hosts and below. Start with `protocol.py`; `command.py` is the smallest example.
"""
