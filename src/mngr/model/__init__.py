"""The nouns: frozen records and the small grammars they are written in.

Imports nothing of ours but errors. Start with `agent.py`, then `address.py`.
"""
