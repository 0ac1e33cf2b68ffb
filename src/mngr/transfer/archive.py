"""Unpacks an archive that a stranger made: names confined, sizes counted, nothing followed."""

import os
import shutil
import tarfile
from typing import IO, BinaryIO

from msgspec import Struct

from mngr.transfer.safe_paths import (
    Limits,
    belongs_to_git,
    open_parent,
    plain_path,
    show,
    show_size,
    stays_inside,
)

_CHUNK = 1 << 20
# Headers and padding that come with any honest archive, beyond the bytes of its files.
_OVERHEAD = 64 << 20
# The same between two members: tarfile holds a header in memory as a whole.
_HEADER = 4 << 20
_NAME_LIMIT = 4096
_NOTES = 1000


class Unpacked(Struct, frozen=True):
    """Files and links that were written, relative, and notes about those that were not."""

    files: tuple[str, ...]
    links: dict[str, str]
    notes: tuple[str, ...]
    stopped: bool = False


def unpack(archive: BinaryIO, into: str, limits: Limits) -> Unpacked:
    """Writes a tar stream's regular files below `into`, an empty directory; links are returned, not made."""
    unpacking, stopped = _Unpacking(into, limits), False
    reader = _Counted(archive, limits.total_bytes + _OVERHEAD)
    try:
        with tarfile.open(fileobj=reader, mode="r|", errors="surrogateescape") as tar:  # type: ignore[call-overload]
            for member in tar:
                # It would keep every member, however many there are.
                tar.members = []
                reader.allow(member.size + _HEADER)
                unpacking.take(tar, member)
    except _TooMuchError:
        stopped = True
        unpacking.notes.append(f"stopped: more than {show_size(limits.total_bytes)}")
    except _TooManyError:
        stopped = True
        unpacking.notes.append(f"stopped: far more than {limits.files} files")
    except (tarfile.TarError, EOFError, RecursionError, ValueError) as error:
        # tarfile calls itself for each of many headers in a row.
        if reader.count:
            unpacking.notes.append(f"the archive ends early or is damaged ({show(str(error))})")
    return Unpacked(tuple(unpacking.files), unpacking.links, tuple(unpacking.notes), stopped)


class _TooMuchError(Exception):
    pass


class _TooManyError(Exception):
    pass


class _Counted:
    """A reader that stops after so many bytes in all, and after so many since it was last allowed more."""

    def __init__(self, file: BinaryIO, limit: int) -> None:
        self._file, self._limit, self._until, self.count = file, limit, _HEADER, 0

    def allow(self, size: int) -> None:
        """Lets so many bytes pass from here."""
        self._until = self.count + size

    def read(self, size: int) -> bytes:
        data = self._file.read(size)
        self.count += len(data)
        if self.count > min(self._limit, self._until):
            raise _TooMuchError
        return data


class _Unpacking:
    """The state of one unpacking: what was taken, what is left of the limits."""

    def __init__(self, into: str, limits: Limits) -> None:
        self._into, self._limits, self._left = into, limits, limits.total_bytes
        self._members = 0
        self.files: list[str] = []
        self.links: dict[str, str] = {}
        self.notes: list[str] = []
        self._sizes: dict[str, int] = {}
        self._seen: set[str | None] = set()

    def take(self, tar: tarfile.TarFile, member: tarfile.TarInfo) -> None:
        """Takes one member. Where two have the same name the first one counts."""
        self._members += 1
        if self._members > 2 * self._limits.files + _NOTES:
            raise _TooManyError
        path = plain_path(member.name) if len(member.name) <= _NAME_LIMIT else None
        if path in self._seen:
            return
        if path:
            self._seen.add(path)
        reason = self._refusal(member, path)
        if reason and len(self.notes) < _NOTES:
            self.notes.append(f"left out {show(path or member.name[:_NAME_LIMIT])}: {reason}")
        elif reason:
            return
        elif path and member.issym():
            self.links[path] = member.linkname
        elif path and not member.isdir():
            self._write(tar, member, path)

    def _refusal(self, member: tarfile.TarInfo, path: str | None) -> str:
        if path is None:
            return "its name points outside" if len(member.name) <= _NAME_LIMIT else "its name is too long"
        if member.isdir() or not path:
            return ""
        if belongs_to_git(path) or belongs_to_git(member.linkname):
            return "git would act on it"
        if member.issym():
            return (
                "" if stays_inside(path, member.linkname) else f"a link to {show(member.linkname)}, outside"
            )
        if member.islnk():
            return self._bad_hard_link(plain_path(member.linkname))
        if not member.isreg():
            return "not a regular file"
        return self._too_big(member.size)

    def _bad_hard_link(self, target: str | None) -> str:
        if not target or target not in self._sizes:
            return "a hard link to something that did not come before it"
        return self._too_big(self._sizes[target])

    def _too_big(self, size: int) -> str:
        if len(self.files) >= self._limits.files:
            return f"more than {self._limits.files} files"
        if size > self._limits.file_bytes:
            return f"{show_size(size)} is more than the limit of {show_size(self._limits.file_bytes)}"
        return f"more than {show_size(self._limits.total_bytes)} in all" if size > self._left else ""

    def _write(self, tar: tarfile.TarFile, member: tarfile.TarInfo, path: str) -> None:
        try:
            safe = tarfile.data_filter(member, self._into)
            mode = 0o755 if (safe.mode or 0) & 0o100 else 0o644
            flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW
            with self._content(tar, member) as data:
                parent = open_parent(self._into, path)
                try:
                    fd = os.open(path.rpartition("/")[2], flags, mode, dir_fd=parent)
                finally:
                    os.close(parent)
                with open(fd, "wb") as file:
                    shutil.copyfileobj(data, file, _CHUNK)
                    size = file.tell()
        except (tarfile.FilterError, OSError) as error:
            self.notes.append(f"left out {show(member.name)}: {show(str(error))}")
            return
        self._left -= size
        self._sizes[path] = size
        self.files.append(path)

    def _content(self, tar: tarfile.TarFile, member: tarfile.TarInfo) -> IO[bytes]:
        """The bytes of a member; a hard link names a file that came before, whose bytes are copied."""
        if member.islnk():
            return open(os.path.join(self._into, plain_path(member.linkname) or ""), "rb")
        data = tar.extractfile(member)
        assert data
        return data
