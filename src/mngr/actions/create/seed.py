"""What an agent that is made from another, or from a snapshot, takes over: files, commits, conversation."""

import os
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager

import msgspec
from msgspec import Struct

from mngr import process
from mngr.actions.create.request import CreateSpec
from mngr.actions.environment import base_env, told_env
from mngr.actions.manager import Manager
from mngr.agents.protocol import AgentType, Resumable
from mngr.errors import MngrError
from mngr.hosts.protocol import Host, shares_files
from mngr.model.agent import AgentSpec
from mngr.sh.program import READ_AND_RUN, encode
from mngr.sh.quote import quote
from mngr.store.paths import HostPaths
from mngr.store.runfile import RunFile
from mngr.transfer.git import ISOLATE, git, run_script
from mngr.transfer.protocol import Sent, WorkSource
from mngr.transfer.source import is_commit_id

# Shell patterns: what an agent's log and its processes wrote, and what is made anew for another agent.
NOT_STATE = (
    *("agent.json", "run.sh", "events.jsonl", "fold.json", "pid", ".pid", "exit.json", "screen"),
    *("raw", "raw.tim", "outbox", "*.new.*", "*.lock", "*.lock.d"),
)


class Stored(Struct, frozen=True):
    """Commits in a repository on a host: where its HEAD stood, and the files as they were."""

    host: Host
    repository: str
    head: str
    tree: str
    """A commit that holds the files: `head` itself, or one on top of it with the uncommitted work."""


class Heritage(Struct, frozen=True):
    """How a new agent comes by what it takes over; empty fields mean: as any new agent does."""

    base_commit: str = ""
    """What the agent it is made from started from, so that no commit since is taken for nobody's."""
    stored: Stored | None = None
    unpack: Callable[[Host, str], tuple[str, ...]] | None = None
    """Puts files without git into an empty directory of a host."""
    converse: Callable[[Host, AgentSpec], bool] | None = None
    """Gives the new agent the conversation; False when there is none to go on with."""
    home: tuple[str, str] = ("", "")
    """Provider and name of a host that ends with its last agent."""
    inside: CreateSpec | None = None
    """What was asked for of a snapshot that is inside a host, itself yet to be made from an image."""


class Begun(Struct, frozen=True):
    """What a plan begins with: what is asked for in words, and what comes from elsewhere."""

    spec: CreateSpec
    source: WorkSource | None
    transfer: str
    env: dict[str, str] = {}
    tell: Callable[[], tuple[str, ...]] = tuple
    heritage: Heritage = Heritage()


@contextmanager
def commits_at_hand(
    stored: Stored | None, source: WorkSource | None, host_dir: str
) -> Iterator[WorkSource | None]:
    """The source with the stored commits in its repository, under private refs, for as long as they are needed."""
    if stored is None or source is None:
        yield source
        return
    from mngr.transfer.refs import CLONE, temporary_ref  # every create would pay for it

    refs = temporary_ref(CLONE)
    scratch = f"{host_dir}/tmp/{os.path.basename(refs)}.git"
    repository = source.common_dir or _scratch_repository(scratch, len(stored.tree))
    try:
        _fetch(stored, repository, refs)
        yield msgspec.structs.replace(
            source,
            common_dir=repository,
            head=stored.head,
            dirty=stored.tree,
            include_dirty=False,
            top=source.top or repository,
        )
    finally:
        for ref in ("head", "tree"):
            git(repository, "update-ref", "-d", f"{refs}/{ref}")
        if not source.common_dir:
            process.run(("rm", "-rf", "--", repository), timeout_s=600)


def _fetch(stored: Stored, repository: str, refs: str) -> None:
    from mngr.transfer.pack import fetch_pack
    from mngr.transfer.safe_paths import show

    wanted = [(f"{refs}/head", stored.head), (f"{refs}/tree", stored.tree)]
    for _, commit in wanted:
        if commit and not is_commit_id(commit):
            raise MngrError(f"{stored.host.name} names {show(commit[:80])!r} as a commit")
    specs = [f"{commit}:{ref}" for ref, commit in wanted if commit]
    if not specs:
        return
    # git fetches nothing at all from a repository without refs, not even by id.
    unborn = "" if stored.head else f"git update-ref {refs} {stored.tree}\n"
    inside = f"{ISOLATE}cd -- {quote(stored.repository)}\n"
    try:
        if unborn:
            run_script(stored.host, inside + unborn).check(f"cannot write to {stored.repository}")
        fetch_pack(repository, stored.host, stored.repository, specs)
    finally:
        if unborn:
            run_script(stored.host, f"{inside}git update-ref -d {refs}\n")


def send_files(heritage: Heritage, host: Host, work_dir: str) -> Sent:
    """Makes the work dir and fills it with files that have no git; leaves nothing on failure."""
    from mngr.transfer import work_dir as work_dirs

    assert heritage.unpack
    done = run_script(host, work_dirs.claim_script(host, work_dir))
    work_dirs.check_claimed(done, host, work_dir)
    try:
        notes = heritage.unpack(host, work_dir)
    except BaseException:
        work_dirs.remove_claimed(host, work_dir)
        raise
    return Sent(work_dir=work_dir, owns_work_dir=True, notes=notes)


def inherited_env(
    run: RunFile, spec: AgentSpec, host: Host, agent_type: AgentType, manager: Manager
) -> dict[str, str]:
    """What was asked for when the agent was created: its environment without what mngr and its type told it."""
    given = base_env(manager.env) if shares_files(host) else {}
    given |= agent_type.command(spec, host).env
    if isinstance(agent_type, Resumable):
        given |= agent_type.resume_command(spec, host).env
    told = told_env(spec, host.dir)
    return {name: value for name, value in run.env.items() if name not in told and given.get(name) != value}


def without_base(env: Mapping[str, str]) -> dict[str, str]:
    """An environment for another machine: without this one's PATH, HOME and the like."""
    return {name: value for name, value in env.items() if name not in base_env(env)}


def copy_conversation(
    agent_type: AgentType, spec: AgentSpec, kept: tuple[Host, str], clone: AgentSpec, host: Host
) -> bool:
    """Hands a conversation over by the type's own means; `kept` says on which host which folder holds it.

    A folder that is not the agent's own there is copied beside the agents first, under a name no list shows.
    """
    if not isinstance(agent_type, Resumable):
        return False
    paths = HostPaths(host.dir)
    if is_same_host(kept[0], host) and kept[1] == paths.agent(spec.id).dir:
        agent_type.copy_conversation(spec, clone, host)
        return True
    from mngr.transfer.host_to_host import copy_tree  # every create would pay for it

    staged = msgspec.structs.replace(spec, id=f"staged-{os.urandom(16).hex()}")
    folder = paths.agent(staged.id).dir
    try:
        host.run(READ_AND_RUN, stdin=encode(f"umask 077; mkdir -p {quote(folder)}")).check(f"making {folder}")
        copy_tree(*kept, host, folder, leave_out=NOT_STATE)
        agent_type.copy_conversation(staged, clone, host)
    finally:
        host.run(("rm", "-rf", "--", folder), timeout_s=600)
    return True


def is_same_host(one: Host, other: Host) -> bool:
    return (one.provider, one.name) == (other.provider, other.name)


def _scratch_repository(path: str, id_length: int) -> str:
    os.makedirs(os.path.dirname(path), mode=0o700, exist_ok=True)
    form = ("--object-format=sha256",) if id_length == 64 else ()
    git(os.path.dirname(path), "init", "-q", "--bare", "--template=", *form, path).check(
        f"cannot make {path}"
    )
    return path
