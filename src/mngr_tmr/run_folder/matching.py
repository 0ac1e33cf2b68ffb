"""Finds values in text, also where they are encoded, escaped, wrapped or interrupted by what a reader does not see.

A text is searched in several views: as it is, without invisible characters, as a terminal shows it, and with the
escapes of JSON, Python, git, URLs and HTML undone. A find in a view is a span of the text itself.
"""

import html
import re
import unicodedata
from base64 import b64encode, urlsafe_b64encode
from bisect import bisect_right
from collections.abc import Callable, Iterator, Mapping
from functools import lru_cache
from typing import NamedTuple
from urllib.parse import quote_plus, unquote

from mngr_tmr.run_folder.long_runs import Runs, is_suspect, longest_run, suspects
from mngr_tmr.run_folder.token_shapes import private_keys, random_values, tokens

SHORTEST = 8
# A value in pieces that lie further apart than this is not put together.
REACH = 1 << 16
# A larger text is looked at quickly first, and in pieces, so that one find makes only its own piece slow.
_LARGE, _SEGMENT, _OVERLAP = 1 << 10, 1 << 18, 1 << 13
# A part of a short value by which it is looked for: no encoding but that of every letter changes it.
_PIECE, _LEAST = re.compile("[A-Za-z0-9]+"), 5
_NO_PIECE = bytes(byte for byte in range(256) if not _PIECE.fullmatch(chr(byte)))

_NON_ASCII = re.compile("[^\x00-\x7f]")
_ASCII_CONTROLS = "\x00-\x08\x0b-\x1f\x7f"
# CSI; OSC, DCS, SOS, PM and APC up to their terminator; all other sequences of two or three characters.
_SEQUENCE = re.compile(
    r"\x1b\[[0-?]*[ -/]*[@-~]|\x1b[\]PX^_][^\x07\x1b]{0,4096}(?:\x07|\x1b\\)|\x1b[ -/]*[0-~]"
)
# Where a screen or a tool breaks a line: blanks and the edges of boxes around it belong to the break.
_EDGES = " \t\r|\u2502\u2503"
_BREAK = f"[{_EDGES}]*\n[{_EDGES}\n]*"
_HEX = "[0-9a-fA-F]"
_ESCAPE = re.compile(
    rf"\\(?:u{_HEX}{{4}}(?:\\u{_HEX}{{4}}){{0,63}}|x{_HEX}{{2}}(?:\\x{_HEX}{{2}}){{0,63}}"
    r"|[0-3][0-7]{2}(?:\\[0-3][0-7]{2}){0,63}|.)",
    re.DOTALL,
)
_PERCENT = re.compile(f"%{_HEX}{{2}}(?:%{_HEX}{{2}})*")
_ENTITY = re.compile(r"&(?:#[0-9]{1,7}|#[xX][0-9a-fA-F]{1,6}|[a-zA-Z]{2,8});")
_NAMED = dict(zip("abefnrtv0", "\a\b\x1b\f\n\r\t\v\0", strict=True))


_CONTROL_BYTES = bytes((*range(9), *range(11, 32), 127))


class FoundValue(NamedTuple):
    """Where a value is, and the name of its variable."""

    start: int
    end: int
    name: str


