"""Splits the commits of agents into changes that are integrated whole or not at all. Start reading at split.py."""
