"""Whether a run goes on, and whether what was written about it still holds."""

import fcntl
import os

from mngr_tmr.run_folder.folder import RunFolder


def is_alive(folder: RunFolder) -> bool:
    """Whether a process is at work on the run: it holds the journal."""
    try:
        place = os.open(folder.journal, os.O_RDONLY | os.O_CLOEXEC)
    except OSError:
        return False
    try:
        fcntl.flock(place, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    finally:
        os.close(place)
    return False


def has_fresh_summary(folder: RunFolder) -> bool:
    """Whether there is a summary that was written after everything that it tells of."""
    written = _changed_ns(folder.summary)
    paths = (folder.journal, folder.integration, folder.base)
    return written > 0 and all(_changed_ns(path) <= written for path in paths)


def _changed_ns(path: str) -> int:
    try:
        return os.stat(path).st_mtime_ns
    except OSError:
        return 0
