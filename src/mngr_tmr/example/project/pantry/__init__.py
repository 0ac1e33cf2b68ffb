"""Pantry: what is on the shelf."""
