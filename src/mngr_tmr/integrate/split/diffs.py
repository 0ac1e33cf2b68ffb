"""What commits changed, file by file and hunk by hunk, read for all of them from two git processes."""

import hashlib
import os
import re
from collections.abc import Iterable, Iterator

from msgspec import Struct
from msgspec.structs import replace

from mngr_tmr.git import NOTHING, Repository, TreeEntry

_HUNK = re.compile(rb"@@ -(\d+)(?:,(\d+))? \+\d+(?:,(\d+))? @@")
_INDEX = re.compile(rb"index ([0-9a-f]+)\.\.([0-9a-f]+)(?: \d+)?")
_NO_MODE = "000000"
_LINK_OR_MODULE = ("120000", "160000")


class Hunk(Struct, frozen=True):
    """Lines of the old file, from `start`, that became other lines."""

    start: int
    removed: tuple[bytes, ...]
    added: tuple[bytes, ...]


class FileDiff(Struct, frozen=True):
    """One path before and after; `hunks` is None where there are no lines to compare (binary, large, a link)."""

    path: str
    old_mode: str
    new_mode: str
    old: str
    new: str
    hunks: tuple[Hunk, ...] | None = None

    @property
    def entry(self) -> TreeEntry:
        """What stands at the path afterwards."""
        return TreeEntry(self.path, self.new_mode, self.new)

    @property
    def entry_before(self) -> TreeEntry:
        return TreeEntry(self.path, self.old_mode, self.old)

    @property
    def is_special(self) -> bool:
        """A symbolic link or a submodule, before or after."""
        return self.new_mode in _LINK_OR_MODULE or self.old_mode in _LINK_OR_MODULE

    @property
    def lines(self) -> int:
        return sum(len(hunk.removed) + len(hunk.added) for hunk in self.hunks or ())

    def marks(self) -> Iterator[str]:
        """A name for each thing changed, the same for everyone who changes it so."""
        if self.hunks is None or self.new_mode == NOTHING:
            yield _key(self.path, self.old_mode, self.new_mode, self.old, self.new)
            return
        if self.old_mode != self.new_mode or not self.hunks:
            yield _key(self.path, self.old_mode, self.new_mode)
        for hunk in self.hunks:
            yield _key(self.path, hunk.start, _normal(hunk.removed), _normal(hunk.added))


Pair = tuple[str, str]


def changed_files(repo: Repository, pairs: Iterable[Pair]) -> dict[Pair, tuple[FileDiff, ...]]:
    """For each (before, after) pair of commits the files that differ, with their hunks."""
    required = list(dict.fromkeys(pairs))
    stdin = "".join(f"{after} {before}\n" for before, after in required).encode()
    if not required:
        return {}
    raw = repo.ask("diff-tree", "--stdin", "-r", "--raw", "-z", "--no-renames", "--always", stdin=stdin)
    patch = repo.ask(
        *("diff-tree", "--stdin", "-r", "-p", "-U0", "--full-index", "--no-renames"),
        *("--no-ext-diff", "--no-textconv", "--no-color", "--no-commit-id", "--submodule=short"),
        stdin=stdin,
    )
    hunks = read_hunks(patch)
    found: dict[Pair, tuple[FileDiff, ...]] = {}
    for pair, files in zip(required, read_raw(raw), strict=True):
        changed = ((file, () if file.old == file.new else hunks.get((file.old, file.new))) for file in files)
        found[pair] = tuple(file if file.is_special else replace(file, hunks=own) for file, own in changed)
    return found


def read_raw(output: bytes) -> list[tuple[FileDiff, ...]]:
    """The raw listing: for each commit its id, then an entry and a path for each file."""
    found: list[list[FileDiff]] = []
    fields = iter(output.split(b"\0"))
    for field in fields:
        if field.startswith(b":"):
            old_mode, new_mode, old, new, _ = os.fsdecode(field[1:]).split(" ")
            path = os.fsdecode(next(fields))
            found[-1].append(FileDiff(path, _mode(old_mode), _mode(new_mode), old, new))
        elif field:
            found.append([])
    return [tuple(files) for files in found]


def read_hunks(output: bytes) -> dict[tuple[str, str], tuple[Hunk, ...]]:
    """Hunks by the blobs they lie between. Counts tell where a hunk ends, so no content can pass for a header."""
    found: dict[tuple[str, str], tuple[Hunk, ...]] = {}
    lines = output.split(b"\n")
    at, blobs = 0, ("", "")
    while at < len(lines):
        index, hunk = _INDEX.fullmatch(lines[at]), _HUNK.match(lines[at])
        at += 1
        if index:
            blobs = (index[1].decode(), index[2].decode())
            found[blobs] = ()
        elif lines[at - 1].startswith(b"Binary files "):
            found.pop(blobs, None)
        elif hunk:
            removed, added = int(hunk[2] or 1), int(hunk[3] or 1)
            sides: dict[bytes, list[bytes]] = {b"-": [], b"+": []}
            while at < len(lines) and (len(sides[b"-"]) < removed or len(sides[b"+"]) < added):
                sign = lines[at][:1]
                if sign in sides:
                    sides[sign].append(lines[at][1:])
                at += 1
            parsed = Hunk(int(hunk[1]), tuple(sides[b"-"]), tuple(sides[b"+"]))
            found[blobs] = (*found.get(blobs, ()), parsed)
    return found


def _mode(text: str) -> str:
    return NOTHING if text == _NO_MODE else text


def _normal(lines: Iterable[bytes]) -> bytes:
    """Lines without what no eye sees at their ends; indentation stays, in Python it is meaning."""
    return b"\n".join(line.rstrip() for line in lines)


def _key(*parts: str | int | bytes) -> str:
    digest = hashlib.sha256()
    for part in parts:
        data = part if isinstance(part, bytes) else os.fsencode(str(part))
        digest.update(b"%d:" % len(data) + data)
    return digest.hexdigest()[:24]
