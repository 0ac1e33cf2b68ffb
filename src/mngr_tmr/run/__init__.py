"""Executes a run: its steps with mngr's public functions, threads for them, polls of the agents, its integration.

Everything that touches an agent is in `steps.py`. Start reading at `execution.py`.
"""
