"""Config files as bytes: read with a bound, replaced as a whole, edited under a lock."""

import fcntl
import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager

from mngr.errors import MngrError, UsageError

_MOST_BYTES = 1 << 18


def read_file(path: str, most_bytes: int = _MOST_BYTES) -> bytes | None:
    """The bytes of a config file; None when there is no such file.

    A repository can hold a link to a device or a pipe, so only regular files are read, without waiting.
    """
    try:
        fd = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    except (FileNotFoundError, NotADirectoryError):
        return None
    except OSError as error:
        raise UsageError(f"cannot read {path}: {error.strerror}", hint="make it readable") from None
    try:
        if not stat.S_ISREG(os.fstat(fd).st_mode):
            raise UsageError(f"cannot read {path}: not a regular file", hint="move it away")
        data = _read_bounded(fd, most_bytes + 1)
    finally:
        os.close(fd)
    if len(data) > most_bytes:
        raise UsageError(f"{path} is larger than {most_bytes >> 10} KiB", hint="move it away")
    return data


def write_file(path: str, data: bytes, mode: int) -> None:
    """Replaces a file as a whole; one that is there keeps its own mode."""
    path = os.path.realpath(path)
    temporary = f"{path}.new.{os.getpid()}.{os.urandom(4).hex()}"
    try:
        fd = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, mode)
        try:
            if os.path.exists(path):
                os.fchmod(fd, stat.S_IMODE(os.stat(path).st_mode))
            with open(fd, "wb", closefd=False) as file:
                file.write(data)
            os.fsync(fd)
            os.replace(temporary, path)
        except BaseException:
            os.unlink(temporary)
            raise
        finally:
            os.close(fd)
    except OSError as error:
        raise MngrError(f"cannot write {path}: {error.strerror}", hint="nothing was changed") from None


@contextmanager
def directory_lock(directory: str, mode: int = 0o777) -> Iterator[None]:
    """Makes the directory and holds it against other editors of its files; leaves no lock file behind."""
    try:
        os.makedirs(directory, mode=mode, exist_ok=True)
        fd = os.open(directory, os.O_RDONLY | os.O_CLOEXEC)
    except OSError as error:
        raise MngrError(
            f"cannot write into {directory}: {error.strerror}", hint="nothing was changed"
        ) from None
    try:
        fcntl.flock(fd, fcntl.LOCK_EX)
        yield
    finally:
        os.close(fd)


def _read_bounded(fd: int, left: int) -> bytes:
    chunks: list[bytes] = []
    while left and (chunk := os.read(fd, left)):
        chunks.append(chunk)
        left -= len(chunk)
    return b"".join(chunks)
