"""A git worktree of the source repository: cheap, and its branch is visible there at once."""

import os
import time
from contextlib import AbstractContextManager
from stat import S_ISREG

from mngr import process
from mngr.errors import RefusedError, UsageError
from mngr.hosts.protocol import Host, shares_files
from mngr.process import Completed
from mngr.sh.program import quote
from mngr.store.lock import locked
from mngr.transfer.dirty import replay_script, snapshot_commit
from mngr.transfer.git import failed, git, run_script
from mngr.transfer.protocol import Brought, Sent, WorkSource
from mngr.transfer.source import content_notes, free_branch, need_git

_TRIES = 5
_SMALL = 1 << 16
_LOCK_TIMEOUT_S = 300.0
_CHECKOUT_TIMEOUT_S = 1800.0
# What a git that lost a race against another one says; none of them names a lock as the cause.
_RACES = (b"/commondir", b".lock': File exists", b"could not lock config")
_MAKER = {
    "GIT_AUTHOR_NAME": "mngr",
    "GIT_AUTHOR_EMAIL": "mngr@localhost",
    "GIT_COMMITTER_NAME": "mngr",
    "GIT_COMMITTER_EMAIL": "mngr@localhost",
}


class WorktreeTransfer:
    """For hosts whose paths are this machine's paths."""

    name = "worktree"

    def send(self, source: WorkSource, host: Host, work_dir: str, branch: str) -> Sent:
        need_git(source, self.name)
        if not shares_files(host):
            raise UsageError(
                f'a worktree cannot live on "{host.name}", which does not share files with this machine',
                hint="use --transfer mirror",
            )
        if os.path.lexists(work_dir) and not (os.path.isdir(work_dir) and not os.listdir(work_dir)):
            raise RefusedError(
                f"{work_dir} is there already and not empty",
                hint="name another work dir, or use --transfer none to work in it as it is",
            )
        dirty = snapshot_commit(source)
        branch, notes = _add(source, work_dir, branch)
        try:
            _fill(source, host, work_dir, dirty)
            notes = (*notes, *content_notes(source))
        except BaseException:
            with lock_repository(source):
                _undo_add(source, work_dir, branch)
            raise
        return Sent(
            work_dir=work_dir,
            branch=branch,
            base_commit=source.head,
            owns_work_dir=True,
            owns_branch=True,
            notes=notes,
        )

    def bring_back(self, host: Host, work_dir: str, into: WorkSource, branch: str) -> Brought:
        from mngr.transfer.worktree_pull import pull_worktree  # every create would pay for it

        return pull_worktree(host, work_dir, into, branch)


def lock_repository(source: WorkSource, *, timeout_s: float = 0) -> AbstractContextManager[None]:
    """Keeps other managers from changing the source's worktrees and branches; any user who can write may take it."""
    return locked(
        f"{source.common_dir}/mngr.lock", timeout_s=timeout_s or _LOCK_TIMEOUT_S, like=source.common_dir
    )


def remove_worktree(source: WorkSource, work_dir: str) -> bool:
    """Asks git to remove a worktree with all in it; False when git knows no worktree there."""
    with lock_repository(source):
        done = git(source.common_dir, "worktree", "remove", "--force", "--force", work_dir, timeout_s=600)
    return done.code == 0


def forget_worktree(source: WorkSource, work_dir: str) -> None:
    """Removes git's record of a worktree that is gone; no other record is pruned."""
    with lock_repository(source):
        if not os.path.lexists(work_dir):
            _forget(source, work_dir)


def _add(source: WorkSource, work_dir: str, requested: str) -> tuple[str, tuple[str, ...]]:
    """Adds the worktree without files, under the lock; a lost race against a foreign git is tried again."""
    for attempt in range(1, _TRIES + 1):
        with lock_repository(source):
            branch, notes = free_branch(source, requested)
            try:
                done = _add_once(source, work_dir, branch)
            except BaseException:
                _undo_add(source, work_dir, branch)
                raise
            if done.code == 0:
                return branch, notes
            _undo_add(source, work_dir, branch)
        if not any(sign in done.stderr for sign in _RACES):
            break
        time.sleep((0.01 + os.urandom(1)[0] / 6400) * attempt)
    raise failed(
        f"cannot add a worktree at {work_dir}", done, "nothing was left behind; is the place writable?"
    )


def _add_once(source: WorkSource, work_dir: str, branch: str) -> Completed:
    # Twice -f: a record of a worktree that someone removed by hand is taken over, a locked one too.
    add = ("worktree", "add", "--no-checkout", "-q", "-f", "-f")
    if source.head:
        return git(source.common_dir, *add, "--no-track", "-b", branch, work_dir, source.head)
    # git < 2.42 needs a commit for a worktree: an empty one, before HEAD names the unborn branch.
    tree = git(source.common_dir, "mktree").check("cannot make an empty tree").text.strip()
    commit = git(source.common_dir, "commit-tree", "-m", "mngr: nothing", tree, env=_MAKER)
    empty = commit.check("cannot make an empty commit").text.strip()
    done = git(source.common_dir, "-c", "core.logAllRefUpdates=false", *add, "--detach", work_dir, empty)
    return git(work_dir, "symbolic-ref", "HEAD", f"refs/heads/{branch}") if done.code == 0 else done


def _undo_add(source: WorkSource, work_dir: str, branch: str) -> None:
    _remove_tree(work_dir)
    _forget(source, work_dir)
    if source.head:
        git(source.common_dir, "update-ref", "-d", f"refs/heads/{branch}", source.head)


def _fill(source: WorkSource, host: Host, work_dir: str, dirty: str) -> None:
    if not source.head and not dirty:
        return
    if dirty:
        script = f"cd -- {quote(work_dir)}\n" + ("git reset -q --hard\n" if source.head else "")
        done = run_script(host, script + replay_script(dirty), timeout_s=_CHECKOUT_TIMEOUT_S)
    else:
        done = git(work_dir, "reset", "-q", "--hard", timeout_s=_CHECKOUT_TIMEOUT_S)
    if done.code:
        raise failed(
            f"cannot check out {work_dir}", done, "nothing was left behind; a filter or the disk failed"
        )


def _remove_tree(path: str) -> None:
    process.run(("rm", "-rf", "--", path), timeout_s=600)


def _forget(source: WorkSource, work_dir: str) -> None:
    """Removes git's record of this worktree, also a half-written one that `prune` would leave."""
    records = os.path.join(source.common_dir, "worktrees")
    pointer = os.path.join(os.path.realpath(work_dir), ".git")
    for name in os.listdir(records) if os.path.isdir(records) else ():
        recorded = read_line(os.path.join(records, name, "gitdir"))
        unwritten = recorded is None and name.startswith(os.path.basename(work_dir))
        if unwritten or recorded == pointer:
            _remove_tree(os.path.join(records, name))


def read_line(path: str) -> str | None:
    """What a small regular file holds, without its last line end; None for anything else."""
    try:
        fd = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
        with open(fd, "rb") as file:
            return (
                os.fsdecode(file.read(_SMALL)).removesuffix("\n") if S_ISREG(os.fstat(fd).st_mode) else None
            )
    except OSError:
        return None
