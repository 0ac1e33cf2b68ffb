"""Snapshots of agents and of hosts. Start reading at `snapshot.py`."""
