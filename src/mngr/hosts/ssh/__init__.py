"""Hosts reached by OpenSSH: the user's own config, keys and jump hosts. Start reading at `provider.py`."""
