"""Removes exactly what a transfer made, and never the only copy of a commit."""

import os
from collections.abc import Sequence

import msgspec

from mngr.errors import MngrError, RefusedError, UnreachableError, UsageError
from mngr.hosts.protocol import Host, shares_files
from mngr.sh.program import quote
from mngr.transfer.fetch import (
    NoRepositoryError,
    Standing,
    UnreadableError,
    fetch_branch,
    look_at_head,
    move_branch,
    stand_all,
)
from mngr.transfer.git import git, run_script
from mngr.transfer.protocol import Sent, WorkSource
from mngr.transfer.safe_paths import show
from mngr.transfer.source import check_branch, free_branch
from mngr.transfer.view import Checkout, checkout_of, enter_script
from mngr.transfer.work_dir import remove_work_dir
from mngr.transfer.worktree import forget_worktree, lock_repository, read_line, remove_worktree

# A host counts its commits itself, and may say anything.
_DIGITS = 10


def discard(
    host: Host, sent: Sent, source: WorkSource | None, transfer_name: str, *, discard_unreadable: bool = False
) -> tuple[str, ...]:
    """Removes work dir and branch of a transfer and says what it kept. Safe twice, and without the source.

    See `discard_work_dir`.
    """
    notes = discard_work_dir(host, sent, source, transfer_name, discard_unreadable=discard_unreadable)
    if source and made_branch(host, sent, source, transfer_name):
        return notes + drop_branches([sent], source)[0]
    return notes


def discard_work_dir(
    host: Host, sent: Sent, source: WorkSource | None, transfer_name: str, *, discard_unreadable: bool = False
) -> tuple[str, ...]:
    """Removes the work dir of a transfer, and leaves a worktree's branch to `drop_branches`.

    A worktree's branch stays when it holds commits found nowhere else; commits of a mirror or copy that the
    source lacks are fetched into it first. Where they cannot be read nothing is removed, unless
    `discard_unreadable`.
    On a host that shares no files with this machine a work dir is never one of this machine's worktrees.
    """
    source = source if source and os.path.isdir(source.common_dir) else None
    is_worktree = transfer_name == "worktree" and shares_files(host)
    keeping = _keep_detached if is_worktree else _rescue
    notes: tuple[str, ...] = ()
    if source and sent.owns_work_dir and transfer_name != "none":
        try:
            notes = keeping(checkout_of(host, sent.work_dir, transfer_name, source), sent, source)
        except UnreachableError:
            raise
        except MngrError as error:
            if not discard_unreadable:
                raise RefusedError(
                    f"the commits in {sent.work_dir} cannot be kept, so nothing was removed: {_one_line(error)}",
                    hint="repair it there, or give them up: mngr destroy NAME --discard-unreadable",
                ) from error
            notes = (f"discarded what could not be read in {sent.work_dir}: {_one_line(error)}",)
    is_removed = is_worktree and source and sent.owns_work_dir and remove_worktree(source, sent.work_dir)
    if is_removed or not sent.owns_work_dir:
        return notes
    notes += remove_work_dir(host, sent.work_dir)
    if is_worktree and source:
        forget_worktree(source, sent.work_dir)
    return notes


def made_branch(host: Host, sent: Sent, source: WorkSource, transfer_name: str) -> bool:
    """Whether the transfer made a branch in the source itself, and the source is still there."""
    is_worktree = transfer_name == "worktree" and shares_files(host)
    return is_worktree and sent.owns_branch and sent.branch != "" and os.path.isdir(source.common_dir)


def drop_branches(sents: Sequence[Sent], source: WorkSource) -> list[tuple[str, ...]]:
    """Removes branches of worktrees that are gone, and says of each whether and why it was kept.

    Those that are untouched go together. The others one by one: two may hold the same commits.
    """
    branches = [sent.branch for sent in sents]
    with lock_repository(source, timeout_s=60):
        standing = stand_all(source, branches)
        untouched = [
            sent.branch
            for sent in sents
            if sent.base_commit and standing[sent.branch] == Standing(sent.base_commit, "")
        ]
        if untouched and git(source.common_dir, "branch", "-q", "-D", "--", *untouched).code == 0:
            standing |= dict.fromkeys(untouched, Standing("", ""))
        elif untouched:
            standing = stand_all(source, branches)
        return [_drop_branch(sent, source, standing[sent.branch]) for sent in sents]


