"""A provider with latency, drops and losses on demand, on this machine. Start reading at `provider.py`."""
