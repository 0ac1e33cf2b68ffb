"""Files replaced as a whole, and read with a bound: a reader sees the old bytes or the new ones, whatever crashes."""

import os
import stat
from collections.abc import Iterable
from contextlib import suppress

# Room in a name of at most 255 bytes for what makes it temporary.
_LONGEST_NAME = 200


class NotRegularError(OSError):
    """A device, a pipe or a directory where a file was expected: nothing was read."""


class TooLargeError(OSError):
    """The file has more bytes than the caller takes."""


def replace_file(
    path: str,
    data: bytes | Iterable[bytes],
    mode: int = 0o666,
    *,
    ignores_umask: bool = False,
    keeps_mode: bool = False,
) -> None:
    """Writes beside `path`, flushes to the disk and renames; on an error the old file stays and nothing is left.

    `mode` is reduced by the umask unless it is ignored; `keeps_mode` prefers the mode of the file that is replaced.
    A link is replaced itself: give its `os.path.realpath` to replace what it leads to.
    """
    temporary = temporary_path(path)
    fd = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, mode)
    try:
        with open(fd, "wb") as file:
            if keeps_mode and os.path.exists(path):
                os.fchmod(fd, stat.S_IMODE(os.stat(path).st_mode))
            elif ignores_umask:
                os.fchmod(fd, mode)
            file.writelines((data,) if isinstance(data, bytes) else data)
            file.flush()
            os.fsync(fd)
        os.replace(temporary, path)
    except BaseException:
        with suppress(FileNotFoundError):
            os.unlink(temporary)
        raise


def put_aside(path: str, most: int) -> None:
    """Renames a log to `<path>.1`, the older ones to the next number; of more than `most` the oldest is gone."""
    for number in range(most, 0, -1):
        with suppress(FileNotFoundError):
            os.replace(f"{path}.{number - 1}" if number > 1 else path, f"{path}.{number}")


def temporary_path(path: str) -> str:
    """A free name beside `path` that says which process writes there: `<name>.new.<pid>.<random>`."""
    folder, name = os.path.split(path)
    short = os.fsdecode(os.fsencode(name)[:_LONGEST_NAME])
    return os.path.join(folder, f"{short}.new.{os.getpid()}.{os.urandom(4).hex()}")


def read_regular(path: str, most_bytes: int | None = None) -> bytes:
    """The bytes of a regular file, opened without waiting for a writer; NotRegularError or TooLargeError otherwise."""
    fd = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    try:
        if not stat.S_ISREG(os.fstat(fd).st_mode):
            raise NotRegularError(0, "it is not a regular file", path)
        with open(fd, "rb", closefd=False) as file:
            data = file.read(-1 if most_bytes is None else most_bytes + 1)
    finally:
        os.close(fd)
    if most_bytes is not None and len(data) > most_bytes:
        raise TooLargeError(0, f"it is larger than {most_bytes >> 10} KiB", path)
    return data
