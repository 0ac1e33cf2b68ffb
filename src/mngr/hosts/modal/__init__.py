"""Hosts that are Modal sandboxes, through Modal's SDK. Start reading at `provider.py`."""
