"""`create`, `create_many` and `clone`: whatever makes an agent. Start reading at `STEPS` in `steps.py`."""
