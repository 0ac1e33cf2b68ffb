"""`create --snapshot NAME` on a plain host: a new agent from a checkpoint's tree, type, words and conversation."""

import os

import msgspec

from mngr import registry
from mngr.actions.create.clone import home_or_nothing, like
from mngr.actions.create.request import CreateSpec, with_defaults
from mngr.actions.create.seed import (
    Begun,
    Heritage,
    Stored,
    copy_conversation,
    inherited_env,
    is_same_host,
    without_base,
)
from mngr.actions.creation_record import (
    CreationRecord,
    difference,
    record_of_snapshot,
    shown_command,
    verified_env,
)
from mngr.actions.manager import Manager
from mngr.actions.snapshots.checkpoint import Snapshot, snapshot_dir
from mngr.actions.snapshots.snapshot import find_snapshot
from mngr.errors import MngrError, RefusedError, UsageError
from mngr.hosts.protocol import Host, shares_files
from mngr.model.address import Address
from mngr.model.agent import AgentSpec
from mngr.sh.quote import quote
from mngr.store.runfile import RunFile, parse_run_file
from mngr.store.untrusted import UnfitError, read_noted_spec
from mngr.transfer.git import run_script
from mngr.transfer.host_to_host import copy_tree
from mngr.transfer.protocol import WorkSource

_TIMEOUT_S = 3600.0


def begin_from_snapshot(
    spec: CreateSpec, address: Address, manager: Manager, on: Host | None = None
) -> Begun:
    """What the snapshot gives a new agent; whatever was asked for in words wins over it.

    Of a snapshot on another host that this machine did not keep only the files are used, and the program must be named.
    """
    if spec.source:
        raise UsageError("--snapshot and --from both say where the work comes from", hint="leave one out")
    snapshot, host = find_snapshot(spec.snapshot, manager=manager, on=on)
    kept, run = _read(snapshot, host)
    record = None if shares_files(host) else known_program(spec, snapshot, kept, host.provider, manager)
    if not shares_files(host):
        kept = said_then(record, kept)
    same_program = spec.type in ("", kept.type) and not spec.args
    defaults = like(kept) if same_program else msgspec.structs.replace(like(kept), args=())
    asked = msgspec.structs.replace(with_defaults(spec, defaults), snapshot="")
    begun = _begin_work(asked, snapshot, host, kept, is_here=address.provider == "local")
    if not same_program:
        return begun
    agent_type = manager.agent_type(kept.type)
    env = inherited_env(run, kept, host, agent_type, manager)
    env = verified_env(record, env, host.name) if record else env
    state = f"{snapshot_dir(host, snapshot.name)}/state"
    is_beside = address.provider in ("", host.provider) and address.host in ("", host.name)
    return msgspec.structs.replace(
        begun,
        env=env if is_beside else without_base(env),
        heritage=msgspec.structs.replace(
            begun.heritage,
            converse=lambda there, new: copy_conversation(agent_type, kept, (host, state), new, there),
        ),
    )


def known_program(
    spec: CreateSpec, snapshot: Snapshot, kept: AgentSpec, provider: str, manager: Manager
) -> CreationRecord | None:
    """What this machine knows of the agent of a snapshot elsewhere; None when the program is named in words instead."""
    record = record_of_snapshot(manager, provider, snapshot.agent_id, snapshot.name)
    why = difference(record.spec, kept, snapshot.host.name) if record else ""
    if record and not why:
        return record
    if spec.args or (spec.type and not record):
        return None
    argv = shown_command(kept.argv)
    hint = f"name the program: mngr create NAME --snapshot {snapshot.name} -- PROGRAM"
    if why:
        raise RefusedError(f'snapshot "{snapshot.name}" is not what was kept: {why}', hint=hint)
    raise RefusedError(
        f'snapshot "{snapshot.name}" was not kept from here: that its agent ran {argv} cannot be verified',
        hint=hint,
    )


