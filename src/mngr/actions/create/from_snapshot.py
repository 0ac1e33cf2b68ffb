"""`create --snapshot NAME`: a new agent from a checkpoint's files, type, labels, environment and conversation.

On a plain host the checkpoint is in the host dir. Other providers keep images of whole hosts, with the checkpoint in
them: what is known before a host is made from one is the record on the image.
"""

import os
from functools import partial

import msgspec

from mngr import registry
from mngr.actions.create.inherit import (
    StoredCommits,
    copy_conversation,
    fetched_commits,
    inherited_env,
    is_same_host,
    request_like,
    send_files,
    source_or_blank,
    without_base,
)
from mngr.actions.create.request import CreateSpec, with_defaults
from mngr.actions.create.seed import Seed
from mngr.actions.creation_record import (
    CreationRecord,
    difference,
    record_of_snapshot,
    shown_command,
    verified_env,
)
from mngr.actions.manager import Manager
from mngr.actions.snapshots.checkpoint import Snapshot, snapshot_dir
from mngr.actions.snapshots.images import read_record
from mngr.actions.snapshots.snapshot import find_snapshot
from mngr.errors import MngrError, NotFoundError, RefusedError, UsageError, did_you_mean
from mngr.hosts.protocol import Host, Snapshots, shares_files
from mngr.model.address import Address
from mngr.model.agent import AgentSpec
from mngr.sh.program import quote
from mngr.store.rules import UnfitError
from mngr.store.runfile import parse_run_file
from mngr.store.untrusted import read_noted_spec
from mngr.transfer.git import run_script
from mngr.transfer.host_to_host import copy_tree
from mngr.transfer.protocol import WorkSource

_TIMEOUT_S = 3600.0


def seed_from_snapshot(
    spec: CreateSpec, address: Address, manager: Manager, on: Host | None = None
) -> tuple[CreateSpec, Seed]:
    """The request with what the snapshot says wherever it is blank, and what the agent begins with.

    Of a snapshot on another host that this machine did not keep only the files are used, and the program must be named.
    """
    if spec.source:
        raise UsageError("--snapshot and --from both say where the work comes from", hint="leave one out")
    snapshot, host = find_snapshot(spec.snapshot, manager=manager, on=on)
    folder = snapshot_dir(host, snapshot.name)
    try:
        kept = read_noted_spec(host.read(f"{folder}/agent.json"))
        run = parse_run_file(host.read(f"{folder}/run.sh"))
    except (OSError, UnfitError):
        raise MngrError(
            f'snapshot "{snapshot.name}" is damaged: what its agent ran is not known',
            hint=f"its files may still be there: {folder} on {host.name}",
        ) from None
    record = None
    if not shares_files(host):
        record = _known_program(spec, snapshot, kept, host.provider, manager)
        kept = _verified_agent(record, kept)
    spec, is_same_program = _fill_in(spec, kept)
    spec = msgspec.structs.replace(spec, snapshot="")
    seed = _seed_files(spec, snapshot, host, kept, manager, is_here=address.provider == "local")
    if not is_same_program:
        return spec, seed
    agent_type = manager.agent_type(kept.type)
    env = inherited_env(run, kept, host, agent_type, manager)
    env = verified_env(record, env, host.name) if record else env
    is_beside = address.provider in ("", host.provider) and address.host in ("", host.name)
    return spec, msgspec.structs.replace(
        seed,
        env=env if is_beside else without_base(env),
        copy_conversation=lambda new_host, new: copy_conversation(
            agent_type, kept, (host, f"{folder}/state"), new, new_host
        ),
    )


def seed_from_image(spec: CreateSpec, address: Address, manager: Manager) -> tuple[CreateSpec, Seed]:
    """The request and the seed of a snapshot in an image, as far as they are known before a host is made from it."""
    provider = manager.provider(address.provider)
    records = provider.kept() if isinstance(provider, Snapshots) else {}
    if spec.snapshot not in records:
        hint = did_you_mean(spec.snapshot, records, else_hint="see: mngr snapshot list")
        raise NotFoundError(f'no snapshot "{spec.snapshot}" of {address.provider}', hint=hint)
    kept = read_record(records[spec.snapshot])
    record = _known_program(spec, kept.snapshot, kept.agent, address.provider, manager)
    agent = _verified_agent(record, kept.agent)
    transfer = "mirror" if kept.snapshot.repository else "copy"
    read = lambda place, host: seed_from_snapshot(spec, place, manager, on=host)  # noqa: E731
    seed = Seed(source=source_or_blank(agent), transfer=transfer, in_image=read)
    return _fill_in(spec, agent)[0], seed


