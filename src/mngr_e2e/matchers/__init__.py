"""Expectations that say, when they fail, which command produced what was found.

Knows results, texts, JSON values, files and terminals; imports the session room's records only. Start at `expect.py`.
"""
