"""Puts changes on one linear branch: their order, merges and conflicts, commit messages, and the ledger.

Start reading at plan.py and builder.py.
"""
