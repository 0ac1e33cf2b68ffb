"""The journal of a run: appended and synced before anything is acted on, readable after any crash."""

import fcntl
import os
from collections.abc import Callable
from typing import Any

import msgspec

from mngr_tmr.model.entry import Entry
from mngr_tmr.model.old_entries import read_entry


class JournalError(OSError):
    """The journal could not be written; what was not written has not happened."""


class JournalBusyError(JournalError):
    """Another process is running this run."""


class Journal:
    """Holds the journal for one process; a line that a crash cut short is removed when it is opened.

    `clean` takes out of an entry what must not be written down.
    """

    def __init__(self, path: str, clean: Callable[[Entry], Entry] | None = None) -> None:
        self.path, self._clean = path, clean or (lambda entry: entry)
        flags = os.O_RDWR | os.O_CREAT | os.O_APPEND | os.O_NOFOLLOW | os.O_CLOEXEC
        self._file = os.open(path, flags, 0o600)
        try:
            fcntl.flock(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            os.close(self._file)
            raise JournalBusyError(f"another process is running this run: {path}") from None
        self._end = _whole(path)
        os.ftruncate(self._file, self._end)

    def append(self, *entries: Entry) -> None:
        """All of them or none, on the disk when it returns."""
        data = b"".join(msgspec.json.encode(self._clean(entry)) + b"\n" for entry in entries)
        try:
            view = memoryview(data)
            while view:
                view = view[os.write(self._file, view) :]
            os.fdatasync(self._file)
        except OSError as error:
            os.ftruncate(self._file, self._end)
            raise JournalError(error.errno, f"the journal cannot be written: {error.strerror}") from error
        self._end += len(data)

    def close(self) -> None:
        os.close(self._file)


def storable(entry: Entry) -> Entry:
    """The entry as it can be written and read again. Text from a host may be no Unicode, or no JSON."""
    try:
        msgspec.json.encode(entry)
    except Exception:
        fact = entry.fact
        if fact is not None:
            fields = msgspec.structs.asdict(fact)
            fact = msgspec.structs.replace(fact, **{name: _plain(value) for name, value in fields.items()})
        return msgspec.structs.replace(entry, message=_plain(entry.message), fact=fact)
    return entry


def _plain(value: Any) -> Any:
    """The same in strings, numbers, lists and dicts that JSON can hold."""
    if isinstance(value, dict):
        return {_plain(str(key)): _plain(each) for key, each in value.items()}
    if isinstance(value, list | tuple):
        return tuple(map(_plain, value))
    try:
        msgspec.json.encode(value)
    except Exception:
        return str(value).encode("utf-8", "backslashreplace").decode()
    return value


def read_journal(path: str) -> tuple[Entry, ...]:
    """Every whole entry. A line in the middle that cannot be read is an error; at the end it is a crash's."""
    with open(path, "rb") as file:
        lines = file.read().split(b"\n")[:-1]
    entries = []
    for number, line in enumerate(lines, 1):
        try:
            entries.append(read_entry(line))
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
            read_entry(data[start:end])
    except (msgspec.MsgspecError, UnicodeDecodeError):
        return start
    return end
