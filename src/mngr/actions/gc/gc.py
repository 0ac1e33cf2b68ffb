"""`gc`: finds and removes what has no owner. Never acts where a listing failed, nor on a row that is only damaged."""

import os
from collections.abc import Sequence

import msgspec
from msgspec import Struct

from mngr.actions import claim
from mngr.actions.creation_record import drop_stale_records, remove_records
from mngr.actions.destroy import destroy_rows, source_of
from mngr.actions.gc.hosts import ABANDONED, drop_stale_notes, remove_host, unused_hosts
from mngr.actions.gc.scan import AGENT_DIR, NAME, REMOVAL, SESSION, SOCKET, WORK, ScannedItem, scan
from mngr.actions.gc.work_dirs import remove_unused, when_unused
from mngr.actions.list import look_everywhere
from mngr.actions.manager import Manager, default_manager
from mngr.actions.owner import is_left_alone
from mngr.actions.rows import ACT_S, Look, Row, look_at
from mngr.errors import MngrError, TimedOutError, UnreachableError, UsageError
from mngr.hosts.protocol import Host, shares_files
from mngr.model.agent import AgentSpec, AgentState
from mngr.model.host import HostRef, HostState
from mngr.sh.lines import remove_tree
from mngr.sh.program import READ_AND_RUN, encode, quote
from mngr.store.paths import HostPaths
from mngr.tmux.server import end_if_empty
from mngr.transfer.discard import discard
from mngr.transfer.git import git
from mngr.transfer.protocol import Sent, WorkSource
from mngr.transfer.refs import stale_refs
from mngr.transfer.source import find_source

CREATION, OWNED, REF, HOST = "creation", "agent", "ref", "host"
# Longer than the launch of an agent takes: until then a start without a process id may still get one.
_LAUNCH_S = 60
# What may still run, before the directories it runs in.
_FIRST = (SESSION, AGENT_DIR, CREATION, OWNED)
_WHY = {
    CREATION: "its creation was interrupted",
    OWNED: ABANDONED,
    WORK: "no agent works there",
    NAME: "no agent has it",
    AGENT_DIR: "it has held no agent for an hour",
    SESSION: "its agent is gone",
    SOCKET: "no tmux server answers",
    REMOVAL: "the process that removed it was interrupted",
    REF: "what it was for was interrupted or is gone",
}


class Garbage(Struct, frozen=True):
    """A thing without an owner: what it is, why it is none, and on which host."""

    kind: str
    what: str
    why: str
    host: HostRef = HostRef()
    agent_id: str = ""


def find_garbage(*, manager: Manager | None = None) -> list[Garbage]:
    """What `remove_garbage` would remove, on every host that answers; changes nothing."""
    manager = default_manager(manager)
    looks = look_everywhere(manager, deadline_s=ACT_S)
    orphans = _orphans(looks, manager)
    gone = {(item.host.provider, item.host.name) for item in orphans}
    hosts = [host for host in _hosts(looks, manager) if (host.provider, host.name) not in gone]
    return orphans + [item for host in hosts for item in _garbage_there(host, manager)]


def remove_garbage(items: Sequence[Garbage], *, manager: Manager | None = None) -> list[str]:
    """Removes what is still garbage now, and says what was kept. Raises when something could not be removed."""
    manager = default_manager(manager)
    notes: list[str] = []
    failed: list[MngrError] = []
    looks = look_everywhere(manager, deadline_s=ACT_S)
    drop_stale_notes(manager, looks)
    drop_stale_records(manager, looks)
    for item in _orphans(looks, manager):
        if _key(item) in map(_key, items):
            try:
                remove_host(manager, item.host)
            except MngrError as error:
                failed.append(error)
    for host in _hosts(looks, manager):
        here = (host.provider, host.name)
        if not any(item.kind != HOST and (item.host.provider, item.host.name) == here for item in items):
            continue
        now = {_key(item): item for item in _garbage_there(host, manager)}
        rows = {row.agent.id: row for row in look_at(host, manager)} if now else {}
        still = [now[_key(item)] for item in items if _key(item) in now]
        for item in sorted(still, key=lambda item: item.kind not in _FIRST):
            try:
                notes += _remove(item, host, rows, manager)
            except MngrError as error:
                failed.append(error)
    if failed:
        raise MngrError(
            f"{len(failed)} of {len(items)} could not be removed: {failed[0].message}", hint=failed[0].hint
        )
    return notes


def _garbage_there(host: Host, manager: Manager) -> list[Garbage]:
    """The garbage of a host; none that we know of when it stops answering meanwhile."""
    try:
        return garbage_on(host, manager)
    except (UnreachableError, TimedOutError) as error:
        manager.warn(f"left alone: {error.message}")
        return []


def garbage_on(host: Host, manager: Manager) -> list[Garbage]:
    """The garbage of one host: its directory first, rows after, so that an agent made meanwhile is seen."""
    scanned = scan(host)
    rows = look_at(host, manager)
    ref = HostRef(host.name, host.provider)
    found = [
        Garbage(CREATION, row.agent.name, _WHY[CREATION], ref, row.agent.id)
        for row in rows
        if is_interrupted(row)
    ]
    found += [
        Garbage(OWNED, row.agent.name, _WHY[OWNED], ref, row.agent.id)
        for row in rows
        if is_left_alone(row.agent) and not is_interrupted(row)
    ]
    found += [
        Garbage(item.kind, item.what, _WHY.get(item.kind, "it is not used any more"), ref, item.agent_id)
        for item in scanned
        if not _is_owned(item, rows)
    ]
    if not shares_files(host):
        return found
    # References of ours: in the repositories of agents and in the current one.
    sources = {row.evidence.spec.source: source_of(row.evidence.spec) for row in rows if row.evidence.spec}
    try:
        here: WorkSource | None = find_source(manager.cwd)
    except UsageError:
        here = None
    repositories = {source.common_dir for source in (*sources.values(), here) if source}
    return found + [
        Garbage(REF, f"{repository} {name}", _WHY[REF], ref)
        for repository in sorted(filter(None, repositories))
        for name in stale_refs(repository, manager.host_dir)
    ]


