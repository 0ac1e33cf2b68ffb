"""How long tests wait for what has to happen."""

PATIENCE_S = 300.0
"""Far more than a loaded machine needs: only a failure takes as long. A whole pipeline gets a multiple of it."""
