"""Reads below a folder that others have written to: no link is followed, no pipe opened, nothing read without end."""

import errno
import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager

from msgspec import Struct

_DIRECTORY = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
_KINDS = {"d": "folder", "l": "link", "-": "file"}
_FILE = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC


class FileContent(Struct, frozen=True):
    """The beginning of a file, and how large all of it is."""

    data: bytes
    size: int

    @property
    def is_truncated(self) -> bool:
        return self.size > len(self.data)

    @property
    def text(self) -> str:
        return self.data.decode(errors="replace")


class FolderEntry(Struct, frozen=True):
    """A name in a folder, `kind` being what it is itself and not what it links to."""

    name: str
    kind: str
    size: int = 0
    changed_ns: int = 0


def read(root: str, *names: str, limit: int) -> FileContent:
    """At most `limit` bytes of a plain file below `root`; an OSError says why not."""
    _check(names)
    with _opened(root, names[:-1]) as folder:
        try:
            place = os.open(names[-1], _FILE, dir_fd=folder)
        except OSError as error:
            if error.errno == errno.ELOOP:
                raise OSError(errno.ELOOP, "it is a link, which is not followed") from None
            raise
    with open(place, "rb") as file:
        facts = os.fstat(place)
        if not stat.S_ISREG(facts.st_mode):
            raise OSError(errno.EINVAL, "it is no plain file")
        data = file.read(limit)
    return FileContent(data, max(facts.st_size, len(data)))


def try_read(root: str, *names: str, limit: int) -> FileContent | None:
    """The same, or None where there is nothing that can be read."""
    try:
        return read(root, *names, limit=limit)
    except OSError:
        return None


def entries(root: str, *names: str) -> list[FolderEntry]:
    """What is in a folder below `root`, by name; an OSError says why it cannot be told."""
    _check(names)
    found = []
    with _opened(root, names) as folder:
        for name in os.listdir(folder):
            try:
                facts = os.stat(name, dir_fd=folder, follow_symlinks=False)
            except OSError:
                continue
            kind = _KINDS.get(stat.filemode(facts.st_mode)[0], "other")
            found.append(FolderEntry(name, kind, facts.st_size, facts.st_mtime_ns))
    return sorted(found, key=lambda entry: natural(entry.name))


def try_entries(root: str, *names: str) -> list[FolderEntry]:
    try:
        return entries(root, *names)
    except OSError:
        return []


def natural(name: str) -> tuple[int, str, str]:
    """Orders names as people count: 2-b before 10-a."""
    digits = len(name) - len(name.lstrip("0123456789"))
    number = name[:digits]
    return (len(number.lstrip("0")) if digits else 0, number.lstrip("0"), name)


def amount(size: int) -> str:
    """A size for people: 512 bytes, 3.4 MB."""
    if size < 1000:
        return f"{size} bytes"
    return f"{size / 1000:.1f} KB" if size < 1_000_000 else f"{size / 1_000_000:.1f} MB"


def _check(names: tuple[str, ...]) -> None:
    for name in names:
        if not name or name in (".", "..") or "/" in name or "\0" in name:
            raise FileNotFoundError(f"{name!r} is no name of a file")


@contextmanager
def _opened(root: str, names: tuple[str, ...]) -> Iterator[int]:
    place = os.open(root, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        for name in names:
            inner = os.open(name, _DIRECTORY, dir_fd=place)
            os.close(place)
            place = inner
        yield place
    finally:
        os.close(place)
