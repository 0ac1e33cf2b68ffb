"""Hosts of a run: one is made ready, kept as a snapshot, and all others start from it."""

import os

import mngr
from mngr_tmr.copies.copy import Copy
from mngr_tmr.model.run import RunSpec


def keep_ready(copy: Copy, run: RunSpec, manager: mngr.Manager) -> str:
    """Keeps the host of a copy, with all that its setup installed; the snapshot's name, empty where there are none."""
    if run.knobs.snapshot or "snapshot" not in manager.provider(run.knobs.provider or "local").options:
        return run.knobs.snapshot
    name = f"{_prefix(run)}{os.urandom(2).hex()}"
    mngr.create_snapshot(copy.agent, name, manager=manager)
    return name


def drop_ready(run: RunSpec, manager: mngr.Manager) -> bool:
    """Removes the snapshot that was made for the run; one that the user named stays."""
    name = run.knobs.snapshot
    is_there = name.startswith(_prefix(run)) and any(
        snapshot.name == name for snapshot in mngr.list_snapshots(manager=manager)
    )
    if is_there:
        mngr.destroy_snapshot(name, manager=manager)
    return is_there


def _prefix(run: RunSpec) -> str:
    return f"tmr-{run.id}-"