class Matcher:
    """Knows values by the names of their variables; with `shapes` also what looks like a secret."""

    def __init__(self, values: Mapping[str, str], shapes: bool = False) -> None:
        self._shapes = shapes
        self._needles: dict[str, str] = {}
        for name, value in values.items():
            for spelling in spellings(value):
                self._needles.setdefault(spelling, name)
        runs = {needle: longest_run(needle) for needle in self._needles if needle.isprintable()}
        self._cores = {run for run in runs.values() if is_suspect(run)}
        self._short = {needle for needle in self._needles if runs.get(needle) not in self._cores}
        self._pieces = {max(_PIECE.findall(needle), key=len, default="") for needle in self._short}
        self._longest = max(map(len, self._needles), default=0)
        self._is_quick = min(map(len, self._pieces), default=_LEAST) >= _LEAST

    @property
    def knows_nothing(self) -> bool:
        return not self._needles

    def find(self, text: str) -> list[FoundValue]:
        """All values in a text, in order, none overlapping another."""
        if (self.knows_nothing and not self._shapes) or len(text) < SHORTEST:
            return []
        found = [one for piece, at in self._pieces_of(text) for one in self._found_in(piece, at)]
        # In order; of those that overlap the first and longest gives the name to all of it.
        joined: list[FoundValue] = []
        for one in sorted(found, key=lambda one: (one.start, -one.end)):
            if joined and one.start < joined[-1].end:
                joined[-1] = joined[-1]._replace(end=max(joined[-1].end, one.end))
            else:
                joined.append(one)
        return joined

    def _pieces_of(self, text: str) -> Iterator[tuple[str, int]]:
        """The parts of a large text that may hold something, and where they begin; each reaches into the next."""
        if len(text) <= _SEGMENT or self._longest > _OVERLAP:
            if self.may_hold(text):
                yield text, 0
            return
        for start in range(0, len(text), _SEGMENT):
            begin = max(0, start - _OVERLAP)
            piece = text[begin : start + _SEGMENT + _OVERLAP]
            if self.may_hold(piece):
                yield piece, begin

    def _found_in(self, text: str, at: int) -> Iterator[FoundValue]:
        for view in views(text):
            for start, end, name in self._in_view(view):
                yield FoundValue(at + start, at + end, name)

    def may_hold(self, text: str) -> bool:
        """Whether a text may hold anything; quick where a large one does not, which is nearly always so."""
        if (
            len(text) <= _LARGE
            or not self._is_quick
            or _controls(text) != _ASCII_CONTROLS
            or any(private_keys(text))
        ):
            return True
        if self._pieces:
            letters = text.encode("latin-1", "replace").translate(None, _NO_PIECE)
            if "\x1b" in text or any(piece.encode() in letters for piece in self._pieces):
                return True
        for view in views(suspects(text)):
            runs = Runs(view.text)
            if any(core in runs.joined.text for core in self._cores):
                return True
            if any(needle in view.text for needle in self._short):
                return True
            if self._shapes and any(True for _ in _shapes_in(view, runs)):
                return True
        return False

    def _in_view(self, view: "View") -> Iterator[FoundValue]:
        runs = Runs(view.text)
        for needle, name in self._needles.items():
            reduced = view.reduced(needle)
            if len(reduced) < SHORTEST or _run_of(reduced) not in runs.joined.text:
                continue
            at = view.text.find(reduced)
            while at >= 0:
                yield FoundValue(*view.origin(at, at + len(reduced)), name)
                at = view.text.find(reduced, at + len(reduced))
        if self._shapes:
            for start, end, name in _shapes_in(view, runs):
                yield FoundValue(*view.origin(start, end), name)


class View:
    """A text as some reader sees it. `origin` tells which part of the first text a part of it was."""

    def __init__(self, text: str, parent: "View | None" = None, change: "_Change | None" = None) -> None:
        self.text, self.parent, self.change = text, parent, change
        self._pieces: tuple[list[int], list[tuple[int, int, bool]]] | None = None

    def changed(self, change: "_Change") -> "View | None":
        """The view with a change; None where it changes nothing."""
        text = change.apply(self.text)
        return None if text == self.text else View(text, self, change)

    @property
    def changes(self) -> "tuple[_Change, ...]":
        """All that was done to the text to get here."""
        return (*self.parent.changes, self.change) if self.parent and self.change else ()

    def without_invisible(self) -> "View | None":
        return self.changed(_leaving_out(f"[{_controls(self.text)}]", _without_controls))

    def on_screen(self) -> "View | None":
        """Without escape sequences first, then without line breaks and what surrounds them."""
        plain = (self.changed(_Change(_SEQUENCE)) if "\x1b" in self.text else None) or self
        change = _leaving_out(f"{_BREAK}|[{_controls(plain.text)}]", _in_one_line)
        return plain.changed(change) or (plain if plain is not self else None)

    @property
    def joins_lines(self) -> bool:
        return self.change is not None and self.change.shortcut is _in_one_line

    def reduced(self, needle: str) -> str:
        """A value as it is in this view: what is left out of the view is left out of it."""
        if self.change is None:
            return needle
        needle = self.parent.reduced(needle) if self.parent else needle
        return self.change.pattern.sub("", needle) if self.change.leaves_out else needle

    def origin(self, start: int, end: int) -> tuple[int, int]:
        if self.parent is None or self.change is None:
            return start, end
        if self._pieces is None:
            self._pieces = _pieces(self.parent.text, self.change)
        starts, pieces = self._pieces
        first = bisect_right(starts, start) - 1
        last = bisect_right(starts, end - 1) - 1
        begin, _, is_kept = pieces[first]
        begin += start - starts[first] if is_kept else 0
        from_, until, is_kept = pieces[last]
        until = from_ + end - starts[last] if is_kept else until
        return self.parent.origin(begin, until)


class _Change(NamedTuple):
    """What a view does to the matches of a pattern: leaves them out, or puts what they stand for.

    `shortcut` gives the same text as leaving them out, in a fraction of the time.
    """

    pattern: re.Pattern[str]
    replace: "str | Callable[[re.Match[str]], str]" = ""
    shortcut: "Callable[[str], str] | None" = None

    @property
    def leaves_out(self) -> bool:
        return self.replace == ""

    def apply(self, text: str) -> str:
        return self.shortcut(text) if self.shortcut else self.pattern.sub(self.replace, text)


def _shapes_in(view: View, runs: Runs) -> Iterator[tuple[int, int, str]]:
    yield from tokens(runs)
    # A word on a line of its own is not the value of the key word above it.
    if not view.joins_lines:
        yield from random_values(runs)


