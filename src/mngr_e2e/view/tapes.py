"""Recordings as the page plays them: asciicast v2, only what a player understands, whatever was in the file."""

import re
from typing import Any

import msgspec
from msgspec import Struct

from mngr_e2e.view.files import FileContent, amount

LIMIT = 16_000_000
_LONGEST_S = 30 * 86_400.0
_LARGEST = 1_000
_SIZE = re.compile(r"(\d{1,4})x(\d{1,4})")
_EVENT = msgspec.json.Decoder(tuple[float, str, str])


class Tape(Struct, frozen=True):
    """A recording made whole: its text, what its header says, and what a reader must know about it."""

    text: str
    cols: int = 80
    rows: int = 24
    start: float = 0.0
    duration_s: float = 0.0
    title: str = ""
    has_end: bool = False
    problem: str = ""


class _Events(Struct):
    """Events as they are read, with what was wrong with them."""

    lines: list[bytes]
    is_relative: bool
    now: float = 0.0
    damaged: int = 0
    has_end: bool = False


def read_tape(found: FileContent) -> Tape:
    """Reads version 2 and 3, also from a file that is cut, damaged or no recording at all: `problem` says so."""
    first, _, rest = found.data.partition(b"\n")
    try:
        header = msgspec.json.decode(first, type=dict[str, Any])
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
        return Tape("", problem="this is no recording: its first line is not an asciicast's")
    version = header.get("version")
    if version not in (2, 3):
        return Tape("", problem="this is no recording of version 2 or 3")
    term = header.get("term")
    inner = term if isinstance(term, dict) else {}
    cols, rows = inner.get("cols", header.get("width")), inner.get("rows", header.get("height"))
    if not (
        isinstance(cols, int) and isinstance(rows, int) and 0 < cols <= _LARGEST and 0 < rows <= _LARGEST
    ):
        cols, rows = 80, 24
    whole, half = rest.rpartition(b"\n")[::2]
    events = _Events([], is_relative=version == 3)
    for line in whole.split(b"\n"):
        events.damaged += not _take(events, line)
    if not found.is_truncated:
        # A recorder that was killed leaves half a line, which is no news.
        _take(events, half)
    start, title = header.get("timestamp"), header.get("title")
    top = {"version": 2, "width": cols, "height": rows}
    problems = []
    if found.is_truncated:
        problems.append(f"{amount(found.size)} long: the first {amount(len(found.data))} are shown")
    if events.damaged:
        problems.append(f"{events.damaged} damaged line{'s' * (events.damaged > 1)} left out")
    if not events.lines:
        problems.append("nothing was recorded")
    return Tape(
        b"\n".join([msgspec.json.encode(top), *events.lines, b""]).decode(),
        cols,
        rows,
        float(start) if isinstance(start, int | float) and 0 <= start < 1e11 else 0.0,
        events.now,
        title if isinstance(title, str) else "",
        events.has_end,
        "; ".join(problems),
    )


def _take(events: _Events, line: bytes) -> bool:
    """Adds what a line says; False if it is damaged."""
    if not line.strip() or line.startswith(b"#"):
        return True
    try:
        time_s, kind, data = _EVENT.decode(line)
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
        return False
    time_s += events.now if events.is_relative else 0.0
    if not 0 <= time_s <= _LONGEST_S:
        return False
    if kind == "r":
        size = _SIZE.fullmatch(data)
        if size is None or not all(0 < int(number) <= _LARGEST for number in size.groups()):
            return False
    events.now = round(max(events.now, time_s), 6)
    # Version 3 notes the exit; our own recorders end with output that is empty.
    events.has_end = kind == "x" or (kind == "o" and not data)
    if kind in ("o", "r", "m"):
        events.lines.append(msgspec.json.encode((events.now, kind, data)))
    return True
