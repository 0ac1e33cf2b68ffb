"""An agent's work tree seen through a git directory of ours: nothing that its repository configures is used.

The git directory is made for one script and removed with it. It holds a commit for HEAD, a copy of the index, a link to
the objects and a configuration that we wrote, so that no filter, hook, remote or include of the agent's own counts; its
attributes can only choose among the user's filters. git enters an embedded repository only to see whether it is dirty,
and is never asked to.
"""

from msgspec import Struct

from mngr.hosts.protocol import Host, shares_files
from mngr.sh.program import assignments, load, program, words
from mngr.store.paths import HostPaths
from mngr.transfer.dirty import SNAPSHOT_MESSAGE
from mngr.transfer.git import ISOLATE
from mngr.transfer.protocol import WorkSource
from mngr_lib.git import git_argv


class Checkout(Struct, frozen=True):
    """A work dir on a host and what this machine knows about its repository."""

    host: Host
    work_dir: str
    common_dir: str = ""
    """The repository that it is a worktree of; empty: the work dir holds its own."""
    config: str = ""
    """The git configuration to go by: the user's own, whose filters make what is committed; empty: none."""
    is_any: bool = False
    """Whether `.git` may lead anywhere: the work dir is not the agent's own."""


def checkout_of(host: Host, work_dir: str, transfer: str, source: WorkSource | None) -> Checkout:
    """The work dir of an agent, seen with the configuration of the repository it was made from where that counts.

    A copy on a remote host has the user's filters in its own configuration only, and what they run runs there.
    """
    common_dir = source.common_dir if source else ""
    if transfer == "worktree" and shares_files(host):
        return Checkout(host, work_dir, common_dir, f"{common_dir}/config" if common_dir else "")
    if transfer == "none":
        return Checkout(host, work_dir, config=f"{work_dir}/.git/config", is_any=True)
    if transfer == "copy" and not shares_files(host):
        return Checkout(host, work_dir, config=f"{work_dir}/.git/config")
    if transfer == "copy":
        return Checkout(host, work_dir, config=f"{common_dir}/config" if common_dir else "")
    return Checkout(host, work_dir)


def enter_script(place: Checkout) -> str:
    """Shell lines that go into the work dir and set `dir`, `common`, `form`, `head` and `branch` of its repository.

    `its_git` works on that repository: only for references, which start nothing, whatever is configured.
    """
    return f"{_start(place)}{load('sh/lib/repository')}mngr_enter\n"


def view_script(place: Checkout, name: str = "sh/lib/view", /, **values: str) -> str:
    """A program that uses `lib/view.sh` on the work dir; by itself it only defines that library's functions."""
    escaped = place.config.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
    include = f'[include]\n\tpath = "{escaped}"\n' if place.config else ""
    scratch = f"{HostPaths(place.host.dir).dir}/tmp"
    return _start(place) + program(name, scratch=scratch, include=include, **values)


def _start(place: Checkout) -> str:
    """What every program needs that uses `lib/repository.sh`."""
    owner = "any" if place.is_any else place.common_dir or "own"
    return f"mngr_isolate() {{\n{ISOLATE}}}\n{assignments(work_dir=place.work_dir, owner=owner)}"


STATUS = "git status --porcelain -z --ignore-submodules=dirty"
"""Prints what is uncommitted; a commit that an embedded repository moved to counts, what lies in it does not."""


def commit_values() -> dict[str, str]:
    """The parameters of `lib/commit_view.sh`."""
    add = words(*git_argv("update-index", "--add", "--")) + ' "$1" 2>/dev/null || :'
    return {"message": SNAPSHOT_MESSAGE, "add_embedded": add}
