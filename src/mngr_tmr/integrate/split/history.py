"""The commits of agents' branches, from the base to the tip, read for all tasks at once."""

from collections.abc import Mapping

from msgspec import Struct

from mngr_tmr.git import Repository
from mngr_tmr.integrate.split.diffs import FileDiff, Pair, changed_files
from mngr_tmr.model.kind import path_kind
from mngr_tmr.model.result import ChangeKind
from mngr_tmr.model.run import RunSpec


class HistoryCommit(Struct, frozen=True):
    """One commit of a branch, against its first parent."""

    id: str
    parent: str
    files: tuple[FileDiff, ...]


class BranchHistory(Struct, frozen=True):
    """A branch: its commits in order, and all it changes against the base. A problem means that it is unusable."""

    steps: tuple[HistoryCommit, ...] = ()
    files: tuple[FileDiff, ...] = ()
    has_merges: bool = False
    problem: str = ""


def read_histories(repo: Repository, base: str, tips: Mapping[str, str]) -> dict[str, BranchHistory]:
    """The history of each branch by its name, from a number of git processes that does not grow with them."""
    known = repo.sizes(tips.values())
    there = {tip for tip in tips.values() if known.get(tip, ("",))[0] == "commit"}
    stdin = "".join(f"{line}\n" for line in (*sorted(there), f"^{base}")).encode()
    lines = repo.ask("rev-list", "--parents", "--stdin", stdin=stdin).decode().split("\n")
    parents = {commit: parents for commit, *parents in (line.split() for line in lines if line)}
    chains = {tip: _chain(tip, base, parents) for tip in there}
    pairs: list[Pair] = []
    for tip, chain in chains.items():
        pairs += [(base, tip), *((parents[commit][0], commit) for commit in chain)] if chain else []
    files = changed_files(repo, pairs)
    return {slug: _history(tip, base, chains.get(tip), parents, files) for slug, tip in tips.items()}


def kind_of(file: FileDiff, run: RunSpec) -> ChangeKind:
    """The kind of a changed file; links and submodules reach beyond their path and count as implementation."""
    if file.is_special:
        return "implementation"
    return path_kind(file.path, run.options.implementation, run.tutorial)


def _chain(tip: str, base: str, parents: dict[str, list[str]]) -> list[str] | None:
    """Commits from the base to the tip; None when the base is not reached."""
    chain: list[str] = []
    at = tip
    while at != base:
        if not parents.get(at):
            return None
        chain.append(at)
        at = parents[at][0]
    return chain[::-1]


def _history(
    tip: str,
    base: str,
    chain: list[str] | None,
    parents: dict[str, list[str]],
    files: dict[Pair, tuple[FileDiff, ...]],
) -> BranchHistory:
    if chain is None:
        return BranchHistory(
            problem="its branch is not in this repository, or does not start at the base commit"
        )
    if not chain:
        return BranchHistory()
    whole = files[base, tip]
    bad = next(
        (
            file.path
            for file in whole
            if any(part.lower() in ("", ".", "..", ".git", "git~1") for part in file.path.split("/"))
        ),
        None,
    )
    if bad is not None:
        return BranchHistory(problem=f"its branch holds a path that must not be checked out: {bad!r}")
    steps = tuple(
        HistoryCommit(commit, parents[commit][0], files[parents[commit][0], commit]) for commit in chain
    )
    return BranchHistory(steps, whole, has_merges=any(len(parents[commit]) > 1 for commit in chain))
