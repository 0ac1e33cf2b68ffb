"""Which tests need no agent, since nothing that they depend on changed after their last verified pass.

Owns the record of passes in a run's folder and what git says of later changes. Start reading at decide.py.
"""
