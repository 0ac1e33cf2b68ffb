"""A lock between processes of this machine."""

import fcntl
import os
import time
from collections.abc import Iterator
from contextlib import contextmanager

from mngr.errors import TimedOutError


@contextmanager
def locked(path: str, *, timeout_s: float = 60) -> Iterator[None]:
    """Holds an exclusive flock on `path`; the kernel lets go of it when we die."""
    fd = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        _take(fd, path, time.monotonic() + timeout_s)
        yield
    finally:
        os.close(fd)


def _take(fd: int, path: str, deadline: float) -> None:
    while True:
        try:
            fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
            return
        except BlockingIOError:
            if time.monotonic() > deadline:
                raise TimedOutError(
                    f"{path} is held by another mngr", hint="is one hanging? see: mngr list"
                ) from None
            time.sleep(0.005)
