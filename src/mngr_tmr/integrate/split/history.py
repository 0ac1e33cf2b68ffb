"""The commits of agents' branches, from the base to the tip, read for all tasks at once."""

from collections.abc import Mapping

from msgspec import Struct

from mngr_tmr.git import Repository
from mngr_tmr.integrate.split.diffs import FileDiff, Pair, changed_files
from mngr_tmr.model.kind import path_kind
from mngr_tmr.model.result import ChangeKind
from mngr_tmr.model.run import RunSpec

_UNSAFE = frozenset(("", ".", "..", ".git", "git~1"))


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
    found = dict[str, BranchHistory]()
    for name, tip in tips.items():
        chain = chains.get(tip)
        if chain is None:
            problem = "its branch is not in this repository, or does not start at the base commit"
            found[name] = BranchHistory(problem=problem)
            continue
        whole = files[base, tip] if chain else ()
        bad = [file.path for file in whole if not _UNSAFE.isdisjoint(file.path.lower().split("/"))]
        if bad:
            problem = f"its branch holds a path that must not be checked out: {bad[0]!r}"
            found[name] = BranchHistory(problem=problem)
            continue
        steps = ((commit, parents[commit][0]) for commit in chain)
        found[name] = BranchHistory(
            tuple(HistoryCommit(commit, parent, files[parent, commit]) for commit, parent in steps),
            whole,
            has_merges=any(len(parents[commit]) > 1 for commit in chain),
        )
    return found


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
