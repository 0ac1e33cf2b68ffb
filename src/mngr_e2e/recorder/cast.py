"""Recordings in asciicast v2 and v3, read into one kind of record."""

import os
from typing import Any

import msgspec
from msgspec import Struct


class CastError(ValueError):
    """A file that is no recording."""


class CastEvent(Struct, frozen=True):
    """Something at a moment: `kind` is o (output), i (input), r (resize), m (marker) or x (exit)."""

    time_s: float
    kind: str
    data: str


class ParsedCast(Struct, frozen=True):
    """A recording; event times count from its start, whatever the file counts them from."""

    version: int
    cols: int
    rows: int
    started: float
    events: tuple[CastEvent, ...]
    is_complete: bool = True

    @property
    def size(self) -> tuple[int, int]:
        return self.cols, self.rows

    @property
    def duration_s(self) -> float:
        return self.events[-1].time_s if self.events else 0.0


def read_cast(path: str | os.PathLike[str]) -> ParsedCast:
    """Reads a recording, also one that is still being written: a half last line is left out."""
    with open(path, "rb") as file:
        data = file.read()
    try:
        return parse_cast(data)
    except CastError as error:
        raise CastError(f"{os.fspath(path)}: {error}") from None


def parse_cast(data: bytes) -> ParsedCast:
    """The recording in these bytes; CastError names the line that is wrong."""
    lines = data.split(b"\n")
    cast = _header(lines[0])
    events: list[CastEvent] = []
    is_complete = not lines[-1].strip()
    for number, line in enumerate(lines[1:], 2):
        if not line.strip() or line.startswith(b"#"):
            continue
        try:
            event = msgspec.json.decode(line, type=tuple[float, str, str])
        except (msgspec.MsgspecError, UnicodeDecodeError) as error:
            if number == len(lines):
                break
            raise CastError(f"line {number} is no event: {error}") from None
        before = events[-1].time_s if events and cast.version == 3 else 0.0
        events.append(CastEvent(before + event[0], event[1], event[2]))
        is_complete = is_complete or number == len(lines)
    return msgspec.structs.replace(cast, events=tuple(events), is_complete=is_complete)


def text(cast: ParsedCast) -> str:
    """All output in one piece, with its escape sequences."""
    return "".join(event.data for event in cast.events if event.kind == "o")


def repair(path: str | os.PathLike[str]) -> bool:
    """Cuts a half last line off, as a full disk or a killed recorder leaves it; whether there was one."""
    with open(path, "r+b") as file:
        data = file.read()
        tail = data.rpartition(b"\n")[2]
        try:
            msgspec.json.decode(tail or b"[]")
        except (msgspec.MsgspecError, UnicodeDecodeError):
            file.truncate(len(data) - len(tail))
            return True
    return False


def _header(line: bytes) -> ParsedCast:
    try:
        header: dict[str, Any] = msgspec.json.decode(line, type=dict[str, Any])
        version = header["version"]
        if version not in (2, 3):
            raise CastError(f"asciicast version {version!r}, not 2 or 3")
        term = header["term"] if version == 3 else header
        cols, rows = (term["cols"], term["rows"]) if version == 3 else (term["width"], term["height"])
        return ParsedCast(version, int(cols), int(rows), float(header.get("timestamp") or 0), ())
    except (msgspec.MsgspecError, KeyError, TypeError, UnicodeDecodeError) as error:
        raise CastError(f"line 1 is no asciicast header: {error}") from None
