"""Which tests there are: asked of pytest itself, in a copy of the base commit, each made into a task.

Owns what is uncommitted, cited blocks and names; imports mngr_tmr.copies, mngr_tmr.model and the test kit's reading
of citations. Start reading at collect.py.
"""
