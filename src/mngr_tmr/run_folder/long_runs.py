"""Long runs of the characters of which tokens are made: all that must be looked at of a large text.

Of source and conversations they are a few hundredths, so that the rest is passed over at the speed of `bytes.find`.
"""

import re
from bisect import bisect_right
from collections.abc import Iterator
from operator import methodcaller
from typing import NamedTuple

LONG = 16
"""Every token has a run of this many of these characters."""

_RUN = re.compile(rf"[A-Za-z0-9+/_-]{{{LONG},}}")
_IN_TOKEN = frozenset(b"+/_-").union(byte for byte in range(128) if chr(byte).isalnum())
# What may be between the characters of a token that is escaped, coloured or wrapped.
_BETWEEN = frozenset(b"\\%&#;[]\n\x7f").union(range(32)) - frozenset(b"\t\r")
_EDGES = b" \t\r|?"
# What may be of a token before its run: `SG.`, `ya29.`; and the key word before a random value.
_BEFORE_RUN, BEFORE_VALUE = 6, 64
# Words have neither; of random ones as long as a run hardly any is without.
_DIGIT, _CAPITALS = re.compile("[0-9]"), re.compile("[A-Z][^A-Z]*[A-Z][^A-Z]*[A-Z]")


def _table(dense: frozenset[int]) -> bytes:
    return bytes(65 if byte in dense else 32 for byte in range(256))


_TOKENS, _SUSPECTS = _table(_IN_TOKEN), _table(_IN_TOKEN | _BETWEEN)


class Run(NamedTuple):
    """Where a run is in its text."""

    start: int
    end: int


class Joined:
    """Runs as one text, so that one look tells whether a word is in any of them."""

    def __init__(self, text: str, runs: list[Run]) -> None:
        parts, moves, size, last = [], [], 0, 0
        for start, end in runs:
            begin = max(start - _BEFORE_RUN, last)
            parts.append(text[begin:end])
            moves.append(begin - size)
            size += end - begin + 1
            last = end
        self.text, self._runs, self._moves = "\n".join(parts), runs, moves
        self._ends = [run.end - move for run, move in zip(runs, moves, strict=True)]

    def find(self, word: str) -> Iterator[Run]:
        """Where a word is, up to the end of its run, in the text that the runs are of."""
        at = self.text.find(word)
        while at >= 0:
            number = bisect_right(self._ends, at)
            yield Run(at + self._moves[number], self._runs[number].end)
            at = self.text.find(word, at + 1)


class Runs:
    """The runs of a text."""

    def __init__(self, text: str) -> None:
        self.text, self.all = text, list(_runs_in(text.encode("latin-1", "replace"), _TOKENS))
        self.joined = Joined(text, self.all)


def longest_run(word: str) -> str:
    """The longest part of a word that is a run; empty when it has none."""
    return max(_RUN.findall(word), key=len, default="")


def is_suspect(run: str) -> bool:
    """Whether it may be more than words."""
    return bool(_DIGIT.search(run) or _CAPITALS.search(run))


def suspects(text: str) -> str:
    """A small text that holds every token that the text holds, also one that is escaped, coloured or wrapped.

    Lines are put together as a screen breaks them; a random word has the words before it.
    """
    data = text.encode("latin-1", "replace").replace(b"\\n", b"\n")
    data = b"\n".join(map(methodcaller("strip", _EDGES), data.split(b"\n")))
    parts, last = [], 0
    lines = data.decode("latin-1")
    for start, end in _runs_in(data, _SUSPECTS):
        has_digit = _DIGIT.search(lines, start, end)
        if not has_digit and not _CAPITALS.search(lines, start, end):
            continue
        begin = max(start - (BEFORE_VALUE if has_digit else _BEFORE_RUN), last)
        if begin > last:
            parts.append(' " ')
        parts.append(lines[begin:end])
        last = end
    return "".join(parts)


def _runs_in(data: bytes, table: bytes) -> Iterator[Run]:
    marked, run = data.translate(table) + b" ", b"A" * LONG
    at = marked.find(run)
    while at >= 0:
        end = marked.find(b" ", at + LONG)
        yield Run(at, end)
        at = marked.find(run, end)
