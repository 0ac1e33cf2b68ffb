"""Hosts of a run: one is made ready, kept as a snapshot, and all others start from it."""

import os
from collections.abc import Mapping

from msgspec.structs import replace

import mngr
from mngr_tmr.copies.copy import Copy, open_copy
from mngr_tmr.model.run import RunSpec


def name_base_snapshot(run: RunSpec, manager: mngr.Manager) -> RunSpec:
    """The run with a name for its snapshot, which is yet to be made; none where the provider keeps no hosts."""
    if run.options.snapshot or "snapshot" not in manager.provider(run.options.provider or "local").options:
        return run
    return replace(run, options=replace(run.options, snapshot=f"{_prefix(run)}{os.urandom(2).hex()}"))


def make_base_snapshot(run: RunSpec, copy: Copy, manager: mngr.Manager) -> None:
    """Keeps the host of a copy, with all that its setup installed, under the name that the run has for it."""
    if _is_ours(run):
        mngr.create_snapshot(copy.agent, run.options.snapshot, manager=manager)


def ensure_base_snapshot(run: RunSpec, env: Mapping[str, str], manager: mngr.Manager) -> None:
    """Makes the run's snapshot where it is missing: the process that was to make it may have been killed."""
    if not _is_ours(run) or _is_there(run, manager):
        return
    bare = replace(run, options=replace(run.options, snapshot=""))
    with open_copy(bare, run.base, env, manager) as copy:
        make_base_snapshot(run, copy, manager)


def find_base_snapshot(run: RunSpec, manager: mngr.Manager) -> str:
    """The snapshot that was made for the run and is still there; one that the user named is not the run's."""
    return run.options.snapshot if _is_ours(run) and _is_there(run, manager) else ""


def drop_base_snapshot(run: RunSpec, manager: mngr.Manager) -> None:
    """Removes the snapshot that was made for the run."""
    if name := find_base_snapshot(run, manager):
        mngr.destroy_snapshot(name, manager=manager)


def _is_there(run: RunSpec, manager: mngr.Manager) -> bool:
    return any(found.name == run.options.snapshot for found in mngr.list_snapshots(manager=manager))


def _is_ours(run: RunSpec) -> bool:
    return run.options.snapshot.startswith(_prefix(run))


def _prefix(run: RunSpec) -> str:
    return f"tmr-{run.id}-"
