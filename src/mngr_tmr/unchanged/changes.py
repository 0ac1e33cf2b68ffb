"""What changed between two commits, and which files name it."""

import os
from collections.abc import Iterable

from msgspec import Struct

from mngr_tmr.git import run_git

_REGULAR = frozenset(("100644", "100755"))


class FileChange(Struct, frozen=True):
    """A path with other content. `is_other` says more: it is new or gone, or its mode is another, or it is no file."""

    path: str
    is_other: bool = False


def changes_between(repo: str, before: str, after: str) -> tuple[FileChange, ...] | None:
    """Every path that differs; None where a commit is not there any more."""
    words = ("diff-tree", "-r", "-z", "--raw", "--no-renames", "--end-of-options", before, after)
    done = run_git(repo, *words)
    if done.code:
        return None
    fields = os.fsdecode(done.stdout).split("\0")
    found = []
    for about, path in zip(fields[::2], fields[1::2], strict=False):
        old, new, *_ = about.removeprefix(":").split(" ")
        found.append(FileChange(path, is_other=old != new or new not in _REGULAR))
    return tuple(found)


def files_that_name(repo: str, commit: str, names: Iterable[str]) -> dict[str, frozenset[str]]:
    """The files of a commit in whose text each of these names occurs."""
    patterns = [word for name in sorted(set(names)) for word in ("-e", name)]
    if not patterns:
        return {}
    done = run_git(repo, "grep", "-z", "-o", "-a", "--no-color", "--full-name", "-F", *patterns, commit, "--")
    found: dict[str, set[str]] = {}
    for line in os.fsdecode(done.stdout).split("\n"):
        place, _, name = line.partition("\0")
        found.setdefault(name, set()).add(place.removeprefix(f"{commit}:"))
    return {name: frozenset(paths) for name, paths in found.items()}
