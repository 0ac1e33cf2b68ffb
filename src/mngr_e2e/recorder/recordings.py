"""The recordings of an attempt, each with the moment it began."""

import os
from contextlib import suppress

import msgspec
from msgspec import Struct

from mngr_e2e.recorder.ledger import CASTS
from mngr_e2e.recorder.writer import INDEX

_HEADER_MAX = 1 << 16


class Recorded(Struct, frozen=True):
    """A file in `casts/`: `start` is in seconds since 1970, to the millisecond or so where `is_exact`."""

    file: str
    start: float
    title: str = ""
    cols: int = 80
    rows: int = 24
    command: str = ""
    is_exact: bool = True


class _Header(Struct, frozen=True):
    """What a cast of either version says of its start and size."""

    width: int = 80
    height: int = 24
    timestamp: float = 0.0
    title: str = ""
    term: dict[str, object] = {}


def read_recordings(folder: str | os.PathLike[str]) -> tuple[Recorded, ...]:
    """Every `.cast` of an attempt's folder, the first to start first.

    One of which the index says nothing is taken by its own header, which knows the second only. What cannot be read is
    passed over: a broken recording is no reason to show none.
    """
    casts = os.path.join(folder, CASTS)
    noted: dict[str, Recorded] = {}
    with suppress(OSError), open(os.path.join(casts, INDEX), "rb") as file:
        noted = parse_index(file.read())
    try:
        names = [name for name in os.listdir(casts) if name.endswith(".cast")]
    except OSError:
        return ()
    found = [noted[name] for name in names if name in noted]
    for name in (name for name in names if name not in noted):
        header = _Header()
        with suppress(OSError, msgspec.MsgspecError, UnicodeDecodeError):
            with open(os.path.join(casts, name), "rb") as cast:
                header = msgspec.json.decode(cast.readline(_HEADER_MAX), type=_Header)
        cols, rows = header.term.get("cols", header.width), header.term.get("rows", header.height)
        size = (cols, rows) if isinstance(cols, int) and isinstance(rows, int) else (80, 24)
        found.append(Recorded(name, header.timestamp, header.title, *size, is_exact=False))
    return tuple(sorted(found, key=lambda one: (one.start, one.file)))


def parse_index(data: bytes) -> dict[str, Recorded]:
    """What an index says of recordings, by file name: the later of two lines counts, and no damaged one."""
    found = {}
    for line in data.split(b"\n")[:-1]:
        try:
            one = msgspec.json.decode(line, type=Recorded)
        except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
            continue
        found[one.file] = one
    return found
