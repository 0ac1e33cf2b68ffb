"""`snapshot`: checkpoints of an agent's work tree and state, kept on its host, also after the agent is gone.

Where the provider keeps whole hosts, the checkpoint is in an image of its host too, which outlives the host.
"""

import time
from collections.abc import Callable, Sequence
from functools import partial

import msgspec

from mngr.actions.creation_record import copy_record_to_snapshot, remove_snapshot_record
from mngr.actions.destroy import source_of
from mngr.actions.environment import identity_env
from mngr.actions.list import look_everywhere
from mngr.actions.manager import Manager, default_manager
from mngr.actions.rows import ACT_S, Row, iso, look_at
from mngr.actions.snapshots.checkpoint import (
    Snapshot,
    Taken,
    put_back_script,
    remove_script,
    snapshot_dir,
    take_script,
)
from mngr.actions.snapshots.images import keep_host, kept_hosts
from mngr.actions.start import start_row
from mngr.actions.stop import stop_rows
from mngr.actions.targets import agent_of_directory, resolve, resolve_one
from mngr.errors import (
    MngrError,
    NotFoundError,
    RefusedError,
    UsageError,
    did_you_mean,
)
from mngr.hosts.protocol import Host, Snapshots
from mngr.model import event as kinds
from mngr.model.agent import Agent, AgentState, Change
from mngr.model.event import Event
from mngr.model.host import HostRef, HostState
from mngr.model.ids import check_name, is_agent_id, is_valid_name, slug
from mngr.process import Completed
from mngr.sh.codes import Exit
from mngr.sh.lines import append, put, ring
from mngr.sh.program import READ_AND_RUN, encode, quote
from mngr.store.paths import HostPaths
from mngr.store.rules import UnfitError
from mngr.store.runfile import RunFile, parse_run_file, run_file_text
from mngr.store.untrusted import decode
from mngr.transfer.git import run_script
from mngr.transfer.view import Checkout, checkout_of
from mngr_lib.threads import run_all

_TIMEOUT_S = 3600.0
_NAME_LIMIT = 63


def create_snapshot(
    agent: Agent | str, name: str = "", *, note: str = "", manager: Manager | None = None
) -> Snapshot:
    """Keeps the work tree and state of an agent as they are now; it runs on. Names are unique per host."""
    manager = default_manager(manager)
    if name:
        check_name(name, "snapshot name")
    row = resolve_one(manager, agent)
    snapshot = _take(row, name, note, manager)
    try:
        keep_host(row, snapshot, manager)
    except BaseException:
        run_script(row.host, remove_script(row.host, snapshot.taken))
        raise
    return snapshot


def list_snapshots(
    agent: Agent | str | None = None, *, manager: Manager | None = None
) -> tuple[Snapshot, ...]:
    """Snapshots on every host that answers, oldest first; of one agent, which may be destroyed by now.

    NotFoundError when there is neither such an agent nor a snapshot of it.
    """
    manager = default_manager(manager)
    agent_name = agent if isinstance(agent, str) else agent.id if agent else ""
    found = [snapshot for snapshot, _ in _everywhere(manager)]
    known = {(shot.name, shot.agent_id) for shot in found}
    found += [shot for shot, _ in kept_hosts(manager) if (shot.name, shot.agent_id) not in known]
    if agent_name:
        resolved = resolve(manager, [agent_name])
        ids = {row.agent.id for row in resolved.rows} or {agent_name}
        found = [shot for shot in found if shot.agent_id in ids or shot.agent_name == agent_name]
        for error in () if found else resolved.missing.values():
            raise error
    return tuple(sorted(found, key=lambda snapshot: snapshot.created_at))


def restore_snapshot(
    name: str, agent: Agent | str | None = None, *, manager: Manager | None = None
) -> Change:
    """Makes an agent's files what they were, after keeping what they are as NAME-before-restore-N.

    It is stopped for that and started again if it ran. Its log, name and labels go on; ignored files stay.
    """
    manager = default_manager(manager)
    snapshot, host = find_snapshot(name, agent, manager=manager)
    rows = look_at(host, manager, agent_glob=snapshot.agent_id)
    if not rows:
        raise NotFoundError(
            f'"{snapshot.agent_name}", which snapshot "{snapshot.name}" was taken of, is no more',
            hint=f"start a new agent from it: mngr create NAME --snapshot {snapshot.name}",
        )
    row = rows[0]
    if row.agent.state == AgentState.CREATING:
        raise RefusedError(f'"{row.agent.name}" is still being created', hint="wait for it")
    is_running = row.agent.state in (AgentState.RUNNING, AgentState.WAITING)
    stop_rows([row], manager=manager)
    suffix = "-before-restore"
    base = slug(name.partition(suffix)[0], _NAME_LIMIT - len(suffix) - 6) + suffix
    before = _take(row, base, f"before restoring {name}", manager, is_auto_named=True)
    notes = _put_back(row, snapshot, before)
    after = look_at(host, manager, agent_glob=row.agent.id)[0]
    agent_now = start_row(after, manager).agent if is_running else after.agent
    return Change(agent_now, changed=True, notes=notes)


