"""The one writer of a run's folder: what it writes holds no value of a variable, and only its owner can read it.

Files are replaced in one step, from a temporary name that cannot be guessed; a crash leaves the old one or the new one,
whole. What others made is looked at in a staging folder first and only then moved to its place.
"""

import os
import re
import shutil
import stat
import tempfile
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress

import msgspec

import mngr
from mngr_lib.files import replace_file
from mngr_tmr.run_folder.redact import NOTHING_TO_HIDE, Redactor

# Older versions left `.new-<pid>-…`.
_UNFINISHED = re.compile(r"\.(?:incoming|new)-(\d+)-.*|.*\.new\.(\d+)\.[0-9a-f]{8}", re.DOTALL)
_CAST_LIMIT = 256 << 20
_PIECE = 1 << 20
_LONGEST_NAME = 200
# Of a larger one only the text is searched: what an agent wrote takes many times its size when it is decoded.
_JSON_LIMIT = 8 << 20
_READ = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
_PRIVATE, _PRIVATE_PROGRAM, _PRIVATE_FOLDER = 0o600, 0o700, 0o700


class RunWriter:
    """Writes below one folder. The folder of an older version is closed to others before the first write."""

    def __init__(self, root: str, redactor: Redactor = NOTHING_TO_HIDE) -> None:
        self.root, self.redactor = root, redactor
        self._is_private = False

    def write(self, path: str, data: bytes) -> None:
        """Text, without values."""
        self._replace(path, (self.redactor.data(data),))

    def append(self, path: str, data: bytes) -> None:
        """Adds text, without values, to the end of a file."""
        self.prepare()
        flags = os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC
        with open(os.open(path, flags, _PRIVATE), "ab") as file:
            file.write(self.redactor.data(data))

    def write_json(self, path: str, record: object) -> None:
        data = msgspec.json.format(self.redactor.json(record), indent=2)
        self._replace(path, (data, b"\n"))

    def write_lines(self, path: str, records: Iterable[object]) -> None:
        """Records, each a line of JSON."""
        self._replace(path, (self.redactor.json(record) + b"\n" for record in records))

    def write_cast(self, path: str, data: bytes) -> None:
        self._replace(path, (self.redactor.cast(data),))

    def write_clean(self, path: str, pieces: Iterable[bytes]) -> None:
        """What the redactor has been through already, such as a page of compressed chunks."""
        self._replace(path, pieces)

    @contextmanager
    def staging(self) -> Iterator[str]:
        """An empty folder that no other user can enter; it is gone afterwards, with what was not taken from it."""
        self.prepare()
        folder = tempfile.mkdtemp(prefix=f".incoming-{os.getpid()}-", dir=self.root)
        try:
            yield folder
        finally:
            _remove(folder)

    def take_in(self, source: str, target: str) -> tuple[str, ...]:
        """Moves a folder that others filled to its place, instead of what was there; says what was left out.

        Kept are plain files, folders and links that stay inside; without values in contents, names and targets.
        """
        notes = self._clean(source, source)
        self._make_folders(os.path.dirname(target))
        _remove(target)
        os.rename(source, target)
        return tuple(notes)

    def copy_in(self, source: str, target: str, limit: int) -> tuple[str, ...]:
        """The same with a copy; what is past a number of bytes is left out too."""
        with self.staging() as folder:
            copy = os.path.join(folder, "copy")
            notes: list[str] = []
            _copy(source, copy, notes, [limit])
            return (*notes, *self.take_in(copy, target))

    def prepare(self) -> None:
        """Closes the folder to others, once; one that is not ours to close is refused."""
        if not self._is_private:
            try:
                _make_private(self.root)
            except PermissionError as error:
                raise mngr.RefusedError(
                    f"the run's folder {self.root} belongs to another user: {error.strerror}",
                    hint="let its owner write there, or start a run of your own",
                ) from None
            for folder, inner, names in os.walk(self.root):
                for name in (*inner, *names):
                    with suppress(OSError):
                        _make_private(os.path.join(folder, name))
            self._is_private = True

    def sweep(self) -> None:
        """Removes what processes that are gone had not finished."""
        for folder, inner, names in os.walk(self.root):
            left = [name for name in (*inner, *names) if _is_abandoned(name)]
            inner[:] = [name for name in inner if name not in left]
            for name in left:
                _remove(os.path.join(folder, name))

    def _replace(self, path: str, pieces: Iterable[bytes]) -> None:
        self.prepare()
        self._make_folders(os.path.dirname(path))
        replace_file(path, pieces, _PRIVATE, ignores_umask=True)

    def _make_folders(self, path: str) -> None:
        if not os.path.isdir(path):
            self._make_folders(os.path.dirname(path))
            with suppress(FileExistsError):
                os.mkdir(path, _PRIVATE_FOLDER)

    def _clean(self, folder: str, top: str) -> list[str]:
        """Cleans a folder from the inside out. The notes name what was removed."""
        os.chmod(folder, _PRIVATE_FOLDER)
        notes: list[str] = []
        for name in sorted(os.listdir(folder)):
            path = os.path.join(folder, name)
            mode = os.lstat(path).st_mode
            if stat.S_ISDIR(mode):
                notes += self._clean(path, top)
            elif stat.S_ISREG(mode):
                self._clean_file(path)
            elif not (stat.S_ISLNK(mode) and self._may_stay(path, top)):
                os.unlink(path)
                notes.append(f"left out {name}: it is no plain file, or a link that leads out")
                continue
            fresh = self.redactor.text(name)
            if fresh != name:
                os.rename(path, os.path.join(folder, _free_name(folder, fresh)))
        return notes

    def _may_stay(self, path: str, top: str) -> bool:
        """Whether a link leads to something inside, and its words say nothing that must not be said."""
        target = os.readlink(path)
        inside = os.path.realpath(path).startswith(os.path.realpath(top) + os.sep)
        return not os.path.isabs(target) and inside and not self.redactor.names_in(target)

    def _clean_file(self, path: str) -> None:
        _make_private(path)
        with open(os.open(path, _READ), "rb") as file:
            mode, size = stat.S_IMODE(os.fstat(file.fileno()).st_mode), os.fstat(file.fileno()).st_size
            names = self.redactor.names_in_archive(file)
            file.seek(0)
            if names:
                left_out = f"left out: it holds the value of {', '.join(sorted(names))}\n"
                replace_file(path, left_out.encode(), mode, ignores_umask=True)
            elif path.endswith(".cast") and size <= _CAST_LIMIT:
                data = file.read()
                clean = self.redactor.cast(data)
                if clean != data:
                    replace_file(path, clean, mode, ignores_umask=True)
            elif path.endswith((".json", ".jsonl")) and size <= _JSON_LIMIT:
                data = file.read()
                clean = self.redactor.json_data(data)
                if clean != data:
                    replace_file(path, clean, mode, ignores_umask=True)
            elif self.redactor.names_in_file(file):
                file.seek(0)
                clean_pieces = self.redactor.stream(iter(lambda: file.read(_PIECE), b""))
                replace_file(path, clean_pieces, mode, ignores_umask=True)


