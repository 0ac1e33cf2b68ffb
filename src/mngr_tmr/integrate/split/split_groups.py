"""A branch taken apart: each group of its commits as a difference from the base, or from another piece."""

from collections.abc import Collection, Sequence

from msgspec import Struct

from mngr_tmr.git import Repository
from mngr_tmr.integrate.cherry_pick import Difference, pick
from mngr_tmr.integrate.split.diffs import FileChange, changed_files
from mngr_tmr.integrate.split.history import History


class Piece(Struct, frozen=True):
    """A difference; `needs` are the numbers of earlier pieces that `before` holds."""

    before: str
    after: str
    files: tuple[FileChange, ...]
    needs: tuple[int, ...] = ()


def whole(repo: Repository, base: str, history: History, files: Sequence[FileChange]) -> Piece:
    """Those files of the branch's tip on the base."""
    return Piece(base, holding(repo, base, history.steps[-1].id, history.files, files), tuple(files))


def take_apart(
    repo: Repository, base: str, history: History, groups: Sequence[Collection[str]], paths: Collection[str]
) -> list[Piece] | None:
    """A piece for each group of commits, as far as it concerns `paths`; None when they cannot be told apart."""
    own = [
        {file.path for step in history.steps if step.id in group for file in step.files if file.path in paths}
        for group in groups
    ]
    if sum(map(len, own)) == len(set().union(*own)):
        return [
            whole(repo, base, history, [file for file in history.files if file.path in some]) for some in own
        ]
    return _untangle(repo, base, history, groups, paths)


def _untangle(
    repo: Repository, base: str, history: History, groups: Sequence[Collection[str]], paths: Collection[str]
) -> list[Piece] | None:
    """Groups that share files: each on the base where it applies there, else on top of those before it."""
    changes = [_changes(repo, history, group, paths) for group in groups]
    found: list[Difference] = []
    before = base
    for steps in changes:
        alone = _pick_all(repo, base, steps, base)
        after = _pick_all(repo, before, steps, base)
        if after is None:
            return None
        found.append(Difference(before, after) if alone is None else Difference(base, alone))
        before = after
    files = changed_files(repo, [(change.before, change.after) for change in found])
    pieces: list[Piece] = []
    for change in found:
        own = files[change.before, change.after]
        needs = () if change.before == base else _sharing(pieces, own)
        pieces.append(Piece(change.before, change.after, own, needs))
    return pieces


def _sharing(pieces: Sequence[Piece], files: Sequence[FileChange]) -> tuple[int, ...]:
    """The numbers of pieces that touch a file of these."""
    paths = {file.path for file in files}
    return tuple(
        number
        for number, piece in enumerate(pieces)
        if not paths.isdisjoint(file.path for file in piece.files)
    )


def _changes(
    repo: Repository, history: History, group: Collection[str], paths: Collection[str]
) -> list[Difference]:
    found = []
    for step in history.steps:
        chosen = [file for file in step.files if file.path in paths]
        if step.id in group and chosen:
            found.append(Difference(step.parent, holding(repo, step.parent, step.id, step.files, chosen)))
    return found


def _pick_all(repo: Repository, tip: str, changes: Sequence[Difference], root: str) -> str | None:
    """The differences on top of a commit, as one commit; None when one does not apply."""
    at = tip
    for change in changes:
        merged = pick(repo, at, change, root)
        if not merged.is_clean:
            return None
        at = repo.commit(merged.tree, [tip], "a piece")
    return at


def holding(
    repo: Repository, before: str, after: str, files: Sequence[FileChange], chosen: Sequence[FileChange]
) -> str:
    """A child of `before` with only the chosen of the files that `after` changes."""
    is_all = len(chosen) == len(files)
    tree = f"{after}^{{tree}}" if is_all else repo.compose(before, [file.entry for file in chosen])
    return repo.commit(tree, [before], "a piece")
