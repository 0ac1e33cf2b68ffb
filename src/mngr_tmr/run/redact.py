"""Values of variables that agents were given are taken out of everything that comes home of them.

Agents' words are not ours: one that prints its token has it in its result, its conversation, its recording. What the
agent's own host holds is left alone. A value that is changed on the way (encoded, wrapped by a full-screen program)
is not recognised.
"""

import json
import mmap
import os
import re
from collections.abc import Iterable, Iterator, Mapping
from typing import TypeVar

import msgspec

from mngr_tmr.git import Repository

T = TypeVar("T")

_SHORTEST = 8
_CAST_LIMIT = 256 << 20
_BLOB_LIMIT = 256 << 20
_AT_ONCE = 50


class Redactor:
    """Knows values by the names of their variables; puts `[hidden NAME]` in their place."""

    def __init__(self, values: Mapping[str, str]) -> None:
        spellings = {spelt: name for name, value in values.items() for spelt in _spellings(value)}
        longest_first = sorted(spellings, key=len, reverse=True)
        self._marks = {spelt: f"[hidden {name}]" for spelt, name in spellings.items()}
        self._bytes = {spelt.encode(errors="surrogateescape"): name for spelt, name in spellings.items()}
        self._text = re.compile("|".join(map(re.escape, longest_first)))
        self._data = re.compile(
            b"|".join(re.escape(spelt.encode(errors="surrogateescape")) for spelt in longest_first)
        )

    @property
    def knows_nothing(self) -> bool:
        return not self._marks

    def text(self, text: str) -> str:
        return text if self.knows_nothing else self._text.sub(lambda found: self._marks[found[0]], text)

    def data(self, data: bytes) -> bytes:
        return data if self.knows_nothing else self._data.sub(self._mark, data)

    def record(self, record: T) -> T:
        """The same record without the values in any of its texts."""
        data = msgspec.json.encode(record)
        clean = self.data(data)
        return record if clean == data else msgspec.json.decode(clean, type=type(record))

    def files(self, path: str) -> None:
        """Rewrites a file, or all files of a folder, in place; links are not followed. Nothing there is fine."""
        if self.knows_nothing or not os.path.lexists(path):
            return
        if os.path.isdir(path) and not os.path.islink(path):
            for folder, inner, names in os.walk(path, topdown=False):
                for name in (*inner, *names):
                    self._file(os.path.join(folder, name))
                    self._rename(folder, name)
        else:
            self._file(path)

    def names_in_commits(self, repo: str, base: str, tip: str) -> tuple[str, ...]:
        """Which variables' values are in what was committed between two commits: in files, paths or messages."""
        if self.knows_nothing or not tip or tip == base:
            return ()
        objects = Repository(repo, 0)
        between = f"{base}..{tip}"
        words = objects.ask("log", "--format=%an%n%ae%n%cn%n%ce%n%B", between, "--")
        listed = objects.ask("rev-list", "--objects", between, "--")
        ids = [line.partition(b" ")[0].decode() for line in listed.splitlines()]
        said = (one for data in _all(objects, words, listed, ids) for one in self._data.findall(data))
        return tuple(sorted({self._bytes[one] for one in said}))

    def cast(self, data: bytes) -> bytes:
        """A recording without the values, also where one was written in several pieces."""
        if self.knows_nothing:
            return data
        lines = data.split(b"\n")
        events = [_event(line) for line in lines]
        shown = "".join(event[2] for event in events if event and event[1] == "o")
        cuts = [(*found.span(), self._marks[found[0]]) for found in self._text.finditer(shown)]
        if cuts:
            pieces = _cut(shown, [len(event[2]) for event in events if event and event[1] == "o"], cuts)
            for number, event in enumerate(events):
                if event and event[1] == "o":
                    lines[number] = msgspec.json.encode((event[0], "o", next(pieces)))
        return self.data(b"\n".join(lines))

    def _file(self, path: str) -> None:
        if os.path.islink(path):
            if self._text.search(os.readlink(path)):
                os.unlink(path)
            return
        size = os.path.getsize(path) if os.path.isfile(path) else 0
        if not size:
            return
        if path.endswith(".cast") and size <= _CAST_LIMIT:
            with open(path, "rb") as file:
                data = file.read()
            _replace(path, [self.cast(data)])
            return
        with open(path, "rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as view:
            if self._data.search(view):
                _replace(path, self._pieces(view))

    def _pieces(self, view: mmap.mmap) -> Iterator[bytes]:
        done = 0
        for found in self._data.finditer(view):
            yield view[done : found.start()]
            yield self._mark(found)
            done = found.end()
        yield view[done:]

    def _mark(self, found: "re.Match[bytes]") -> bytes:
        return f"[hidden {self._bytes[bytes(found[0])]}]".encode()

    def _rename(self, folder: str, name: str) -> None:
        """A name can hold a value as well."""
        fresh = self.text(name)
        if fresh != name and os.path.lexists(os.path.join(folder, name)):
            os.rename(os.path.join(folder, name), os.path.join(folder, fresh))


def make_redactor(env: Mapping[str, str], repo: str, base: str) -> Redactor:
    """For the values that are long enough to be told from other words and are not in the repository anyway."""
    long_enough = {name: value for name, value in env.items() if len(value) >= _SHORTEST}
    return Redactor({name: value for name, value in long_enough.items() if not _is_public(value, repo, base)})


def _is_public(value: str, repo: str, base: str) -> bool:
    """Whether a file of the base commit holds it. The value goes by stdin: an argument could be seen by others."""
    if "\n" in value:
        return False
    done = Repository(repo, 0).git(
        "grep", "-q", "-F", "-f", "-", base, "--", stdin=os.fsencode(value) + b"\n"
    )
    return done.code == 0


def _spellings(value: str) -> set[str]:
    """A value as it is, with a terminal's line ends, and as JSON writes it."""
    plain = {value, value.replace("\n", "\r\n")}
    quoted = {json.dumps(one, ensure_ascii=ascii)[1:-1] for one in plain for ascii in (True, False)}
    return plain | quoted


def _event(line: bytes) -> tuple[float, str, str] | None:
    try:
        return msgspec.json.decode(line, type=tuple[float, str, str])
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
        return None


def _cut(text: str, sizes: Iterable[int], cuts: list[tuple[int, int, str]]) -> Iterator[str]:
    """The pieces of a text again, each cut replaced by its mark in the piece where it begins."""
    start = at = 0
    for size in sizes:
        end, piece, done = start + size, [], start
        while at < len(cuts) and cuts[at][0] < end:
            first, last, mark = cuts[at]
            piece += [text[done:first], mark] if first >= start else []
            done = min(last, end)
            if last > end:
                break
            at += 1
        piece.append(text[done:end])
        yield "".join(piece)
        start = end


def _replace(path: str, pieces: Iterable[bytes]) -> None:
    """Writes a file anew beside itself; the old one is whole until the new one is."""
    with open(f"{path}.new", "wb") as file:
        file.writelines(pieces)
    os.chmod(f"{path}.new", os.stat(path).st_mode & 0o777)
    os.replace(f"{path}.new", path)


def _all(objects: Repository, words: bytes, listed: bytes, ids: list[str]) -> Iterator[bytes]:
    """Messages, paths, then every file, a few at a time."""
    yield words
    yield listed
    for at in range(0, len(ids), _AT_ONCE):
        yield from objects.blobs(ids[at : at + _AT_ONCE], _BLOB_LIMIT).values()
