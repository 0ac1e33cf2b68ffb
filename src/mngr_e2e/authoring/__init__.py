"""Agents that write: drafts under a tutorial's gaps, tests for its blocks, and what their mistakes tell.

Decides in pure functions what an agent may change and what is wrong with it; starts agents only through the
public functions of mngr. Start at `drafting.py` and `syncing.py`.
"""
