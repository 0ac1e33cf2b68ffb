"""What a program accepts, read from its help, and drafts compared with it. Start at `proofread.py`."""
