"""Recordings of agents' terminals: `mngr-e2e-connect` makes them, `cast` reads them, `stop` ends them.

Stands on tmux's attach line and the environment that mngr gives a connect command; imports nothing of mngr.
Start reading in `connect`.
"""
