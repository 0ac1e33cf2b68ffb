"""The shell side of snapshots on plain hosts: an agent's files taken in one round trip, and put back in one."""

from msgspec import Struct

from mngr.hosts.protocol import Host
from mngr.model.agent import AgentSpec
from mngr.model.host import HostRef
from mngr.sh.program import program, quote
from mngr.store.paths import HostPaths
from mngr.transfer.dirty import SNAPSHOT_MESSAGE
from mngr.transfer.refs import SNAPSHOTS, snapshot_refs
from mngr.transfer.view import Checkout, commit_values, view_script

# Shell patterns: what an agent's log and its processes wrote, and what is made anew for another agent.
NOT_STATE = (
    *("agent.json", "run.sh", "events.jsonl", "fold.json", "pid", ".pid", "exit.json", "screen"),
    *("raw", "raw.tim", "outbox", "*.new.*", "*.lock", "*.lock.d"),
)
_KEPT = tuple(pattern for pattern in NOT_STATE if pattern != "outbox")


class Taken(Struct, frozen=True):
    """What a checkpoint holds of a work dir. Without git `repository` is empty and the files are in a tar."""

    name: str
    commit: str = ""
    head: str = ""
    branch: str = ""
    repository: str = ""
    """The git directory on the host that keeps the commit, also after the agent is destroyed."""
    ref: str = ""
    """What keeps it there."""


class Snapshot(Struct, frozen=True, omit_defaults=True):
    """`snapshot.json`: what was kept of which agent, and where."""

    name: str
    agent_id: str
    agent_name: str
    created_at: str
    host: HostRef = HostRef()
    commit: str = ""
    """The commit that holds the work tree; empty where the work dir has no git or no files."""
    note: str = ""
    head: str = ""
    branch: str = ""
    repository: str = ""
    ref: str = ""
    schema: int = 1

    @property
    def taken(self) -> Taken:
        ref = self.ref or f"{SNAPSHOTS}/{self.agent_id}/{self.name}"
        return Taken(self.name, self.commit, self.head, self.branch, self.repository, ref)


def snapshot_dir(host: Host, name: str) -> str:
    return f"{HostPaths(host.dir).snapshots}/{name}"


def snapshot_ref(host: Host, agent_id: str, name: str) -> str:
    """The reference that keeps a snapshot's commit; it tells the snapshots of one host dir from those of another."""
    return f"{snapshot_refs(host.dir)}/{agent_id}/{name}"


def take_script(place: Checkout, spec: AgentSpec, name: str, *, is_auto_named: bool) -> str:
    """Shell lines that make the snapshot's directory and fill it; they print a `Taken`, a field a line.

    An auto name gets the first free number. On failure the directory is removed again.
    """
    host, agent = place.host, HostPaths(place.host.dir).agent(spec.id)
    if spec.owns_work_dir:
        kind = "worktree" if place.common_dir else "copy"
        git = view_script(place, f"sh/lib/take_{kind}", **commit_values())
    else:
        git = program("sh/lib/take_in_place", work_dir=spec.work_dir, message=SNAPSHOT_MESSAGE)
    return git + program(
        "sh/take_snapshot",
        all=HostPaths(host.dir).snapshots,
        name=name,
        numbered="yes" if is_auto_named else "",
        refs=snapshot_ref(host, spec.id, ""),
        host_dir=host.dir,
        run_file=agent.run,
        agent_dir=agent.dir,
        leave_out=" ".join(_KEPT),
    )


def put_back_script(place: Checkout, spec: AgentSpec, taken: Taken) -> str:
    """Shell lines that make the agent's files and work dir what they were; the log and ignored files stay.

    They print a word when HEAD could not be put back as it was.
    """
    host, own = place.host, HostPaths(place.host.dir).agent(spec.id).dir
    commit = {"tree": taken.commit, "repository": taken.repository, "ref": taken.ref}
    if not taken.repository:
        files = program("sh/lib/put_back_files", work_dir=spec.work_dir)
    elif spec.owns_work_dir:
        head = {"head": taken.head, "branch": taken.branch}
        files = view_script(place, "sh/lib/put_back_own", **commit, **head)
    else:
        files = program("sh/lib/put_back_in_place", work_dir=spec.work_dir, **commit)
    snapshot = snapshot_dir(host, taken.name)
    return files + program("sh/put_back", s=snapshot, agent_dir=own, leave_out=" ".join(_KEPT))


def remove_script(host: Host, taken: Taken) -> str:
    """Shell lines that remove a snapshot and the reference to its commit. Twice is safe."""
    repository = quote(taken.repository)
    drop = f"""if [ -d {repository} ]; then
  git --git-dir={repository} update-ref -d {quote(taken.ref)}
fi
"""
    return f"{drop if taken.commit else ''}rm -rf {quote(snapshot_dir(host, taken.name))}\n"


def keep_commit_script(place: Checkout, ref: str) -> str:
    """Shell lines that put the commits and uncommitted work of a repository into our store and print where."""
    store = HostPaths(place.host.dir).snapshots
    return view_script(place, "sh/keep_commit", all=store, ref=ref, **commit_values())
