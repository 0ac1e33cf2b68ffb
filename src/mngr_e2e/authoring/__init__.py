"""Agents that write: drafts under a tutorial's gaps, tests for its blocks, and statistics of their mistakes.

Pure functions decide what an agent may change and what is wrong with it; agents are started only through the
public functions of mngr. Start at `drafting/draft.py` and `syncing/sync.py`.
"""
