"""A branch taken apart: each group of its commits as a difference from the base, or from another piece."""

from collections.abc import Collection, Sequence

from msgspec import Struct

from mngr_tmr.git import Repository
from mngr_tmr.integrate.cherry_pick import CommitDiff, cherry_pick
from mngr_tmr.integrate.split.diffs import FileDiff, changed_files
from mngr_tmr.integrate.split.history import BranchHistory


class SplitPart(Struct, frozen=True):
    """A difference; `needs` are the numbers of earlier pieces that `before` holds."""

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
    """A piece for each group of commits, as far as it concerns `paths`; None when they cannot be told apart."""
    own = [
        {file.path for step in history.steps if step.id in group for file in step.files if file.path in paths}
        for group in groups
    ]
    if sum(map(len, own)) == len(set().union(*own)):
        return [
            whole_part(repo, base, history, [file for file in history.files if file.path in some])
            for some in own
        ]
    return _untangle(repo, base, history, groups, paths)


def _untangle(
    repo: Repository,
    base: str,
    history: BranchHistory,
    groups: Sequence[Collection[str]],
    paths: Collection[str],
) -> list[SplitPart] | None:
    """Groups that share files: each on the base where it applies there, else on top of those before it."""
    diffs = [_changes(repo, history, group, paths) for group in groups]
    found: list[CommitDiff] = []
    before = base
    for steps in diffs:
        alone = _pick_all(repo, base, steps, base)
        after = _pick_all(repo, before, steps, base)
        if after is None:
            return None
        found.append(CommitDiff(before, after) if alone is None else CommitDiff(base, alone))
        before = after
    files = changed_files(repo, [(diff.before, diff.after) for diff in found])
    parts: list[SplitPart] = []
    for diff in found:
        own = files[diff.before, diff.after]
        needs = () if diff.before == base else _sharing(parts, own)
        parts.append(SplitPart(diff.before, diff.after, own, needs))
    return parts


def _sharing(parts: Sequence[SplitPart], files: Sequence[FileDiff]) -> tuple[int, ...]:
    """The numbers of pieces that touch a file of these."""
    paths = {file.path for file in files}
    return tuple(
        number for number, part in enumerate(parts) if not paths.isdisjoint(file.path for file in part.files)
    )


def _changes(
    repo: Repository, history: BranchHistory, group: Collection[str], paths: Collection[str]
) -> list[CommitDiff]:
    found = []
    for step in history.steps:
        chosen = [file for file in step.files if file.path in paths]
        if step.id in group and chosen:
            found.append(
                CommitDiff(step.parent, commit_with_files(repo, step.parent, step.id, step.files, chosen))
            )
    return found


def _pick_all(repo: Repository, tip: str, diffs: Sequence[CommitDiff], root: str) -> str | None:
    """The differences on top of a commit, as one commit; None when one does not apply."""
    at = tip
    for diff in diffs:
        merged = cherry_pick(repo, at, diff, root)
        if not merged.is_clean:
            return None
        at = repo.commit(merged.tree, [tip], "a piece")
    return at


def commit_with_files(
    repo: Repository, before: str, after: str, files: Sequence[FileDiff], chosen: Sequence[FileDiff]
) -> str:
    """A child of `before` with only the chosen of the files that `after` changes."""
    is_all = len(chosen) == len(files)
    tree = f"{after}^{{tree}}" if is_all else repo.compose(before, [file.entry for file in chosen])
    return repo.commit(tree, [before], "a piece")
