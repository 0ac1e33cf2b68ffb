"""`create`, `clone` and everything else that makes an agent. Start reading at `create.py`."""
