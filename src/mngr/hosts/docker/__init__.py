"""Hosts that are containers, through the docker command. Start reading at `provider.py`."""
