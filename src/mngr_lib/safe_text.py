"""Text that others wrote, made safe to print and to store: control and invisible characters become escapes or go.

Characters beyond ASCII, and DEL, are escaped as JSON escapes them, so JSON that passes through stays the same JSON.
"""

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import Any, TextIO

PROBLEM_LIMIT = 200
"""How many characters of a foreign text an error message shows."""

_SHORT = {"\n": "\\n", "\t": "\\t", "\r": "\\r"}
# Spaces that a terminal shows as such; str.isprintable() knows only the one of ASCII.
_SPACES = frozenset("\xa0\u1680\u202f\u205f\u3000").union(map(chr, range(0x2000, 0x200B)))


def one_line(text: str, limit: int | None = None) -> str:
    """The text on one line, with everything that is not printable as an escape: ESC becomes `\\x1b`.

    Of more characters than `limit`, the rest is an ellipsis.
    """
    if limit is not None and len(text) > limit:
        text = text[:limit] + "…"
    if text.isprintable():
        return text
    return "".join(char if char.isprintable() else _escape(char) for char in text)


def safe_lines(text: str) -> str:
    """The text with newlines, tabs and spaces as they are and everything else as in `one_line`."""
    if text.replace("\n", "").replace("\t", "").isprintable():
        return text
    return "".join(char if _is_plain(char) else _escape(char) for char in text)


def plain(text: str) -> str:
    """The text without what `safe_lines` escapes: for places where an escape would only be noise."""
    return "".join(filter(_is_plain, text))


def storable(value: Any) -> Any:
    """A value for JSON, with text that UTF-8 cannot hold as escapes, however deep it is."""
    if isinstance(value, str):
        return value.encode(errors="backslashreplace").decode()
    if isinstance(value, dict):
        return {storable(key): storable(each) for key, each in value.items()}
    if isinstance(value, list | tuple):
        return [storable(each) for each in value]
    return value


class OutputError(OSError):
    """A standard stream takes no more: it is closed, or the disk behind it is full."""


@contextmanager
def writing() -> Iterator[None]:
    """Tells errors of writing from all other errors of the system; a reader that is gone stays a BrokenPipeError."""
    try:
        yield
    except BrokenPipeError:
        raise
    except OSError as error:
        raise OutputError(error.errno, error.strerror) from error


class SafeStream:
    """A text stream that makes all that is written to it safe; `raw` gives what is below it."""

    # click goes around a stream that says it is ASCII; what that lacks is escaped below.
    encoding = "utf-8"

    def __init__(self, stream: TextIO) -> None:
        self.below = stream

    def write(self, text: str) -> int:
        with writing():
            self.below.write(safe_lines(text))
        return len(text)

    def flush(self) -> None:
        with writing():
            self.below.flush()

    def writelines(self, lines: Iterable[str]) -> None:
        for line in lines:
            self.write(line)

    def __getattr__(self, name: str) -> Any:
        return getattr(self.below, name)


def raw(stream: Any) -> Any:
    """The stream itself, for text that was made safe before it was given colors or moves of the cursor."""
    return stream.below if isinstance(stream, SafeStream) else stream


def _is_plain(char: str) -> bool:
    return char.isprintable() or char in "\n\t" or char in _SPACES


def _escape(char: str) -> str:
    if char in _SHORT:
        return _SHORT[char]
    code = ord(char)
    if code < 0x20:
        return f"\\x{code:02x}"
    if code < 0x10000:
        return f"\\u{code:04x}"
    high, low = divmod(code - 0x10000, 0x400)
    return f"\\u{0xD800 + high:04x}\\u{0xDC00 + low:04x}"
