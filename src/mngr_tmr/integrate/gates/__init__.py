"""Checks a built branch, and finds and drops the changes that break it. Start reading at gates.py."""
