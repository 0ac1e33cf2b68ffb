"""Whether a run is still going on: the process that writes into it holds a lock, which ends with it."""

import fcntl
import os
from typing import BinaryIO

LOCK = ".alive"


def hold(run: str) -> BinaryIO:
    """Says that this process writes into a run, until the file is closed or the process is gone."""
    os.makedirs(run, exist_ok=True)
    file = open(os.path.join(run, LOCK), "ab")  # noqa: SIM115
    fcntl.flock(file, fcntl.LOCK_SH)
    return file


def is_alive(run: str) -> bool:
    """Whether anyone holds the run."""
    try:
        place = os.open(os.path.join(run, LOCK), os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    except OSError:
        return False
    try:
        fcntl.flock(place, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    finally:
        os.close(place)
    return False
