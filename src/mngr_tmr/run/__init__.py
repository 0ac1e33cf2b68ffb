"""A run in the real world: its folder, its steps with mngr's public functions, its progress, its records.

Everything that touches an agent is in steps.py. Start reading at start.py.
"""
