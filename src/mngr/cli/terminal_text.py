"""What a terminal needs: the width of text, colors only where they are wanted, who is there to answer."""

import os
import sys
from typing import TextIO

_COLOURS = {"red": "31", "green": "32", "yellow": "33", "blue": "34", "dim": "2", "bold": "1"}


def width(text: str) -> int:
    """How many cells a terminal needs for a text without control characters."""
    if text.isascii():
        return len(text)
    from unicodedata import combining, east_asian_width  # 1 MB that plain names never need

    return sum(0 if combining(char) else 2 if east_asian_width(char) in "WF" else 1 for char in text)


def fit(text: str, cells: int) -> str:
    """The text cut to so many cells, with an ellipsis where something is missing."""
    if width(text) <= cells:
        return text
    kept = text[: max(0, cells - 1)]
    while kept and width(kept) > cells - 1:
        kept = kept[:-1]
    return kept + "…" if cells > 0 else ""


def wants_colour(stream: TextIO) -> bool:
    return stream.isatty() and not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"


def paint(text: str, colour: str, on: bool) -> str:
    return f"\x1b[{_COLOURS[colour]}m{text}\x1b[0m" if on and colour else text


def columns() -> int:
    """The width of the terminal on stdout; without one, no limit that matters."""
    if not sys.stdout.isatty():
        return 10_000
    try:
        return os.get_terminal_size(1).columns or 80
    except OSError:
        return 80


def is_interactive() -> bool:
    """Whether a person can answer a question: stdin and stderr are terminals."""
    return sys.stdin is not None and sys.stdin.isatty() and sys.stderr.isatty()
