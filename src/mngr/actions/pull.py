"""`pull`: an agent's commits come home as a branch, its files into a directory."""

import os
from collections.abc import Sequence

import msgspec
from msgspec import Struct

from mngr import registry
from mngr.actions.destroy import source_of
from mngr.actions.manager import Manager, default_manager
from mngr.actions.rows import Row
from mngr.actions.targets import Target, resolve_one
from mngr.errors import NotFoundError, UsageError
from mngr.model.agent import Agent
from mngr.store.paths import HostPaths
from mngr.transfer import files
from mngr.transfer.confine import Limits
from mngr.transfer.merge import How, merge_brought
from mngr.transfer.protocol import Brought, Source, Transfer
from mngr.transfer.source import find_source


class Pulled(Struct, frozen=True):
    """What came home: the branch, where it stood before and after, and what to tell a person."""

    agent: Agent
    changed: bool
    branch: str = ""
    before: str = ""
    after: str = ""
    files: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()


def pull(
    agent: Target, *, mode: str = "", include_dirty: bool = False, manager: Manager | None = None
) -> Pulled:
    """Fetches the agent's branch into its source repository, touching no checked-out file.

    `mode` merge, rebase or ff-only also brings it into the checked-out branch; on conflict everything is put back.
    """
    manager = default_manager(manager)
    row = resolve_one(manager, agent)
    into = msgspec.structs.replace(home_of(row, manager), include_dirty=include_dirty)
    transfer: Transfer = registry.load(registry.TRANSFERS, row.spec.transfer)()
    brought = transfer.bring_back(row.host, row.spec.work_dir, into, row.spec.branch)
    changed = brought.before != brought.after
    if mode:
        merged = merge_brought(into, brought.branch, How(mode))
        changed = changed or merged.before != merged.after
        brought = _joined(brought, merged)
    manager.hook("after_pull", agent=row.agent, brought=brought)
    return Pulled(row.agent, changed, brought.branch, brought.before, brought.after, notes=brought.notes)


def pull_outbox(
    agent: Target, to: str, *, force: bool = False, max_bytes: int = 0, manager: Manager | None = None
) -> Pulled:
    """Brings everything the agent handed over into `to`/NAME; what is past `max_bytes` is left out, with a note."""
    manager = default_manager(manager)
    row = resolve_one(manager, agent)
    outbox = HostPaths(row.host.dir).agent(row.agent.id).outbox
    into = os.path.join(manager.cwd, to, row.agent.name)
    try:
        limits = Limits(file_bytes=max_bytes, total_bytes=max_bytes) if max_bytes else Limits()
        pulled = files.pull_outbox(row.host, outbox, into, limits=limits, force=force)
    except NotFoundError:
        return Pulled(row.agent, False, notes=("its outbox is empty",))
    return Pulled(row.agent, bool(pulled.files), files=pulled.files, notes=pulled.notes)


def pull_files(
    agent: Target,
    patterns: Sequence[str],
    to: str,
    *,
    force: bool = False,
    manager: Manager | None = None,
) -> Pulled:
    """Brings files of the agent's work dir that match shell patterns into `to`."""
    manager = default_manager(manager)
    row = resolve_one(manager, agent)
    pulled = files.pull_files(
        row.host, row.spec.work_dir, patterns, os.path.join(manager.cwd, to), force=force
    )
    return Pulled(row.agent, bool(pulled.files), files=pulled.files, notes=pulled.notes)


def home_of(row: Row, manager: Manager) -> Source:
    """The repository the agent came from; from another machine, the one we are in."""
    home = source_of(row.spec) or find_source(manager.cwd)
    if not home.common_dir:
        raise UsageError(
            f'"{row.agent.name}" came from a folder without git: {home.path}',
            hint=f"bring files instead: mngr pull {row.agent.name} --files '*' --to DIR",
        )
    return home


def _joined(brought: Brought, merged: Brought) -> Brought:
    note = f"{merged.branch or 'HEAD'}: {merged.before[:10]} → {merged.after[:10]}"
    return msgspec.structs.replace(brought, notes=(*brought.notes, note))
