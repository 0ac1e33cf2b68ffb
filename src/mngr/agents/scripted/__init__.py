"""An agent that follows a playbook instead of a model: free, offline and deterministic.

`phase.py` is all that `list` loads; `type.py` is the rest.
"""
