"""The tutorial as a contract: its blocks, the tests that cite them, and the check that each has one.

Reads files and imports none of them; of mngr it knows nothing. Start at `check.py`.
"""
