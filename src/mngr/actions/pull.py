"""`pull`: an agent's commits as a branch of your repository, its files into a directory."""

import os
from collections.abc import Sequence

import msgspec
from msgspec import Struct

from mngr import registry
from mngr.actions.creation_record import unverified, verified_spec
from mngr.actions.destroy import source_of
from mngr.actions.manager import Manager, default_manager
from mngr.actions.rows import Row
from mngr.actions.targets import Target, resolve_one
from mngr.errors import NotFoundError, RefusedError, UsageError
from mngr.hosts.protocol import shares_files
from mngr.model.agent import Agent
from mngr.model.ids import is_agent_id, is_valid_name
from mngr.store.paths import HostPaths
from mngr.transfer import files
from mngr.transfer.merge import How, merge_brought
from mngr.transfer.protocol import Transfer, WorkSource
from mngr.transfer.safe_paths import Limits
from mngr.transfer.source import check_branch, find_source


class Pulled(Struct, frozen=True):
    """What came home: the branch, where it stood before and after, in which repository, and what to tell a person."""

    agent: Agent
    changed: bool
    branch: str = ""
    before: str = ""
    after: str = ""
    files: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    repository: str = ""


class Home(Struct, frozen=True):
    """Where an agent's commits belong: a repository and branch of this machine; and where they come from."""

    source: WorkSource
    branch: str
    transfer: str
    work_dir: str
    unverified: str = ""
    """Why this is not where it was created from, for a person to know before anything is touched."""


def pull(
    agent: Target, *, mode: str = "", include_dirty: bool = False, manager: Manager | None = None
) -> Pulled:
    """Fetches the agent's branch into its source repository, touching no checked-out file.

    `mode` merge, rebase or ff-only also brings it into the checked-out branch; on conflict everything is put back.
    Commits of an agent on another host that was not created from here come to the repository of the current directory.
    """
    manager = default_manager(manager)
    row = resolve_one(manager, agent)
    home = home_of(row, manager)
    for warning in pull_warnings(home):
        manager.warn(warning)
    into = msgspec.structs.replace(home.source, include_dirty=include_dirty)
    transfer: Transfer = registry.load(registry.TRANSFERS, home.transfer)()
    brought = transfer.bring_back(row.host, home.work_dir, into, home.branch)
    changed = brought.before != brought.after
    if mode:
        merged = merge_brought(into, brought.branch, How(mode))
        changed = changed or merged.before != merged.after
        note = f"{merged.branch or 'HEAD'} in {into.top}: {merged.before[:10]} → {merged.after[:10]}"
        brought = msgspec.structs.replace(brought, notes=(*brought.notes, note))
    manager.hook("after_pull", agent=row.agent, brought=brought)
    return Pulled(
        row.agent,
        changed,
        brought.branch,
        brought.before,
        brought.after,
        notes=brought.notes,
        repository=into.top or into.common_dir,
    )


def pull_outbox(
    agent: Target, to: str, *, force: bool = False, max_bytes: int = 0, manager: Manager | None = None
) -> Pulled:
    """Brings everything the agent handed over into `to`/NAME; what is past `max_bytes` is left out, with a note."""
    manager = default_manager(manager)
    row = resolve_one(manager, agent)
    outbox = HostPaths(row.host.dir).agent(row.agent.id).outbox
    into = os.path.join(manager.cwd, to, _safe_name(row.agent))
    if os.path.islink(into):
        raise RefusedError(
            f"{into} is a link: files of an agent do not go through it", hint="name another directory: --to"
        )
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


def home_of(row: Row, manager: Manager) -> Home:
    """The repository and branch that the agent was created from; what this machine cannot verify stays out of both.

    Where there is no such repository it is the one of the current directory, and for an agent on another host a branch
    that no other agent has. Raises RefusedError when a host says something else than what was asked for.
    """
    spec = verified_spec(row, manager)
    source = source_of(spec) if spec else None
    if spec and (source or shares_files(row.host)):
        home = Home(source or find_source(manager.cwd), spec.branch, spec.transfer, spec.work_dir)
    else:
        source = find_source(manager.cwd)
        branch = check_branch(f"mngr/{_safe_name(row.agent)}@{row.host.name}")
        why = f"{spec.source}, which it came from, is not there" if spec else unverified(row)
        transfer = "none" if (spec or row.spec).transfer == "none" else "mirror"
        home = Home(source, branch, transfer, (spec or row.spec).work_dir, why)
    if not home.source.common_dir:
        raise UsageError(
            f'"{row.agent.name}" came from a folder without git: {home.source.path}',
            hint=f"bring files instead: mngr pull {row.agent.name} --files '*' --to DIR",
        )
    return home


def pull_warnings(home: Home) -> tuple[str, ...]:
    """What to say before commits are fetched to somewhere else than where the agent was created from."""
    where = f"branch {home.branch} in {home.source.top or home.source.path}"
    return (f"{home.unverified}; its commits come to {where}",) if home.unverified else ()


def _safe_name(agent: Agent) -> str:
    """A name that can be part of a path or branch here, whatever the host calls the agent."""
    if is_valid_name(agent.name):
        return agent.name
    if is_agent_id(agent.id):
        return agent.id
    raise RefusedError(f"agent {agent.id!r} has neither a name nor an id that can be used here")
