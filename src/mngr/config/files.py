"""Config files as bytes: read with a bound, replaced as a whole, edited under a lock."""

import fcntl
import os
from collections.abc import Iterator
from contextlib import contextmanager

from mngr.errors import MngrError, UsageError
from mngr_lib.files import NotRegularError, TooLargeError, read_regular, replace_file

_MOST_BYTES = 1 << 18


def read_file(path: str, most_bytes: int = _MOST_BYTES) -> bytes | None:
    """The bytes of a config file; None when there is no such file.

    A repository can hold a link to a device or a pipe, so only regular files are read, without waiting.
    """
    try:
        return read_regular(path, most_bytes)
    except (FileNotFoundError, NotADirectoryError):
        return None
    except TooLargeError:
        raise UsageError(f"{path} is larger than {most_bytes >> 10} KiB", hint="move it away") from None
    except NotRegularError:
        raise UsageError(f"cannot read {path}: not a regular file", hint="move it away") from None
    except OSError as error:
        raise UsageError(f"cannot read {path}: {error.strerror}", hint="make it readable") from None


def write_file(path: str, data: bytes, mode: int) -> None:
    """Replaces a file as a whole; one that is there keeps its own mode."""
    try:
        replace_file(os.path.realpath(path), data, mode, keeps_mode=True)
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
