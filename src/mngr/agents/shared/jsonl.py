"""Lines of JSON that an agent's program wrote: only the end of a large file is read, torn lines are passed over."""

from datetime import datetime
from typing import Any

from msgspec import Struct

from mngr.hosts.protocol import Host
from mngr.model.message import Turn, Usage
from mngr.sh.program import load, quote, words
from mngr.store.rules import LAST_SECOND
from mngr.store.untrusted import decode, decode_table, read_number

_MOST_TOKENS = 1 << 53


class Tail(Struct, frozen=True):
    """The whole lines at the end of a file, and how many bytes before them were left out."""

    lines: tuple[bytes, ...] = ()
    left_out: int = 0

    def note(self) -> list[Turn]:
        """A turn that says how much of the conversation is not shown, where some is not."""
        text = f"(the first {self.left_out >> 20} MB of the conversation are left out)"
        return [Turn("tool", text)] if self.left_out else []


def read_tail(host: Host, path: str, limit: int) -> Tail:
    """At most `limit` bytes; nothing when there is no such file."""
    file = quote(path)
    script = f"[ -f {file} ] && wc -c <{file} && tail -c {limit} {file} | tr -d '\\000'"
    size, _, data = host.run(("sh", "-c", script, "mngr-tail")).stdout.partition(b"\n")
    lines = tuple(data.split(b"\n"))
    left_out = max(0, (read_number(size.decode(errors="replace").strip(), 1 << 53) or 0) - limit)
    return Tail(lines[1:] if left_out else lines, left_out)


def spendings_lines(path: str, limit: int, pattern: str) -> str:
    """Shell lines that print what matches in a session file or in all of a directory; of large ones the end."""
    return f"set -- {words(path, str(limit), pattern)}\n{load('agents/shared/spendings')}"


def table(line: bytes) -> dict[str, Any]:
    """The object that a line holds; an empty one for anything else."""
    return decode_table(line)


def inner(outer: dict[str, Any], name: str) -> dict[str, Any]:
    """An object inside an object; an empty one when there is none."""
    found = outer.get(name)
    return found if isinstance(found, dict) else {}


def turn_of(line: bytes) -> Turn | None:
    """A turn as our own stand-in writes it; None for anything else."""
    turn = decode(line, Turn)
    return turn if turn and 0 <= turn.at < LAST_SECOND else None


def usage_of(data: bytes) -> Usage:
    """What an agent used so far, as our own stand-in writes it; nothing where that makes no sense."""
    used = decode(data, Usage) or Usage()
    counts = (used.input_tokens, used.output_tokens, used.cache_read_tokens, used.cache_write_tokens)
    is_sane = all(0 <= each < _MOST_TOKENS for each in counts) and 0 <= (used.cost_usd or 0) < _MOST_TOKENS
    return used if is_sane else Usage()


def count(counts: dict[str, Any], name: str) -> int:
    """A number of tokens; 0 for anything that is none."""
    value = counts.get(name)
    return int(value) if isinstance(value, int | float) and 0 < value < _MOST_TOKENS else 0


def seconds(timestamp: Any) -> float:
    """Seconds since the epoch of a date in words; 0 when it is none."""
    try:
        found = datetime.fromisoformat(str(timestamp)).timestamp()
    except (ValueError, OverflowError, OSError):
        return 0.0
    return found if 0 <= found < LAST_SECOND else 0.0
