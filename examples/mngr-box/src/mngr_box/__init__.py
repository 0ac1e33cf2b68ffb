"""An example plugin: one of each thing a plugin can add. Start with `provider.py`."""
