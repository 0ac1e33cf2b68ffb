"""The commits of an agent's branch: the kind each claims, and the kind its paths show."""

import os
from collections.abc import Sequence
from typing import cast, get_args

from mngr_tmr.git import Repository
from mngr_tmr.model.kind import commit_kind
from mngr_tmr.model.record import Commit
from mngr_tmr.model.result import ChangeKind, Claim

TRAILER = "Kind"
_KINDS: tuple[str, ...] = get_args(ChangeKind)
_FORMAT = f"%H%x00%s%x00%(trailers:key={TRAILER},valueonly,unfold,separator=%x2C)"
_SHORTEST_ID = 7
# A link or a submodule reaches beyond its own path, so it counts as implementation wherever it lies.
_SPECIAL = ("120000", "160000")


def read_commits(
    repo: str,
    base: str,
    tip: str,
    claim: Claim | None = None,
    implementation: Sequence[str] = (),
    tutorial: str = "",
) -> tuple[Commit, ...]:
    """Commits from the base to the tip, oldest first, each compared with its first parent.

    What a commit claims is its trailer `Kind`, else what the result says of it. Touching implementation makes it
    implementation whatever it claims; otherwise its claim stands.
    """
    objects = Repository(repo, 0)
    output = objects.ask(
        "log", "--reverse", "--first-parent", "-z", f"--format={_FORMAT}", f"{base}..{tip}", "--"
    )
    fields = output.decode(errors="replace").split("\0")
    rows = [fields[at : at + 3] for at in range(0, len(fields) - 2, 3)]
    paths = _paths(objects, [row[0] for row in rows], implementation, tutorial)
    commits = []
    for commit, subject, trailer in rows:
        shown, touched = paths.get(commit, ("docs", ()))
        claimed = _claimed(commit, trailer, claim)
        is_theirs = shown != "implementation" and claimed not in (None, "implementation")
        commits.append(Commit(commit, subject, claimed, claimed if is_theirs and claimed else shown, touched))
    return tuple(commits)


def _claimed(commit: str, trailer: str, claim: Claim | None) -> ChangeKind | None:
    kind = trailer.strip().lower()
    if kind in _KINDS:
        return cast(ChangeKind, kind)
    result = claim.result if claim else None
    for change in result.changes if result else ():
        if any(len(named) >= _SHORTEST_ID and commit.startswith(named.lower()) for named in change.commits):
            return change.kind
    return None


def _paths(
    objects: Repository, commits: Sequence[str], implementation: Sequence[str], tutorial: str
) -> dict[str, tuple[ChangeKind, tuple[str, ...]]]:
    """Kind and paths of each commit, from one process."""
    words = (
        "diff-tree",
        "--stdin",
        "-r",
        "-z",
        "--raw",
        "--root",
        "--no-renames",
        "-m",
        "--first-parent",
        "--always",
    )
    output = os.fsdecode(objects.ask(*words, stdin="".join(f"{commit}\n" for commit in commits).encode()))
    touched: dict[str, list[str]] = {}
    special: set[str] = set()
    fields = iter(output.split("\0"))
    commit = ""
    for field in fields:
        if not field.startswith(":"):
            commit = field.strip() or commit
            continue
        touched.setdefault(commit, []).append(next(fields))
        if any(mode in _SPECIAL for mode in field[1:].split()[:2]):
            special.add(commit)
    return {
        commit: (
            "implementation" if commit in special else commit_kind(paths, implementation, tutorial),
            tuple(paths),
        )
        for commit, paths in touched.items()
    }