def destroy_snapshot(name: str, *, manager: Manager | None = None) -> Snapshot:
    """Removes a snapshot, also one whose host is gone; the agent it was taken of is left alone."""
    manager = default_manager(manager)
    snapshot, hosts, keepers = _everything_of(name, manager)
    for host in hosts:
        script = remove_script(host, snapshot.taken)
        run_script(host, script, timeout_s=_TIMEOUT_S).check(f"removing snapshot {name}")
    for provider in keepers:
        provider.drop(name)
    remove_snapshot_record(manager, snapshot.host.provider, snapshot.agent_id, snapshot.name)
    return snapshot


def snapshot_to_destroy(name: str, *, manager: Manager) -> Snapshot:
    """The snapshot that `destroy_snapshot` would remove."""
    return _everything_of(name, manager)[0]


def _everything_of(name: str, manager: Manager) -> tuple[Snapshot, list[Host], list[Snapshots]]:
    """A snapshot, the hosts that have it, and who keeps an image of its host, which may be all that is left."""
    check_name(name, "snapshot name")
    everywhere, images = _everywhere(manager), kept_hosts(manager)
    copies = [(shot, host) for shot, host in everywhere if shot.name == name]
    kept = [(shot, provider) for shot, provider in images if shot.name == name]
    agents = {shot.agent_id for shot, _ in (copies or kept)}
    if not agents:
        known = [shot.name for shot, _ in (*everywhere, *images)]
        raise NotFoundError(
            f'no snapshot "{name}"', hint=did_you_mean(name, known, else_hint="see: mngr snapshot list")
        )
    kept = [(shot, provider) for shot, provider in kept if shot.agent_id in agents]
    # Hosts that were made from an image have the checkpoint in it too.
    if len(agents) > 1 or (len(copies) > 1 and not kept):
        where = ", ".join(f"{shot.agent_name}@{shot.host.address}" for shot, _ in copies or kept)
        raise UsageError(f'"{name}" could be a snapshot of any of: {where}', hint="see: mngr snapshot list")
    return (copies or kept)[0][0], [host for _, host in copies], [provider for _, provider in kept]


def find_snapshot(
    name: str, agent: Agent | str | None = None, *, manager: Manager, on: Host | None = None
) -> tuple[Snapshot, Host]:
    """The one snapshot of that name, anywhere or on one host, and the host it is on."""
    check_name(name, "snapshot name")
    everywhere = _on_host(on, manager) if on else _everywhere(manager)
    agent_name = agent if isinstance(agent, str) else agent.id if agent else ""
    found = [
        (shot, host)
        for shot, host in everywhere
        if shot.name == name and agent_name in ("", shot.agent_id, shot.agent_name)
    ]
    if not found:
        of = f' of agent "{agent_name}"' if agent_name else ""
        known = [shot.name for shot, _ in everywhere]
        raise NotFoundError(
            f'no snapshot "{name}"{of}', hint=did_you_mean(name, known, else_hint="see: mngr snapshot list")
        )
    if len(found) > 1:
        where = ", ".join(f"{shot.agent_name}@{host.name}.{host.provider}" for shot, host in found)
        raise UsageError(f'"{name}" could be a snapshot of any of: {where}', hint="name the agent too")
    return found[0]


def snapshot_target(words: Sequence[str], *, manager: Manager) -> tuple[Agent, str]:
    """What `snapshot create [AGENT] [NAME]` means: a single word that names no agent is the snapshot's name."""
    if len(words) > 2:
        raise UsageError(f"too many words: {' '.join(words)}", hint="mngr snapshot create [AGENT] [NAME]")
    if len(words) == 2:
        return resolve_one(manager, words[0]).agent, words[1]
    found = resolve(manager, words) if words else None
    if found and found.rows:
        return found.rows[0].agent, ""
    for error in found.missing.values() if found else ():
        if not isinstance(error, NotFoundError):
            raise error
    return agent_of_directory(manager), "".join(words)


def _place(row: Row) -> Checkout:
    return checkout_of(row.host, row.spec.work_dir, row.spec.transfer, source_of(row.spec))