def _fill_in(spec: CreateSpec, kept: AgentSpec) -> tuple[CreateSpec, bool]:
    """The request with the kept agent's options wherever it is blank, and whether it runs the same program."""
    is_same_program = spec.type in ("", kept.type) and not spec.args
    defaults = request_like(kept)
    if not is_same_program:
        defaults = msgspec.structs.replace(defaults, args=())
    return with_defaults(spec, defaults), is_same_program


def _known_program(
    spec: CreateSpec, snapshot: Snapshot, kept: AgentSpec, provider: str, manager: Manager
) -> CreationRecord | None:
    """This machine's record of the agent of a snapshot on another host; None when the request names the program."""
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


def _verified_agent(record: CreationRecord | None, kept: AgentSpec) -> AgentSpec:
    """The agent of a snapshot on another host: as this machine created it, else without anything that could run."""
    if record is None:
        return AgentSpec(id=kept.id, name=kept.name, type="", argv=(), work_dir="", created_at=0.0)
    return msgspec.structs.replace(record.spec, name=kept.name, labels=kept.labels)


def _seed_files(
    spec: CreateSpec, snapshot: Snapshot, host: Host, kept: AgentSpec, manager: Manager, *, is_here: bool
) -> Seed:
    """The files and commits of a snapshot: in the user's own repository, in our store, or in a tar."""
    transfer = registry.transfer_name(spec.transfer) if spec.transfer else ""
    possible = ("worktree", "mirror") if snapshot.repository else ("copy",)
    if transfer and transfer not in possible:
        raise UsageError(
            f"--transfer {spec.transfer} makes no sense with this snapshot",
            hint=f"leave it out; possible: {', '.join(possible)}",
        )
    seed = Seed(source=source_or_blank(kept), transfer=possible[-1], base_commit=kept.base_commit)
    if not snapshot.repository:
        unpack = partial(_unpack, snapshot, host)
        return msgspec.structs.replace(seed, send_files=partial(send_files, unpack))
    is_users_own = not snapshot.repository.startswith(snapshot_dir(host, ""))
    if is_users_own and shares_files(host) and is_here and transfer != "mirror":
        if not os.path.isdir(snapshot.repository):
            raise MngrError(
                f'the repository that keeps snapshot "{snapshot.name}" is gone: {snapshot.repository}',
                hint="put it back where it was",
            )
        path = kept.source if os.path.isdir(kept.source) else snapshot.repository
        source = WorkSource(
            path=path, common_dir=snapshot.repository, head=snapshot.head, top=path, dirty=snapshot.commit
        )
        return msgspec.structs.replace(seed, source=source, transfer="worktree")
    if transfer == "worktree":
        raise UsageError(
            f'the files of snapshot "{snapshot.name}" cannot become a worktree: it was not taken of one',
            hint="leave out --transfer: it becomes a mirror",
        )
    tree = snapshot.commit or snapshot.head
    commits = StoredCommits(host, snapshot.repository, head=snapshot.head, tree=tree)
    fetch = partial(fetched_commits, commits, source_or_blank(kept), manager.host_dir)
    return msgspec.structs.replace(seed, fetch_commits=fetch)


def _unpack(snapshot: Snapshot, host: Host, new_host: Host, folder: str) -> tuple[str, ...]:
    """Puts the files of a snapshot without git into an empty folder of a host."""
    archive = f"{snapshot_dir(host, snapshot.name)}/files.tar"
    if is_same_host(host, new_host):
        done = new_host.run(("tar", "-x", "-p", "-f", archive, "-C", folder), timeout_s=_TIMEOUT_S)
        done.check(f"cannot unpack {archive}")
        return ()
    staging = f"{snapshot_dir(host, snapshot.name)}/.unpacked-{os.urandom(6).hex()}"
    try:
        script = f"umask 077; mkdir {quote(staging)}; tar -x -p -f {quote(archive)} -C {quote(staging)}\n"
        run_script(host, script, timeout_s=_TIMEOUT_S).check(f"cannot unpack {archive}")
        return copy_tree(host, staging, new_host, folder)
    finally:
        host.run(("rm", "-rf", "--", staging), timeout_s=_TIMEOUT_S)
