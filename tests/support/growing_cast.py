"""Recordings that are still being written."""

import os
from pathlib import Path

from mngr_e2e.recorder.cast import parse_cast, text


def shown_so_far(path: str | os.PathLike[str]) -> str:
    """The text of a recording that may still grow; empty before its file and its first line are there."""
    try:
        data = Path(path).read_bytes()
    except FileNotFoundError:
        return ""
    return text(parse_cast(data)) if b"\n" in data else ""
