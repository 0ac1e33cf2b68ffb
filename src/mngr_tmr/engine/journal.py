"""The journal of a run: appended and synced before anything is acted on, readable after any crash."""

import fcntl
import os

import msgspec

from mngr_tmr.model.entry import Entry


class JournalError(OSError):
    """The journal could not be written; what was not written has not happened."""


class JournalBusyError(JournalError):
    """Another process is running this run."""


class Journal:
    """Holds the journal for one process; a line that a crash cut short is removed when it is opened."""

    def __init__(self, path: str) -> None:
        self.path = path
        self._file = os.open(path, os.O_RDWR | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC, 0o600)
        try:
            fcntl.flock(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            os.close(self._file)
            raise JournalBusyError(f"another process is running this run: {path}") from None
        self._end = _whole(path)
        os.ftruncate(self._file, self._end)

    def append(self, *entries: Entry) -> None:
        """All of them or none, on the disk when it returns."""
        data = b"".join(msgspec.json.encode(entry) + b"\n" for entry in entries)
        try:
            _write_all(self._file, data)
            os.fdatasync(self._file)
        except OSError as error:
            os.ftruncate(self._file, self._end)
            raise JournalError(error.errno, f"the journal cannot be written: {error.strerror}") from error
        self._end += len(data)

    def close(self) -> None:
        os.close(self._file)


def read_journal(path: str) -> tuple[Entry, ...]:
    """Every whole entry. A line in the middle that cannot be read is an error; at the end it is a crash's."""
    with open(path, "rb") as file:
        lines = file.read().split(b"\n")[:-1]
    entries = []
    for number, line in enumerate(lines, 1):
        try:
            entries.append(msgspec.json.decode(line, type=Entry))
        except (msgspec.MsgspecError, UnicodeDecodeError) as error:
            if number < len(lines):
                raise JournalError(f"{path}, line {number}: {error}") from None
    return tuple(entries)


def _whole(path: str) -> int:
    """How many bytes of the file are whole, readable lines, but for damage before the last."""
    with open(path, "rb") as file:
        data = file.read()
    end = data.rfind(b"\n") + 1
    start = data.rfind(b"\n", 0, max(end - 1, 0)) + 1
    try:
        if start < end:
            msgspec.json.decode(data[start:end], type=Entry)
    except (msgspec.MsgspecError, UnicodeDecodeError):
        return start
    return end


def _write_all(file: int, data: bytes) -> None:
    view = memoryview(data)
    while view:
        view = view[os.write(file, view) :]
