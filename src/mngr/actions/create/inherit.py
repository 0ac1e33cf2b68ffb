"""What a clone, or an agent from a snapshot, takes over: files, commits, environment and conversation."""

import os
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager

import msgspec
from msgspec import Struct

from mngr import process
from mngr.actions.create.request import CreateSpec
from mngr.actions.destroy import source_of
from mngr.actions.environment import base_env, identity_env
from mngr.actions.manager import Manager
from mngr.actions.snapshots.checkpoint import NOT_STATE
from mngr.agents.protocol import AgentType, Resumable
from mngr.errors import MngrError
from mngr.hosts.protocol import Host, shares_files
from mngr.model.agent import AgentSpec
from mngr.sh.program import READ_AND_RUN, encode, quote
from mngr.store.paths import HostPaths
from mngr.store.runfile import RunFile
from mngr.transfer import work_dir as work_dirs
from mngr.transfer.git import ISOLATE, git, run_script
from mngr.transfer.host_to_host import copy_tree
from mngr.transfer.pack import fetch_pack
from mngr.transfer.protocol import Sent, WorkSource
from mngr.transfer.refs import CLONE, temporary_ref
from mngr.transfer.safe_paths import show
from mngr.transfer.source import is_commit_id


class StoredCommits(Struct, frozen=True):
    """Commits in a repository on a host: where its HEAD stood, and the files as they were."""

    host: Host
    repository: str
    head: str
    tree: str
    """A commit that holds the files: `head` itself, or one on top of it with the uncommitted work."""


def request_like(spec: AgentSpec) -> CreateSpec:
    """What to ask for to get another agent like this one."""
    return CreateSpec(
        type=spec.type,
        args=spec.argv,
        labels=spec.labels,
        project=spec.project,
        windows=spec.windows,
        record=spec.record,
        isolate=spec.isolate,
    )


def source_or_blank(spec: AgentSpec) -> WorkSource:
    """The source repository of an agent when it is on this machine, else a source without a place."""
    return source_of(spec) or WorkSource(path="")


@contextmanager
def fetched_commits(stored: StoredCommits, source: WorkSource, host_dir: str) -> Iterator[WorkSource]:
    """The source with the stored commits in its repository, under private refs, for as long as they are needed.

    A source without a repository gets one of ours, which is removed at the end.
    """
    refs = temporary_ref(CLONE)
    repository = source.common_dir
    if not repository:
        repository = f"{host_dir}/tmp/{os.path.basename(refs)}.git"
        parent = os.path.dirname(repository)
        os.makedirs(parent, mode=0o700, exist_ok=True)
        form = ("--object-format=sha256",) if len(stored.tree) == 64 else ()
        made = git(parent, "init", "-q", "--bare", "--template=", *form, repository)
        made.check(f"cannot make {repository}")
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


def _fetch(stored: StoredCommits, repository: str, refs: str) -> None:
    """Fetches both commits as REFS/head and REFS/tree. Their ids are the host's word, and may be anything."""
    commits = {"head": stored.head, "tree": stored.tree}
    for commit in filter(None, commits.values()):
        if not is_commit_id(commit):
            raise MngrError(f"{stored.host.name} names {show(commit[:80])!r} as a commit")
    refspecs = [f"{commit}:{refs}/{name}" for name, commit in commits.items() if commit]
    if not refspecs:
        return
    # git fetches nothing at all from a repository without refs, not even by id.
    unborn = "" if stored.head else f"git update-ref {refs} {stored.tree}\n"
    enter = f"{ISOLATE}cd -- {quote(stored.repository)}\n"
    try:
        if unborn:
            run_script(stored.host, enter + unborn).check(f"cannot write to {stored.repository}")
        fetch_pack(repository, stored.host, stored.repository, refspecs)
    finally:
        if unborn:
            run_script(stored.host, f"{enter}git update-ref -d {refs}\n")


def send_files(unpack: Callable[[Host, str], tuple[str, ...]], host: Host, work_dir: str) -> Sent:
    """Makes the work dir and fills it with files that have no git; leaves nothing on failure."""
    done = run_script(host, work_dirs.claim_script(host, work_dir))
    work_dirs.check_claimed(done, host, work_dir)
    try:
        notes = unpack(host, work_dir)
    except BaseException:
        work_dirs.remove_claimed(host, work_dir)
        raise
    return Sent(work_dir=work_dir, owns_work_dir=True, notes=notes)


def inherited_env(
    run: RunFile, spec: AgentSpec, host: Host, agent_type: AgentType, manager: Manager
) -> dict[str, str]:
    """The variables that were asked for when the agent was created: without those of mngr and of its type."""
    given = base_env(manager.env) if shares_files(host) else {}
    given |= agent_type.command(spec, host).env
    if isinstance(agent_type, Resumable):
        given |= agent_type.resume_command(spec, host).env
    own = identity_env(spec, host.dir)
    return {name: value for name, value in run.env.items() if name not in own and given.get(name) != value}


def without_base(env: Mapping[str, str]) -> dict[str, str]:
    """An environment for another machine: without this one's PATH, HOME and the like."""
    return {name: value for name, value in env.items() if name not in base_env(env)}


def copy_conversation(
    agent_type: AgentType, spec: AgentSpec, kept: tuple[Host, str], new: AgentSpec, host: Host
) -> bool:
    """Copies a conversation by the type's own means; `kept` is the host and the folder that hold it.

    A folder that is not the agent's own on that host is copied beside the agents first, under a name that no list
    shows. False for a type that has no conversation to go on with.
    """
    if not isinstance(agent_type, Resumable):
        return False
    paths = HostPaths(host.dir)
    if is_same_host(kept[0], host) and kept[1] == paths.agent(spec.id).dir:
        agent_type.copy_conversation(spec, new, host)
        return True
    staged = msgspec.structs.replace(spec, id=f"staged-{os.urandom(16).hex()}")
    folder = paths.agent(staged.id).dir
    try:
        host.run(READ_AND_RUN, stdin=encode(f"umask 077; mkdir -p {quote(folder)}")).check(f"making {folder}")
        copy_tree(*kept, host, folder, leave_out=NOT_STATE)
        agent_type.copy_conversation(staged, new, host)
    finally:
        host.run(("rm", "-rf", "--", folder), timeout_s=600)
    return True


def is_same_host(first: Host, second: Host) -> bool:
    return (first.provider, first.name) == (second.provider, second.name)
