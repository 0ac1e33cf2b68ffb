"""The protocol `Transfer` and its records."""

from collections.abc import Callable
from typing import Protocol, runtime_checkable

from msgspec import Struct

from mngr.hosts.protocol import Host
from mngr.process import Completed


class WorkSource(Struct, frozen=True):
    """Where the work comes from, on this machine. `common_dir` is empty for a folder without git."""

    path: str
    """The folder that was named, absolute; it may lie below the top of its repository."""
    common_dir: str = ""
    head: str = ""
    """The commit to start from; empty in a repository without commits."""
    head_branch: str = ""
    """The branch that is checked out; empty when HEAD is detached."""
    include_dirty: bool = False
    top: str = ""
    """The top of the work tree that `path` lies in; empty without git."""
    project: str = ""
    """What it is called, where that is not the name of its folder."""
    dirty: str = ""
    """A commit on top of `head` that holds the uncommitted work already; empty: `include_dirty` takes it."""


class Sent(Struct, frozen=True):
    """What a transfer made on the host, so that it can be undone and brought back."""

    work_dir: str
    branch: str = ""
    base_commit: str = ""
    owns_work_dir: bool = False
    owns_branch: bool = False
    """Whether the branch was made in the source repository itself (a worktree's is)."""
    notes: tuple[str, ...] = ()


class Brought(Struct, frozen=True):
    """What came home: the branch in the source repository and where it stood before and after."""

    branch: str
    before: str
    after: str
    notes: tuple[str, ...] = ()


class Transfer(Protocol):
    """`send` puts a working copy on the host or leaves nothing, `bring_back` fetches its commits."""

    name: str

    def send(self, source: WorkSource, host: Host, work_dir: str, branch: str) -> Sent:
        """Puts the source into `work_dir` on a new branch, `branch` or, when that is taken, `branch-2`, …"""
        ...

    def bring_back(self, host: Host, work_dir: str, into: WorkSource, branch: str) -> Brought:
        """Fetches the work dir's HEAD into `branch` of the source repository, touching no checked-out file.

        With `into.include_dirty` its uncommitted work comes along as one commit on top.
        """
        ...


@runtime_checkable
class SendsWithMore(Protocol):
    """A transfer whose visit to the host can run other lines as well: every visit costs its start."""

    def plan_send(
        self, source: WorkSource, host: Host, work_dir: str, branch: str
    ) -> tuple[Sent, Callable[[str], Completed]]:
        """What will be sent, and a function that sends it and then runs shell lines; it returns how the lines ended."""
        ...
