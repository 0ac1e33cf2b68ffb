"""Tests that agents write until every block of a tutorial is cited exactly. Start at `sync.py`."""
