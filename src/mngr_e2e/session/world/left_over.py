"""Folders of tests whose run was killed: each test holds a lock in its own, and one without is removed."""

import fcntl
import os
from contextlib import suppress
from functools import cache
from shutil import rmtree

from mngr_e2e.session.world.reaper import end_marked

PREFIX = "e2e-"
_LOCK = ".held"
_held: dict[str, int] = {}


def hold(root: str) -> None:
    """Says that a folder is in use, for as long as this process lives or until `release`."""
    lock = os.path.join(root, _LOCK)
    fd = os.open(f"{lock}.new", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    fcntl.flock(fd, fcntl.LOCK_EX)
    # Only now: a lock that is there and not yet held would be a left-over one to a process that sweeps.
    os.rename(f"{lock}.new", lock)
    _held[root] = fd


def release(root: str) -> None:
    """Leaves the folder to its next owner; it is never taken for a left-over one. Twice is safe."""
    with suppress(FileNotFoundError):
        os.unlink(os.path.join(root, _LOCK))
    fd = _held.pop(root, None)
    if fd is not None:
        os.close(fd)


@cache
def sweep(folder: str) -> None:
    """Ends what still runs in folders of ours that no process holds and removes them, once for each process."""
    with os.scandir(folder) as entries:
        names = [entry.path for entry in entries if entry.name.startswith(PREFIX)]
    for root in names:
        try:
            if os.stat(root, follow_symlinks=False).st_uid != os.getuid():
                continue
            fd = os.open(os.path.join(root, _LOCK), os.O_RDWR | os.O_CLOEXEC | os.O_NOFOLLOW)
        except OSError:
            continue
        try:
            fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
            # Without a name it was released after we opened it.
            if os.fstat(fd).st_nlink:
                end_marked((f"={root}/".encode(),))
                rmtree(root, ignore_errors=True)
        except BlockingIOError:
            pass
        finally:
            os.close(fd)
