"""Commands from `transcript.txt`, which says less than `transcript.jsonl` and is there when that one is not."""

import re

from msgspec import Struct

from mngr_view.records import Stream

_STREAMS: dict[str, Stream] = {"  ": "stdout", "! ": "stderr"}
_NO_NEWLINE = "\\ no newline"
_EXIT = re.compile(r"(-?\d{1,9})(?P<late> timed out)?")


class TextCommand(Struct):
    """One command as the text tells it, its output in lines."""

    command: str
    comment: str
    output: list[tuple[Stream, str]]
    exit_code: int | None = None
    is_timed_out: bool = False


def parse_text(text: str) -> list[TextCommand]:
    """Every command of a transcript, also of one that broke off; lines that are no transcript are passed over."""
    found: list[TextCommand] = []
    comment: list[str] = []
    for line in text.split("\n"):
        mark, rest = line[:2], line[2:]
        if mark == "# ":
            comment.append(rest)
        elif mark == "$ ":
            found.append(TextCommand(rest, "\n".join(comment), []))
            comment = []
        elif found:
            last = found[-1]
            if mark == "> " and not last.output:
                last.command += f"\n{rest}"
            elif mark in _STREAMS:
                last.output.append((_STREAMS[mark], f"{rest}\n"))
            elif line == _NO_NEWLINE and last.output:
                stream, printed = last.output[-1]
                last.output[-1] = (stream, printed[:-1])
            elif mark == "? " and (code := _EXIT.match(rest)):
                last.exit_code, last.is_timed_out = int(code[1]), bool(code["late"])
    return found
