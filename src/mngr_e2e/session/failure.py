"""What pytest said of a failure, as plain text for someone who was not there: `failure.txt`, and one line of it."""

import os
import re

NAME = "failure.txt"
_LIMIT = 200_000
_LINE_LIMIT = 300
_READ = 2000
# CSI, OSC and DCS sequences, two-byte escapes, then every other control character but tab and newline.
_ESCAPES = re.compile(
    r"\x1b\[[0-?]*[ -/]*[@-~]|\x1b[\]P^_X][^\x07\x1b]*(?:\x07|\x1b\\)?|\x1b[ -/]*[0-~]|[\x00-\x08\x0b-\x1f\x7f-\x9f]"
)
_DOTTED = re.compile(r"^(?:[a-zA-Z_]\w*\.)+(?=[A-Z]\w*(?::|$))")


def write_failure(folder: str, phase: str, text: str) -> None:
    """Adds what was said of a phase (setup, call, teardown); of a flood the beginning and the end are kept."""
    path = os.path.join(folder, NAME)
    try:
        with open(path, "x", encoding="utf-8", errors="backslashreplace") as file:
            file.write(_headed(phase, text) if phase != "call" else _shortened(text))
    except FileExistsError:
        with open(path, "a", encoding="utf-8", errors="backslashreplace") as file:
            file.write("\n" + _headed(phase, text))


def reason_in(message: str) -> str:
    """A failure in one line: its first, without the module of the exception."""
    line = next(filter(None, map(str.strip, plain(message[:_READ]).split("\n"))), "")
    line = _DOTTED.sub("", line, count=1).removeprefix("ExpectationError: ")
    return line if len(line) <= _LINE_LIMIT else f"{line[: _LINE_LIMIT - 1]}…"


def plain(text: str) -> str:
    """Text without escape sequences and control characters."""
    return _ESCAPES.sub("", text.replace("\r\n", "\n"))


def _headed(phase: str, text: str) -> str:
    return f"during {phase}:\n\n{_shortened(text)}"


def _shortened(text: str) -> str:
    text = plain(text).strip("\n") + "\n"
    if len(text) <= _LIMIT:
        return text
    half = _LIMIT // 2
    return f"{text[:half]}\n… {len(text) - 2 * half} characters left out …\n{text[-half:]}"
