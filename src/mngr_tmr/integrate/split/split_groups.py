"""Splits a branch: each group of its commits becomes a difference from the base, or from another part."""

from collections.abc import Collection, Sequence

from msgspec import Struct

from mngr_tmr.git import Repository
from mngr_tmr.integrate.cherry_pick import CommitDiff, cherry_pick
from mngr_tmr.integrate.split.diffs import FileDiff, changed_files
from mngr_tmr.integrate.split.history import BranchHistory


class SplitPart(Struct, frozen=True):
    """A difference; `needs` are the numbers of earlier parts that `before` holds."""

    before: str
    after: str
    files: tuple[FileDiff, ...]
    needs: tuple[int, ...] = ()


def whole_part(repo: Repository, base: str, history: BranchHistory, files: Sequence[FileDiff]) -> SplitPart:
    """Those files of the branch's tip on the base."""
    return SplitPart(
        base, commit_with_files(repo, base, history.steps[-1].id, history.files, files), tuple(files)
    )


def split_groups(
    repo: Repository,
    base: str,
    history: BranchHistory,
    groups: Sequence[Collection[str]],
    paths: Collection[str],
) -> list[SplitPart] | None:
    """A part for each group of commits, as far as it concerns `paths`; None when they cannot be separated.

    Where groups share files, each is a difference from the base if it applies there, else from the groups before it.
    """
    own = [
        {file.path for step in history.steps if step.id in group for file in step.files if file.path in paths}
        for group in groups
    ]
    if sum(map(len, own)) == len(set().union(*own)):
        return [
            whole_part(repo, base, history, [file for file in history.files if file.path in some])
            for some in own
        ]
    found: list[CommitDiff] = []
    before = base
    for group in groups:
        diffs = []
        for step in history.steps:
            files = [file for file in step.files if file.path in paths]
            if step.id in group and files:
                after_step = commit_with_files(repo, step.parent, step.id, step.files, files)
                diffs.append(CommitDiff(step.parent, after_step))
        alone, after = (_pick_all(repo, tip, diffs, base) for tip in (base, before))
        if after is None:
            return None
        found.append(CommitDiff(before, after) if alone is None else CommitDiff(base, alone))
        before = after
    changed = changed_files(repo, [(diff.before, diff.after) for diff in found])
    parts: list[SplitPart] = []
    for diff in found:
        touched = changed[diff.before, diff.after]
        shared = {file.path for file in touched}
        earlier = enumerate(parts if diff.before != base else ())
        needs = (n for n, part in earlier if not shared.isdisjoint(file.path for file in part.files))
        parts.append(SplitPart(diff.before, diff.after, touched, tuple(needs)))
    return parts


def _pick_all(repo: Repository, tip: str, diffs: Sequence[CommitDiff], root: str) -> str | None:
    """The differences on top of a commit, as one commit; None when one does not apply."""
    at = tip
    for diff in diffs:
        merged = cherry_pick(repo, at, diff, root)
        if not merged.is_clean:
            return None
        at = repo.commit(merged.tree, [tip], "a part")
    return at


def commit_with_files(
    repo: Repository, before: str, after: str, files: Sequence[FileDiff], chosen: Sequence[FileDiff]
) -> str:
    """A child of `before` with only the chosen of the files that `after` changes."""
    is_all = len(chosen) == len(files)
    tree = f"{after}^{{tree}}" if is_all else repo.compose(before, [file.entry for file in chosen])
    return repo.commit(tree, [before], "a part")