def views(text: str) -> Iterator[View]:
    """The text as different readers see it; a view that is like another is left out.

    Escapes are undone twice, by any two readers: JSON is put into HTML, an address into JSON.
    """
    raw = View(text)
    once = list(_decoded(raw))
    twice = [view for one in once for view in _decoded(one)]
    for view in (raw, *once, *twice):
        yield view
        if all(change is _UNESCAPED for change in view.changes):
            yield from filter(None, (view.without_invisible(), view.on_screen()))


def _decoded(view: View) -> Iterator[View]:
    for sign, change in (("\\", _UNESCAPED), ("%", _FROM_URL), ("&", _FROM_HTML)):
        decoded = view.changed(change) if sign in view.text else None
        if decoded is not None:
            yield decoded


def spellings(value: str) -> set[str]:
    """A value as it is and in the encodings that no view undoes: base64 at each alignment, hex, other line ends."""
    data = value.encode(errors="surrogateescape")
    found = {value, value.replace("\n", "\r\n"), " ".join(value.split()), quote_plus(data)}
    found |= {data.hex(), data.hex().upper(), value.replace("'", "'\"'\"'"), value.replace("'", "'\\''")}
    for shift, skipped in ((0, 0), (1, 2), (2, 3)):
        for encode in (b64encode, urlsafe_b64encode):
            whole = encode(bytes(shift) + data).decode()
            found.add(whole[skipped : 8 * (shift + len(data)) // 6])
    try:
        found.add(value.encode("latin-1").decode(errors="surrogateescape"))
    except UnicodeEncodeError:
        pass
    return {one for one in found if len(one) >= SHORTEST}


def _leaving_out(pattern: str, shortcut: Callable[[str], str]) -> _Change:
    return _Change(re.compile(pattern), shortcut=shortcut)


@lru_cache(2)
def _controls(text: str) -> str:
    """The characters that are dropped before a text is shown anywhere, for a class of a pattern."""
    if text.isascii():
        return _ASCII_CONTROLS
    present = set(_NON_ASCII.findall(text))
    return _ASCII_CONTROLS + "".join(
        re.escape(char) for char in sorted(present) if unicodedata.category(char)[0] == "C"
    )


def _without_controls(text: str) -> str:
    if text.isascii():
        return text.encode().translate(None, _CONTROL_BYTES).decode()
    return re.sub(f"[{_controls(text)}]", "", text)


def _in_one_line(text: str) -> str:
    first, *others = text.split("\n")
    if others:
        *inner, last = others
        pieces = (first.rstrip(_EDGES), *(line.strip(_EDGES) for line in inner), last.lstrip(_EDGES))
        text = "".join(pieces)
    return _without_controls(text)


def _unescape_all(text: str) -> str:
    """The same text in a fraction of the time: the short escapes, of which there are many, go first."""
    held = next((char for char in "\x01\x02\x03\x04" if char not in text), "")
    if not held or text.count("\\") < len(text) >> 8:
        return _ESCAPE.sub(lambda found: _meaning(found[0]), text)
    text = text.replace("\\\\", held)
    for sign in "n\"t'r":
        text = text.replace(f"\\{sign}", _NAMED.get(sign, sign))
    return (_ESCAPE.sub(lambda found: _meaning(found[0]), text) if "\\" in text else text).replace(held, "\\")


_run_of = lru_cache(10_000)(longest_run)


@lru_cache(10_000)
def _meaning(escape: str) -> str:
    """What an escape stands for. Unknown ones stand for their last character, as in a shell."""
    kind = escape[1]
    if kind == "u" and len(escape) > 2:
        units = b"".join(int(one, 16).to_bytes(2, "big") for one in escape.split("\\u")[1:])
        try:
            return units.decode("utf-16-be")
        except UnicodeDecodeError:
            return units.decode("utf-16-be", "surrogatepass")
    if kind == "x" and len(escape) > 2:
        return bytes.fromhex(escape.replace("\\x", "")).decode(errors="surrogateescape")
    if len(escape) > 2:
        return bytes(int(one, 8) for one in escape.split("\\")[1:]).decode(errors="surrogateescape")
    return _NAMED.get(kind, kind)


_UNESCAPED = _Change(_ESCAPE, lambda found: _meaning(found[0]), _unescape_all)
_FROM_URL = _Change(_PERCENT, lambda found: unquote(found[0], errors="surrogateescape"))
_FROM_HTML = _Change(_ENTITY, lambda found: html.unescape(found[0]))


def _pieces(text: str, change: _Change) -> tuple[list[int], list[tuple[int, int, bool]]]:
    """Where each piece of a view begins, and the part of the text it was: kept as it is, or replaced."""
    starts, pieces, at, done = [], [], 0, 0
    for found in change.pattern.finditer(text):
        if found.start() > done:
            starts.append(at)
            pieces.append((done, found.start(), True))
            at += found.start() - done
        put = change.replace if isinstance(change.replace, str) else change.replace(found)
        if put:
            starts.append(at)
            pieces.append((found.start(), found.end(), False))
            at += len(put)
        done = found.end()
    starts.append(at)
    pieces.append((done, len(text), True))
    return starts, pieces
