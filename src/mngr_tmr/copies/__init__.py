"""Fresh working copies of a commit: made with `mngr.create`, used through `mngr.exec_in`, destroyed whatever happens.

Owns how pytest is run in one and what it reports; imports mngr_tmr.publish and mngr_tmr.model. Start at copy.py.
"""