def _take(row: Row, name: str, note: str, manager: Manager, *, is_auto_named: bool = False) -> Snapshot:
    spec, host = row.spec, row.host
    is_auto_named = is_auto_named or not name
    base = name or slug(spec.name, _NAME_LIMIT - 8)
    done = run_script(
        host, take_script(_place(row), spec, base, is_auto_named=is_auto_named), timeout_s=_TIMEOUT_S
    )
    _check_taken(done, row, base)
    taken = Taken(*done.stdout.decode("utf-8", "surrogateescape").split("\n")[:6])
    snapshot = Snapshot(
        name=taken.name,
        agent_id=spec.id,
        agent_name=spec.name,
        created_at=iso(time.time()) or "",
        host=row.agent.host,
        commit=taken.commit,
        note=note,
        head=taken.head,
        branch=taken.branch,
        repository=taken.repository,
        ref=taken.ref,
    )
    folder = snapshot_dir(host, taken.name)
    try:
        copy_record_to_snapshot(manager, host, spec.id, taken.name)
        host.write(f"{folder}/agent.json", msgspec.json.encode(spec))
        host.write(f"{folder}/snapshot.json", msgspec.json.encode(snapshot) + b"\n")
    except BaseException:
        run_script(host, remove_script(host, taken))
        raise
    return snapshot


def _check_taken(done: Completed, row: Row, name: str) -> None:
    if done.code == Exit.TAKEN:
        raise RefusedError(
            f'a snapshot "{name}" is there already',
            hint=f"choose another name, or: mngr snapshot destroy {name}",
        )
    if done.code == Exit.HOLDS_HOST_DIR:
        raise RefusedError(
            f"{row.spec.work_dir} holds the host dir {row.host.dir}: the snapshot would hold itself",
            hint="set MNGR_HOST_DIR to a place outside, or git init the folder",
        )
    if done.code == Exit.NO_DIRECTORY:
        raise MngrError(f"{row.spec.work_dir} is gone from {row.host.name}", hint="there is nothing to keep")
    done.check(f'cannot take a snapshot of "{row.agent.name}"')


def _put_back(row: Row, snapshot: Snapshot, before: Snapshot) -> tuple[str, ...]:
    paths = HostPaths(row.host.dir)
    own = paths.agent(row.agent.id)
    try:
        then = parse_run_file(row.host.read(f"{snapshot_dir(row.host, snapshot.name)}/run.sh"))
    except (OSError, UnfitError):
        raise MngrError(f'snapshot "{snapshot.name}" is damaged: its run file is gone') from None
    # What it ran then, with the variables of its present name.
    run = RunFile(then.cwd, then.argv, {**then.env, **identity_env(row.spec, row.host.dir)})
    event = Event(time.time(), kinds.RESTORED, {"snapshot": snapshot.name, "before": before.name})
    script = "\n".join(
        (
            put_back_script(_place(row), row.spec, snapshot.taken),
            put(own.run, run_file_text(run, own)),
            append(own.events, event),
            ring(paths.bell),
        )
    )
    done = run_script(row.host, script, timeout_s=_TIMEOUT_S)
    if done.code:
        raise MngrError(
            f'restoring "{snapshot.name}" failed, and "{row.agent.name}" is stopped: {done.complaint}',
            hint=f"what was there is kept: mngr snapshot restore {before.name}",
        )
    notes = [f'what was there before is kept as snapshot "{before.name}"']
    if done.stdout.strip() == b"detached":
        branch = snapshot.branch.removeprefix("refs/heads/")
        notes.append(
            f'branch "{branch}" has gone on or is in use by another work tree: HEAD is at its old commit'
        )
    if snapshot.repository and not row.spec.owns_work_dir:
        notes.append("the work dir is not the agent's own: only files were put back, no branch")
    return tuple(notes)


def _everywhere(manager: Manager) -> list[tuple[Snapshot, Host]]:
    """Every snapshot with its host. A host that does not answer costs a warning, a torn record too."""
    jobs: list[Callable[[], list[tuple[Snapshot, Host]]]] = []
    for look in look_everywhere(manager, deadline_s=ACT_S):
        if look.warning or look.ref.state != HostState.RUNNING:
            manager.warn(look.warning or f'host "{look.ref.name}" is {look.ref.state.lower()}')
            continue
        host = look.host or manager.provider(look.ref.provider).open(look.ref.name)
        jobs.append(partial(_on_host, host, manager))
    return [found for on_host in run_all(jobs) for found in on_host] if jobs else []


def _on_host(host: Host, manager: Manager) -> list[tuple[Snapshot, Host]]:
    script = f"cat {quote(HostPaths(host.dir).snapshots)}/*/snapshot.json 2>/dev/null; :"
    done = host.run(READ_AND_RUN, stdin=encode(script))
    ref, found = HostRef(host.name, host.provider), []
    for line in done.check("listing snapshots").stdout.split(b"\n"):
        snapshot = decode(line, Snapshot) if line else None
        if snapshot and is_valid_name(snapshot.name) and is_agent_id(snapshot.agent_id):
            found.append((msgspec.structs.replace(snapshot, host=ref), host))
        elif line:
            manager.warn(f'a snapshot record on "{host.name}" is unreadable')
    return found


__all__ = [
    "Snapshot",
    "create_snapshot",
    "destroy_snapshot",
    "find_snapshot",
    "list_snapshots",
    "restore_snapshot",
    "snapshot_target",
    "snapshot_to_destroy",
]