def said_then(record: CreationRecord | None, kept: AgentSpec) -> AgentSpec:
    """The agent of a snapshot elsewhere: as this machine created it, else without anything that could run."""
    if record is None:
        return AgentSpec(kept.id, kept.name, type="", argv=(), work_dir="", created_at=0.0)
    return msgspec.structs.replace(record.spec, name=kept.name, labels=kept.labels)


def _read(snapshot: Snapshot, host: Host) -> tuple[AgentSpec, RunFile]:
    folder = snapshot_dir(host, snapshot.name)
    try:
        spec = read_noted_spec(host.read(f"{folder}/agent.json"))
        return spec, parse_run_file(host.read(f"{folder}/run.sh"))
    except (OSError, UnfitError):
        raise MngrError(
            f'snapshot "{snapshot.name}" is damaged: what its agent ran is not known',
            hint=f"its files may still be there: {folder} on {host.name}",
        ) from None


def _begin_work(spec: CreateSpec, snapshot: Snapshot, host: Host, kept: AgentSpec, *, is_here: bool) -> Begun:
    base = Heritage(base_commit=kept.base_commit)
    if not snapshot.repository:
        _check_transfer(spec, "copy")
        unpack = lambda there, folder: _unpack(snapshot, host, there, folder)  # noqa: E731
        return Begun(
            spec, home_or_nothing(kept), "copy", heritage=msgspec.structs.replace(base, unpack=unpack)
        )
    _check_transfer(spec, "worktree", "mirror")
    is_shared = shares_files(host) and _is_source(snapshot, host)
    transfer = registry.transfer_name(spec.transfer) if spec.transfer else ""
    if is_shared and is_here and transfer != "mirror":
        return Begun(spec, _in_place(snapshot, kept), "worktree", heritage=base)
    if transfer == "worktree":
        raise UsageError(
            f'the files of snapshot "{snapshot.name}" cannot become a worktree: it was not taken of one',
            hint="leave out --transfer: it becomes a mirror",
        )
    stored = Stored(host, snapshot.repository, snapshot.head, snapshot.commit or snapshot.head)
    heritage = msgspec.structs.replace(base, stored=stored)
    return Begun(spec, home_or_nothing(kept), "mirror", heritage=heritage)


def _is_source(snapshot: Snapshot, host: Host) -> bool:
    """Whether the commit lies in a repository of the user's rather than in our store."""
    return not snapshot.repository.startswith(snapshot_dir(host, ""))


def _in_place(snapshot: Snapshot, kept: AgentSpec) -> WorkSource:
    if not os.path.isdir(snapshot.repository):
        raise MngrError(
            f'the repository that keeps snapshot "{snapshot.name}" is gone: {snapshot.repository}',
            hint="put it back where it was",
        )
    path = kept.source if os.path.isdir(kept.source) else snapshot.repository
    return WorkSource(path, snapshot.repository, snapshot.head, top=path, dirty=snapshot.commit)


def _check_transfer(spec: CreateSpec, *possible: str) -> None:
    if spec.transfer and registry.transfer_name(spec.transfer) not in possible:
        raise UsageError(
            f"--transfer {spec.transfer} makes no sense with this snapshot",
            hint=f"leave it out; possible: {', '.join(possible)}",
        )


def _unpack(snapshot: Snapshot, host: Host, there: Host, folder: str) -> tuple[str, ...]:
    archive = f"{snapshot_dir(host, snapshot.name)}/files.tar"
    if is_same_host(host, there):
        done = there.run(("tar", "-x", "-p", "-f", archive, "-C", folder), timeout_s=_TIMEOUT_S)
        done.check(f"cannot unpack {archive}")
        return ()
    staging = f"{snapshot_dir(host, snapshot.name)}/.unpacked-{os.urandom(6).hex()}"
    try:
        script = f"umask 077; mkdir {quote(staging)}; tar -x -p -f {quote(archive)} -C {quote(staging)}\n"
        run_script(host, script, timeout_s=_TIMEOUT_S).check(f"cannot unpack {archive}")
        return copy_tree(host, staging, there, folder)
    finally:
        host.run(("rm", "-rf", "--", staging), timeout_s=_TIMEOUT_S)
