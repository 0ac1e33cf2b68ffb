"""The index of past runs: one SQLite file beside their folders, brought up to date whenever it is read.

It holds nothing that the folders do not hold. A file that is damaged, foreign or of another version is made again; one
that cannot be written is replaced by one in memory. One process at a time uses it.
"""

import os
import sqlite3
import stat
from collections.abc import Callable, Iterable, Iterator
from contextlib import closing, contextmanager, suppress
from typing import TypeVar

import msgspec

import mngr
from mngr_lib.safe_text import storable
from mngr_tmr.history.facts import ReadFacts
from mngr_tmr.history.schema import SCHEMA, VERSION
from mngr_tmr.history.store import drop_runs, store_problem, store_run
from mngr_tmr.run_folder.folder import RunFolder, run_names
from mngr_tmr.run_folder.hold import hold
from mngr_tmr.run_folder.liveness import is_alive

T = TypeVar("T")
Say = Callable[[str], None]
Question = Callable[[sqlite3.Connection], T]

NAME = "history.sqlite3"
_LOCK = "history.lock"
_BESIDE = ("", "-journal", "-wal", "-shm")
_WAIT_S, _WAIT_AT_END_S = 30.0, 5.0
# Not the file's fault: no room, no permission, a disk with errors, held by another program.
_NO_ACCESS = {
    sqlite3.SQLITE_FULL,
    sqlite3.SQLITE_IOERR,
    sqlite3.SQLITE_READONLY,
    sqlite3.SQLITE_CANTOPEN,
    sqlite3.SQLITE_BUSY,
    sqlite3.SQLITE_LOCKED,
    sqlite3.SQLITE_PERM,
}
_ODD = (sqlite3.DatabaseError, msgspec.MsgspecError, TypeError, ValueError, LookupError)


class OtherIndexError(sqlite3.DatabaseError):
    """The file is no index of this version."""


def ask_index(runs: str, question: Question[T], read: ReadFacts, say: Say) -> T:
    """The answer to a question about the runs in a folder, as they are now. `say` gets a line if something is amiss."""
    if os.path.isdir(runs):
        try:
            with hold(os.path.join(runs, _LOCK), _WAIT_S) as is_ours:
                if is_ours:
                    return _ask_file(runs, question, read, say)
                say("the index of past runs is in use: it was made again in memory")
        except (OSError, sqlite3.Error) as error:
            say(f"the index of past runs cannot be written: {_why(error)}; it was made again in memory")
    with closing(sqlite3.connect(":memory:", isolation_level=None)) as connection:
        _make_tables(connection)
        _update(connection, runs, read)
        return question(connection)


def add_to_index(runs: str, run: str, read: ReadFacts, say: Say) -> None:
    """Brings the index up to date with one run that has ended; an error is told, and the run goes on."""
    try:
        with hold(os.path.join(runs, _LOCK), _WAIT_AT_END_S) as is_ours:
            if is_ours:
                _ask_file(runs, lambda _: None, read, say, only=run)
    except (OSError, sqlite3.Error) as error:
        say(f"the index of past runs cannot be written: {_why(error)}; mngr tmr history tries again")


def _ask_file(runs: str, question: Question[T], read: ReadFacts, say: Say, only: str = "") -> T:
    """From the file; when it cannot be used it is made again, once."""
    path = os.path.join(runs, NAME)
    try:
        return _ask(path, runs, question, read, only)
    except _ODD as error:
        code = getattr(error, "sqlite_errorcode", None)
        if code is not None and code & 0xFF in _NO_ACCESS:
            raise
        other = isinstance(error, OtherIndexError)
        say(f"the index of past runs {'is of another version' if other else 'is damaged'}: it is made again")
        remove_index(runs)
        return _ask(path, runs, question, read, "")


def _ask(path: str, runs: str, question: Question[T], read: ReadFacts, only: str) -> T:
    with closing(_open(path)) as connection:
        _update(connection, runs, read, only)
        return question(connection)


def remove_index(runs: str) -> None:
    for suffix in _BESIDE:
        with suppress(FileNotFoundError):
            os.unlink(os.path.join(runs, NAME + suffix))


def _open(path: str) -> sqlite3.Connection:
    """The index, its tables made if the file is empty or new; a file that is no index is not looked into further."""
    try:
        os.close(os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW | os.O_NONBLOCK, 0o600))
    except OSError:
        if os.path.lexists(path) and not stat.S_ISREG(os.lstat(path).st_mode):
            raise OtherIndexError("it is no regular file") from None
        raise
    connection = sqlite3.connect(path, isolation_level=None, timeout=1.0)
    try:
        connection.execute("PRAGMA trusted_schema = OFF")
        connection.execute("PRAGMA cell_size_check = ON")
        connection.execute("PRAGMA synchronous = NORMAL")
        found = connection.execute(
            "SELECT sql FROM sqlite_master WHERE sql IS NOT NULL ORDER BY rowid"
        ).fetchall()
        if not found:
            _make_tables(connection)
        elif tuple(sql for (sql,) in found) != SCHEMA or connection.execute(
            "PRAGMA user_version"
        ).fetchone() != (VERSION,):
            raise OtherIndexError("its tables are others")
    except BaseException:
        connection.close()
        raise
    return connection


def _make_tables(connection: sqlite3.Connection) -> None:
    with _transaction(connection):
        for statement in SCHEMA:
            connection.execute(statement)
        connection.execute(f"PRAGMA user_version = {VERSION}")


def _update(connection: sqlite3.Connection, runs: str, read: ReadFacts, only: str = "") -> None:
    """Reads the runs that have changed since they were read, but for those that go on; drops those that are gone."""
    known = dict(connection.execute("SELECT name, mark FROM runs").fetchall())
    marks = list(_marks(runs, [only] if only else run_names(runs)))
    gone = set() if only else known.keys() - {name for name, _, _ in marks}
    changed = [one for one in marks if known.get(one[0]) != one[2] and not is_alive(one[1])]
    if not (gone or changed):
        return
    with _transaction(connection):
        drop_runs(connection, gone)
        for name, folder, mark in changed:
            try:
                facts = read(folder)
            except (mngr.MngrError, OSError) as error:
                store_problem(connection, name, mark, str(error))
            else:
                if facts.is_over:
                    store_run(connection, name, mark, facts)


def _marks(runs: str, names: Iterable[str]) -> Iterable[tuple[str, RunFolder, str]]:
    """Each run with what tells whether something of it has changed."""
    for name in names:
        folder = RunFolder(os.path.join(runs, name))
        parts = []
        for path in (folder.summary, folder.journal, folder.integration, folder.base):
            try:
                about = os.stat(path)
            except OSError:
                parts.append("-")
            else:
                parts.append(f"{about.st_mtime_ns}.{about.st_size}")
        yield storable(name), folder, " ".join(parts)


@contextmanager
def _transaction(connection: sqlite3.Connection) -> Iterator[None]:
    """All of a block or nothing of it."""
    connection.execute("BEGIN IMMEDIATE")
    try:
        yield
        connection.execute("COMMIT")
    except BaseException:
        with suppress(sqlite3.Error):
            connection.execute("ROLLBACK")
        raise


def _why(error: BaseException) -> str:
    return getattr(error, "strerror", None) or str(error)
