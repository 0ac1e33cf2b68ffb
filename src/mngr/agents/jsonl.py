"""Lines of JSON that an agent's program wrote: only the end of a large file is read, torn lines are passed over."""

from datetime import datetime
from typing import Any

import msgspec
from msgspec import Struct

from mngr.hosts.protocol import Host
from mngr.store.script import quote


class Tail(Struct, frozen=True):
    """The whole lines at the end of a file, and how many bytes before them were left out."""

    lines: tuple[bytes, ...] = ()
    left_out: int = 0


def read_tail(host: Host, path: str, limit: int) -> Tail:
    """At most `limit` bytes; nothing when there is no such file."""
    script = f"wc -c <{quote(path)} && tail -c {limit} {quote(path)} | tr -d '\\000'"
    size, _, data = host.run(("sh", "-c", script, "mngr-tail")).stdout.partition(b"\n")
    lines = tuple(data.split(b"\n"))
    left_out = max(0, int(size or 0) - limit)
    return Tail(lines[1:] if left_out else lines, left_out)


def table(line: bytes) -> dict[str, Any]:
    """The object that a line holds; an empty one for anything else."""
    try:
        found = msgspec.json.decode(line)
    except (msgspec.DecodeError, RecursionError):
        return {}
    return found if isinstance(found, dict) else {}


def inner(outer: dict[str, Any], name: str) -> dict[str, Any]:
    """An object inside an object; an empty one when there is none."""
    found = outer.get(name)
    return found if isinstance(found, dict) else {}


def count(counts: dict[str, Any], name: str) -> int:
    """A number of tokens; 0 for anything that is none."""
    value = counts.get(name)
    return int(value) if isinstance(value, int | float) and 0 < value < 1 << 53 else 0


def seconds(timestamp: Any) -> float:
    """Seconds since the epoch of a date in words; 0 when it is none."""
    try:
        return datetime.fromisoformat(str(timestamp)).timestamp()
    except ValueError:
        return 0.0
