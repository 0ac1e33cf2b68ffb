"""A lock between processes of this machine."""

import fcntl
import os
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from stat import S_IMODE, S_ISREG

from mngr.errors import MngrError, TimedOutError

_FLAGS = os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW | os.O_NONBLOCK


@contextmanager
def locked(path: str, *, timeout_s: float = 60, like: str = "") -> Iterator[None]:
    """Holds an exclusive flock on `path`; the kernel lets go of it when we die.

    Only we may take it; with `like`, a directory, everybody who may write there, as git shares its own files.
    """
    fd = _open(path, like)
    try:
        deadline = time.monotonic() + timeout_s
        while True:
            try:
                fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
                break
            except BlockingIOError:
                if time.monotonic() > deadline:
                    hint = "is one hanging? see: mngr list"
                    raise TimedOutError(f"{path} is held by another mngr", hint=hint) from None
                time.sleep(0.005)
        yield
    finally:
        os.close(fd)


def _open(path: str, like: str) -> int:
    try:
        fd = os.open(path, _FLAGS, 0o600)
    except OSError as error:
        hint = "remove it if it is a link; if it is another user's: chmod g+rw it, as its owner"
        raise MngrError(f"cannot open the lock {path}: {error.strerror}", hint=hint) from error
    about = os.fstat(fd)
    if not S_ISREG(about.st_mode):
        os.close(fd)
        raise MngrError(f"the lock {path} is no regular file", hint="remove it")
    if like and about.st_uid == os.geteuid():
        # Those who may write to the directory may open the lock, whatever our umask.
        folder = os.stat(like)
        writers = S_IMODE(folder.st_mode) & 0o022
        mode = 0o600 | writers | (writers << 1)
        # Not our group, or a file system without modes: then it is ours alone, as before.
        with suppress(OSError):
            if mode != 0o600 and about.st_gid != folder.st_gid:
                os.fchown(fd, -1, folder.st_gid)
            if S_IMODE(about.st_mode) != mode:
                os.fchmod(fd, mode)
    return fd