def unmerged_commits(place: Checkout, sent: Sent, source: WorkSource | None) -> int:
    """How many commits of the work dir's HEAD are on no other branch, tag or remote branch of the source."""
    try:
        report = look_at_head(place)
    except NoRepositoryError:
        return 0
    head = report.head
    if not head:
        # Raises unless a HEAD without a commit is a branch that has none yet, and not one that git cannot read.
        try:
            check_branch(report.branch)
        except UsageError:
            raise UnreadableError(
                f"HEAD of {place.work_dir} on {place.host.name} names no branch and no commit"
            ) from None
    if not head or head == sent.base_commit:
        return 0
    counted = None
    if source and os.path.isdir(source.common_dir):
        counted = _count(source, head, sent, own=sent.branch if sent.owns_branch else "")
    if counted is not None:
        return counted
    since = quote(f"^{sent.base_commit}") if sent.base_commit else ""
    done = run_script(place.host, f'{enter_script(place)}its_git rev-list --count "$head" {since}\n')
    count = done.stdout.strip()
    return int(count) if done.code == 0 and count.isdigit() and len(count) < _DIGITS else 1


def _keep_detached(place: Checkout, sent: Sent, source: WorkSource) -> tuple[str, ...]:
    """A HEAD on no branch dies with its worktree; commits that only it holds get a branch."""
    # Whether HEAD of a worktree plainly names a branch: most do, and then git need not be asked.
    git_dir = (read_line(os.path.join(sent.work_dir, ".git")) or "").removeprefix("gitdir: ")
    head = read_line(os.path.join(sent.work_dir, git_dir, "HEAD")) or "" if git_dir else ""
    # Where references are in a table, this file names a branch that cannot be.
    is_on_branch = head.startswith("ref: refs/heads/") and not head.endswith("/.invalid")
    if is_on_branch:
        return ()
    try:
        report = look_at_head(place)
    except (NoRepositoryError, UnreadableError):
        return ()  # its commits are in the source, on its branch, whatever became of its own part
    if report.branch or not report.head or report.head == sent.base_commit:
        return ()
    count = _count(source, report.head, sent)
    if count == 0:
        return ()
    name, _ = free_branch(source, f"{_home_branch(sent)}-detached")
    move_branch(source, name, report.head, "")
    return (f"kept {_commits(count)} that were on no branch as {name} in {_where(source)}",)


def _home_branch(sent: Sent) -> str:
    """The branch for commits that are kept; one of its own where the recorded name is none that git takes."""
    try:
        return check_branch(sent.branch)
    except UsageError:
        return "mngr/kept"


def _drop_branch(sent: Sent, source: WorkSource, standing: Standing) -> tuple[str, ...]:
    """The same for one branch; the caller holds the lock."""
    kept = f"kept branch {sent.branch} in {_where(source)}"
    if not standing.commit:
        return ()
    if standing.checked_out_at:
        return (f"{kept}: it is checked out in {standing.checked_out_at}",)
    is_untouched = standing.commit == sent.base_commit
    count = 0 if is_untouched else _count(source, standing.commit, sent, own=sent.branch)
    if count is None:
        return (f"{kept}: its commits cannot be compared",)
    if count:
        return (f"{kept}: {_commits(count)} not merged anywhere",)
    done = git(source.common_dir, "branch", "-q", "-D", "--", sent.branch)
    return (f"{kept}: {done.complaint}",) if done.code else ()


def _rescue(place: Checkout, sent: Sent, source: WorkSource) -> tuple[str, ...]:
    if not sent.branch:
        return ()
    count = unmerged_commits(place, sent, source)
    if not count:
        return ()
    source, home = msgspec.structs.replace(source, include_dirty=False), _home_branch(sent)
    try:
        branch = fetch_branch(place, source, home).branch
    except RefusedError:
        branch = fetch_branch(place, source, free_branch(source, home)[0]).branch
    return (f"kept branch {branch} in {_where(source)}: {_commits(count)} not merged anywhere",)


def _count(source: WorkSource, commit: str, sent: Sent, own: str = "") -> int | None:
    """Commits reachable from `commit` and from nothing else that has a name; None when git cannot tell."""
    others = [*([f"--exclude={own}"] if own else []), "--branches", "--tags", "--remotes"]
    base = [f"^{sent.base_commit}"] if sent.base_commit else []
    done = git(source.common_dir, "rev-list", "--count", commit, *base, "--not", *others, timeout_s=120)
    return int(done.text) if done.code == 0 else None


def _where(source: WorkSource) -> str:
    """The repository, as a person names it."""
    return source.top or source.common_dir


def _one_line(error: MngrError) -> str:
    """What went wrong, also in the words of the agent's host, as text for a terminal."""
    return "; ".join(show(line) for line in error.message.splitlines())


def _commits(count: int | None) -> str:
    return "1 commit" if count == 1 else f"{count or 'some'} commits"
