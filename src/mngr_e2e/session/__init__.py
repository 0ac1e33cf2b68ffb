"""One test's world: its own home, repository and state; the commands it ran; the terminals it drove.

Imports nothing of the other rooms. Start reading at `session.py`; `runner.py` is the only module that starts processes.
"""
