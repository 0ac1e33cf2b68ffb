"""A home, a repository and a temporary folder for a test, and the end of their processes. Start at `isolation.py`."""
