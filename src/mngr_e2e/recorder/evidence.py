"""What the files of a recording tell: whether the agent's screen was seen, and what was said instead."""

import os
import re
import sys

from mngr_e2e.recorder.cast import CastError, read_cast, text
from mngr_e2e.recorder.ledger import Recording

# What tmux writes first on a terminal that it takes over.
SCREEN_TAKEN = b"[?1049h"
_ESCAPES = re.compile(r"\x1b(\[[0-9;?>=]*[a-zA-Z]|\([A-Z0-9]|[=>])|\r")
_ENOUGH = 2000


def shows_screen(path: str) -> bool:
    """Whether tmux has drawn in this recording: otherwise attaching has failed, or not happened yet."""
    try:
        with open(path, "rb") as file:
            return SCREEN_TAKEN in file.read(1 << 20).rpartition(b"\n")[0]
    except OSError:
        return False


def began_at(path: str) -> float:
    """When the clock of a growing cast was started: its last line is as old as the file's last change; 0 if unknown."""
    try:
        before = os.stat(path).st_mtime
        cast = read_cast(path)
        is_steady = os.stat(path).st_mtime == before
    except (OSError, CastError):
        return 0.0
    return before - cast.duration_s if cast.events and cast.is_complete and is_steady else 0.0


def last_words(recording: Recording) -> str:
    """What the attached program showed and the recorder complained of, without escape sequences."""
    try:
        shown = _ESCAPES.sub("", text(read_cast(recording.cast)))
    except (OSError, CastError):
        shown = ""
    try:
        with open(recording.log, "rb") as file:
            logged = file.read()[-_ENOUGH:].decode(errors="replace")
    except OSError:
        logged = ""
    return "\n".join(filter(None, (shown.strip()[-_ENOUGH:], logged.strip())))


def note_error(recording: Recording, problem: str) -> str:
    """Writes the error file beside the cast, where the disk lets us; returns the problem."""
    try:
        with open(recording.error, "w") as file:
            file.write(problem.rstrip() + "\n")
    except OSError as error:
        sys.stderr.write(f"{error}\n")
    return problem
