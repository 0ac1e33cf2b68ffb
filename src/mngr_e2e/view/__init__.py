"""Artifacts on disk to the records that the page shows; whatever is there was perhaps written by an agent.

Reads with files.py alone, which follows no link and stops at a size; imports the kit's other rooms and mngr_view,
and of mngr nothing. Start at `source.py`, then `runs.py` and `detail.py`.
"""
