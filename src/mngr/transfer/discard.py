"""Removes exactly what a transfer made, and never the only copy of a commit."""

import os

from mngr.errors import RefusedError
from mngr.hosts.protocol import Host
from mngr.store.lock import locked
from mngr.transfer.fetch import NoRepositoryError, fetch_branch, look, move_branch, stand
from mngr.transfer.git import git
from mngr.transfer.protocol import Sent, Source
from mngr.transfer.source import free_branch
from mngr.transfer.work_dir import remove_work_dir
from mngr.transfer.worktree import forget_worktree, lock_path, remove_worktree


def discard(host: Host, sent: Sent, source: Source | None, transfer_name: str) -> tuple[str, ...]:
    """Removes work dir and branch of a transfer and says what it kept. Safe twice, and without the source.

    A worktree's branch stays when it holds commits found nowhere else; commits of a mirror or copy
    that were never brought home are fetched into the source first, and when that fails nothing is removed.
    """
    source = source if source and os.path.isdir(source.common_dir) else None
    if transfer_name == "worktree":
        return _discard_worktree(host, sent, source)
    if not sent.owns_work_dir:
        return ()
    notes = _rescue(host, sent, source) if source and sent.branch and transfer_name != "none" else ()
    return notes + remove_work_dir(host, sent.work_dir)


def unmerged_commits(host: Host, sent: Sent, source: Source | None) -> int:
    """How many commits of the work dir's HEAD are on no other branch, tag or remote branch of the source."""
    try:
        head = look(host, sent.work_dir).head
    except NoRepositoryError:
        return 0
    if not head or head == sent.base_commit:
        return 0
    counted = None
    if source and os.path.isdir(source.common_dir):
        counted = _count(source, head, sent, own=sent.branch if sent.owns_branch else "")
    return _count_there(host, sent, head) if counted is None else counted


def _discard_worktree(host: Host, sent: Sent, source: Source | None) -> tuple[str, ...]:
    if not source:
        return remove_work_dir(host, sent.work_dir) if sent.owns_work_dir else ()
    notes: tuple[str, ...] = ()
    if sent.owns_work_dir:
        notes += _keep_detached(sent, source)
        if not remove_worktree(source, sent.work_dir):
            notes += remove_work_dir(host, sent.work_dir)
            forget_worktree(source, sent.work_dir)
    return notes + (_drop_branch(sent, source) if sent.owns_branch and sent.branch else ())


def _keep_detached(sent: Sent, source: Source) -> tuple[str, ...]:
    """A HEAD on no branch dies with its worktree; commits that only it holds get a branch."""
    if not os.path.lexists(os.path.join(sent.work_dir, ".git")):
        return ()
    done = git(sent.work_dir, "rev-parse", "HEAD", "--symbolic-full-name", "HEAD")
    head, _, ref = done.text.strip().partition("\n")
    if done.code or ref != "HEAD" or head == sent.base_commit:
        return ()
    count = _count(source, head, sent)
    if not count:
        return ()
    name, _ = free_branch(source, f"{sent.branch or 'mngr'}-detached")
    move_branch(source, name, head, "")
    return (f"kept {_commits(count)} that were on no branch as {name}",)


def _drop_branch(sent: Sent, source: Source) -> tuple[str, ...]:
    with locked(lock_path(source)):
        standing = stand(source, sent.branch)
        if not standing.commit:
            return ()
        if standing.checked_out_at:
            return (f"kept branch {sent.branch}: it is checked out in {standing.checked_out_at}",)
        is_untouched = standing.commit == sent.base_commit
        count = 0 if is_untouched else _count(source, standing.commit, sent, own=sent.branch)
        if count is None:
            return (f"kept branch {sent.branch}: its commits cannot be compared",)
        if count:
            return (f"kept branch {sent.branch}: {_commits(count)} not merged anywhere",)
        done = git(source.common_dir, "branch", "-q", "-D", "--", sent.branch)
        return (f"kept branch {sent.branch}: {done.complaint}",) if done.code else ()


def _rescue(host: Host, sent: Sent, source: Source) -> tuple[str, ...]:
    count = unmerged_commits(host, sent, source)
    if not count:
        return ()
    try:
        branch = fetch_branch(host, sent.work_dir, source, sent.branch).branch
    except RefusedError:
        free, _ = free_branch(source, sent.branch)
        branch = fetch_branch(host, sent.work_dir, source, free).branch
    return (f"kept branch {branch}: {_commits(count)} not merged anywhere",)


def _count(source: Source, commit: str, sent: Sent, own: str = "") -> int | None:
    """Commits reachable from `commit` and from nothing else that has a name; None when git cannot tell."""
    others = [*([f"--exclude={own}"] if own else []), "--branches", "--tags", "--remotes"]
    base = [f"^{sent.base_commit}"] if sent.base_commit else []
    done = git(source.common_dir, "rev-list", "--count", commit, *base, "--not", *others, timeout_s=120)
    return int(done.text) if done.code == 0 else None


def _count_there(host: Host, sent: Sent, head: str) -> int:
    since = [f"^{sent.base_commit}"] if sent.base_commit else []
    done = host.run(("git", "-C", sent.work_dir, "rev-list", "--count", head, *since))
    return int(done.stdout) if done.code == 0 else 1


def _commits(count: int) -> str:
    return "1 commit" if count == 1 else f"{count} commits"