def is_interrupted(row: Row) -> bool:
    """Whether the agent was never finished and no living process is finishing it."""
    folded = row.evidence.folded
    if row.evidence.spec is None or folded.created or folded.skipped or row.agent.state != AgentState.UNKNOWN:
        return False
    if row.evidence.alive or row.evidence.pane:
        return False
    return folded.started_at is None or row.now - folded.started_at > _LAUNCH_S


def _orphans(looks: Sequence[Look], manager: Manager) -> list[Garbage]:
    return [Garbage(HOST, ref.name, why, ref) for ref, why in unused_hosts(manager, looks)]


def _hosts(looks: Sequence[Look], manager: Manager) -> list[Host]:
    """Hosts whose listing worked."""
    hosts: list[Host] = []
    for look in looks:
        if look.warning:
            manager.warn(f"left alone: {look.warning}")
        elif look.ref.state == HostState.RUNNING:
            try:
                hosts.append(look.host or manager.provider(look.ref.provider).open(look.ref.name))
            except MngrError as error:
                manager.warn(f"left alone: {error.message}")
    return hosts


def _key(item: Garbage) -> tuple[str, ...]:
    return (item.host.provider, item.host.name, item.kind, item.what, item.agent_id)


def _is_owned(item: ScannedItem, rows: Sequence[Row]) -> bool:
    if item.kind != WORK:
        return False
    for row in rows:
        spec = row.evidence.spec
        if spec is None:
            # Its record is unreadable, but a work dir's name ends in the start of its agent's id.
            if item.what.endswith(f"-{row.agent.id[6:12]}"):
                return True
        elif (spec.work_dir + "/").startswith(item.what + "/"):
            return True
    return False


def _remove(item: Garbage, host: Host, rows: dict[str, Row], manager: Manager) -> tuple[str, ...]:
    if item.kind == CREATION:
        return _remove_creation(rows[item.agent_id], manager)
    if item.kind == OWNED:
        (gone,) = destroy_rows([rows[item.agent_id]], manager=manager)
        if isinstance(gone, MngrError):
            raise gone
        return gone.notes
    if item.kind == WORK:
        return remove_unused(host, item.what)
    if item.kind in (SESSION, AGENT_DIR):
        # Ends what still runs for an agent that is no more.
        session = item.what if item.kind == SESSION else ""
        claim.end_session(host, AgentSpec(item.agent_id, session, "", (), "", 0.0, prefix=""))
    paths = HostPaths(host.dir)
    if item.kind == NAME:
        own, name = quote(paths.agent(item.agent_id).dir), item.what.rpartition("/")[2]
        has_owner = f"[ -d {own} ]" if item.agent_id else "false"
        script = f"! {has_owner} || exit 0\n{claim.drop_names(paths, {item.agent_id: name})}"
    elif item.kind == SOCKET:
        script = end_if_empty(paths)
    elif item.kind == REF:
        repository, _, name = item.what.rpartition(" ")
        git(repository, "update-ref", "-d", name).check(f"removing {name}")
        return ()
    else:
        script = (
            f"{remove_tree(quote(item.what))}; [ ! -e {quote(item.what)} ]" if item.kind != SESSION else ":"
        )
    host.run(READ_AND_RUN, stdin=encode(script), timeout_s=600).check(f"removing {item.what}")
    return ()


def _remove_creation(row: Row, manager: Manager) -> tuple[str, ...]:
    """Takes back every step of a creation whose process is gone, and waits for what it left running."""
    spec, host = row.spec, row.host
    claim.end_session(host, spec)
    if _is_inside(spec, host):
        when_unused(host, spec.work_dir)
    sent = _what_was_sent(spec, host)
    source = source_of(spec) if shares_files(host) else None
    notes = discard(host, sent, source, spec.transfer) if sent else ()
    claim.release(host, spec)
    remove_records(manager, host, [spec.id])
    if spec.owns_host and not look_at(host, manager):
        manager.provider(host.provider).destroy(host.name)
    return notes


def _what_was_sent(spec: AgentSpec, host: Host) -> Sent | None:
    """What the transfer made, as far as it came; None when it made nothing that is surely ours."""
    sent = Sent(spec.work_dir, "", spec.base_commit, owns_work_dir=spec.owns_work_dir)
    if spec.transfer != "worktree" or not shares_files(host):
        return sent if spec.owns_work_dir else None
    if not os.path.lexists(os.path.join(spec.work_dir, ".git")):
        return sent if _is_inside(spec, host) else None
    branch = git(spec.work_dir, "rev-parse", "--abbrev-ref", "HEAD", isolated=True).text.strip()
    number = branch.removeprefix(spec.branch)
    if branch.startswith(spec.branch) and (not number or number.removeprefix("-").isdigit()):
        return msgspec.structs.replace(sent, branch=branch, owns_branch=True)
    return sent if _is_inside(spec, host) else None


def _is_inside(spec: AgentSpec, host: Host) -> bool:
    return spec.work_dir.startswith(HostPaths(host.dir).work + "/")