def write_new(path: str, data: bytes) -> None:
    """A file of ours beside the runs, which others may read; FileExistsError when it is there."""
    with open(path, "xb") as file:
        file.write(data)


def _is_abandoned(name: str) -> bool:
    """Whether it is the unfinished work of a process that is gone."""
    found = _UNFINISHED.fullmatch(name)
    if not found:
        return False
    try:
        os.kill(int(found[1] or found[2]), 0)
    except (ProcessLookupError, OverflowError):
        return True
    except PermissionError:
        pass
    return False


def _make_private(path: str) -> None:
    """Closes a file or folder to others; links have no mode of their own."""
    mode = os.lstat(path).st_mode
    if stat.S_ISLNK(mode):
        return
    private = _PRIVATE
    if stat.S_ISDIR(mode) or mode & 0o111:
        private = _PRIVATE_FOLDER if stat.S_ISDIR(mode) else _PRIVATE_PROGRAM
    if stat.S_IMODE(mode) != private:
        os.chmod(path, private)


def _free_name(folder: str, name: str) -> str:
    """The name, shortened to what a file system takes, with a number where it is taken."""
    name = os.fsencode(name)[:_LONGEST_NAME].decode(errors="ignore")
    if not os.path.lexists(os.path.join(folder, name)):
        return name
    numbers = (f"{name}-{number}" for number in range(2, 1 << 20))
    return next(one for one in numbers if not os.path.lexists(os.path.join(folder, one)))


def _copy(source: str, target: str, notes: list[str], left: list[int]) -> None:
    os.mkdir(target, _PRIVATE_FOLDER)
    for entry in sorted(os.scandir(source), key=lambda entry: entry.name):
        to = os.path.join(target, entry.name)
        try:
            if entry.is_symlink():
                os.symlink(os.readlink(entry.path), to)
            elif entry.is_dir(follow_symlinks=False):
                _copy(entry.path, to, notes, left)
            else:
                with open(os.open(entry.path, _READ), "rb") as file:
                    facts = os.fstat(file.fileno())
                    if not stat.S_ISREG(facts.st_mode):
                        raise OSError(0, "it is no plain file")
                    if facts.st_size > left[0]:
                        raise OSError(0, "it is too large")
                    left[0] -= facts.st_size
                    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC
                    mode = _PRIVATE_PROGRAM if facts.st_mode & 0o111 else _PRIVATE
                    with open(os.open(to, flags, mode), "wb") as out:
                        shutil.copyfileobj(file, out)
        except OSError as error:
            notes.append(f"left out {entry.name}: {error.strerror}")


def _remove(path: str) -> None:
    """Whatever is there, also a folder that was closed to ourselves."""
    if os.path.isdir(path) and not os.path.islink(path):
        for folder, inner, _ in os.walk(path):
            for name in inner:
                with suppress(OSError):
                    _make_private(os.path.join(folder, name))
        shutil.rmtree(path, ignore_errors=True)
    elif os.path.lexists(path):
        os.unlink(path)
