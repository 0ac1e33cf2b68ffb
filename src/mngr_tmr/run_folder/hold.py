"""A file that one process at a time holds; the kernel takes it from a process that ends."""

import fcntl
import os
import time
from collections.abc import Iterator
from contextlib import contextmanager

_FLAGS = os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW | os.O_NONBLOCK
_TICK_S = 0.02


@contextmanager
def hold(path: str, wait_s: float = 0.0) -> Iterator[bool]:
    """Whether it is ours for the block: False when another process held it for all this time. OSError if it cannot be
    opened.
    """
    fd = os.open(path, _FLAGS, 0o600)
    deadline = time.monotonic() + wait_s
    try:
        while True:
            try:
                fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                if time.monotonic() >= deadline:
                    yield False
                    return
                time.sleep(_TICK_S)
            else:
                yield True
                return
    finally:
        os.close(fd)
