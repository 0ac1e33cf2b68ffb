"""What `pull --merge`, `--rebase` and `--ff-only` do to the user's checked-out branch, or undo."""

import os
from enum import StrEnum

from mngr.errors import MngrError, RefusedError
from mngr.process import Completed
from mngr.transfer.git import git
from mngr.transfer.protocol import Brought, WorkSource
from mngr.transfer.source import dirty_summary, need_git

_UNDER_WAY = ("MERGE_HEAD", "CHERRY_PICK_HEAD", "REVERT_HEAD", "rebase-merge", "rebase-apply")
_TIMEOUT_S = 600.0


class How(StrEnum):
    MERGE = "merge"
    REBASE = "rebase"
    FF_ONLY = "ff-only"

    def words(self, branch: str) -> tuple[str, ...]:
        """The words of git that bring the branch."""
        # Hooks stay off: an agent in a worktree of this repository could have planted them.
        if self is How.REBASE:
            settings = ("-c", "rebase.autoStash=false", "-c", "rebase.updateRefs=false")
            return (*settings, "rebase", "-q", f"refs/heads/{branch}")
        kind = (
            ("--ff-only",) if self is How.FF_ONLY else ("--ff", "--no-edit", "-m", f"Merge branch '{branch}'")
        )
        return ("-c", "merge.autoStash=false", "merge", "-q", "--no-stat", *kind, f"refs/heads/{branch}")


def merge_brought(source: WorkSource, branch: str, how: How) -> Brought:
    """Brings a branch into the checked-out one; on conflict all is put back and the files are named."""
    need_git(source, f"--{how}")
    git_dir = os.fsdecode(git(source.top, "rev-parse", "--absolute-git-dir").stdout).removesuffix("\n")
    if any(os.path.exists(os.path.join(git_dir, name)) for name in _UNDER_WAY):
        raise RefusedError(
            f"a merge or rebase is under way in {source.top}", hint="finish it or abort it first: git status"
        )
    changed = ", ".join(
        part for part in dirty_summary(source).split(", ") if part and "untracked" not in part
    )
    if changed:
        raise RefusedError(
            f"{source.top} has uncommitted work ({changed}), which --{how} could damage",
            hint="commit or stash it first; without this option pull only moves the branch",
        )
    before = _head(source)
    try:
        done = git(source.top, *how.words(branch), timeout_s=_TIMEOUT_S)
        conflicts = (
            git(source.top, "diff", "--name-only", "--diff-filter=U", "-z").stdout if done.code else b""
        )
    except BaseException:
        _put_back(source, how, before)
        raise
    if done.code:
        _put_back(source, how, before)
        raise _failure(done, how, branch, [name for name in os.fsdecode(conflicts).split("\0") if name])
    after = _head(source)
    return Brought(source.head_branch, before, after, ("nothing new",) if before == after else ())


def _put_back(source: WorkSource, how: How, before: str) -> None:
    git(source.top, "rebase" if how is How.REBASE else "merge", "--abort", timeout_s=_TIMEOUT_S)
    if _head(source) != before:
        raise MngrError(
            f"{source.top} was left in the middle of a {how}", hint=f"go back: git reset --hard {before}"
        )


def _failure(done: Completed, how: How, branch: str, conflicts: list[str]) -> MngrError:
    by_hand = f"nothing was changed; by hand: git {'rebase' if how is How.REBASE else 'merge'} {branch}"
    if conflicts:
        return MngrError(f'--{how} of "{branch}" conflicts in {", ".join(conflicts)}', hint=by_hand)
    if how is How.FF_ONLY and "fast-forward" in done.complaint:
        return RefusedError(f'"{branch}" and the checked-out branch have both moved on', hint=by_hand)
    return MngrError(f'--{how} of "{branch}" failed: {done.complaint}', hint=by_hand)


def _head(source: WorkSource) -> str:
    return git(source.top, "rev-parse", "-q", "--verify", "HEAD").text.strip()
