"""Values of variables that agents were given are taken out of everything that is written about a run.

What an agent writes is not ours: one that prints its token has it in its result, its conversation, its recording, in
the name of a file or a branch. How a value is recognised is in `matching`; what else looks like a secret
is in `token_shapes`. Only a value that is known stops something, such as a commit: a shape is hidden and no more. What
the agent's own host holds is left alone.
"""

import bz2
import codecs
import gzip
import io
import lzma
import os
import re
import traceback
import zipfile
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from typing import Any, BinaryIO, TypeVar

import msgspec

import mngr
from mngr_lib.safe_text import storable
from mngr_tmr.git import Repository
from mngr_tmr.model.run import RunSpec
from mngr_tmr.run_folder.matching import REACH, SHORTEST, Matcher

T = TypeVar("T")

_WINDOW = 4 << 20
_OBJECT_LIMIT = 256 << 20
_UNPACKED_LIMIT = 256 << 20
_BATCH_BYTES = 32 << 20
_BATCH = 5_000
_ODD = re.compile(r"[^\w.-]")
_OPENERS: dict[bytes, Any] = {b"\x1f\x8b": gzip.open, b"BZh": bz2.open, b"\xfd7zXZ": lzma.open}
_ZIP = (b"PK\x03\x04", b"PK\x05\x06")
_MAGIC = 8
_NOT_JSON = (msgspec.MsgspecError, UnicodeDecodeError, RecursionError)
_DAMAGE = (
    OSError,
    EOFError,
    ValueError,
    RuntimeError,
    NotImplementedError,
    zipfile.BadZipFile,
    lzma.LZMAError,
)


class Redactor:
    """Puts `[hidden NAME]` in the place of values that it knows, and of what looks like a token of some service.

    `public` are variables whose values are no secrets; it knows that it was asked about them.
    """

    def __init__(self, values: Mapping[str, str], public: Mapping[str, str] | None = None) -> None:
        self.values = {**(public or {}), **values}
        self._known, self._matcher = Matcher(values), Matcher(values, shapes=True)

    def text(self, text: str) -> str:
        """The text without the values."""
        done, parts = 0, []
        for start, end, name in self._matcher.find(text):
            parts += [text[done:start], mark(name)]
            done = end
        return "".join((*parts, text[done:])) if parts else text

    def data(self, data: bytes) -> bytes:
        return b"".join(self.stream((data,)))

    def stream(self, pieces: Iterable[bytes]) -> Iterator[bytes]:
        """The same of something large, in pieces; a value that lies across pieces is found."""
        decoder = codecs.getincrementaldecoder("utf-8")("surrogateescape")
        held = ""
        for piece in _windows(pieces):
            held += decoder.decode(piece)
            clean, held = self._up_to(held, max(0, len(held) - REACH))
            yield clean
        yield self.text(held + decoder.decode(b"", True)).encode(errors="surrogateescape")

    def names_in(self, text: str | bytes) -> set[str]:
        """The variables whose values are in it."""
        return _names(self._known, text)

    def record(self, record: T) -> T:
        """The same record without the values in any of its texts."""
        plain = msgspec.to_builtins(record)
        if not self._is_in_texts(plain):
            return record
        return msgspec.convert(self._walk(plain), type=type(record))

    def json(self, record: object) -> bytes:
        """The record as JSON, without the values in any of its texts."""
        plain = msgspec.to_builtins(record)
        if not self._is_in_texts(plain):
            return encode(record)
        return encode(self._walk(plain))

    def json_data(self, data: bytes) -> bytes:
        """A file of JSON, or of a document on each line, without the values; what is no JSON is text."""
        if not self._matcher.may_hold(data.decode(errors="surrogateescape")):
            return data
        with suppress(*_NOT_JSON):
            return self.data(self._document(data))
        lines = data.split(b"\n")
        for number, line in enumerate(lines):
            with suppress(*_NOT_JSON):
                lines[number] = self._document(line)
        return self.data(b"\n".join(lines))

    def cast(self, data: bytes) -> bytes:
        """A recording without the values, also where one was written in several pieces."""
        lines = data.split(b"\n")
        events = [_event(line) for line in lines]
        shown = "".join(event[2] for event in events if event and event[1] == "o")
        cuts = [(start, end, mark(name)) for start, end, name in self._matcher.find(shown)]
        pieces = _replace_marked(
            shown, [len(event[2]) for event in events if event and event[1] == "o"], cuts
        )
        for number, event in enumerate(events):
            if event is None or event[1] != "o":
                lines[number] = self.data(lines[number])
            elif (piece := next(pieces)) != event[2]:
                lines[number] = msgspec.json.encode((event[0], "o", piece))
        return b"\n".join(lines)

    def names_in_file(self, file: BinaryIO) -> set[str]:
        """What would be hidden in something large."""
        names: set[str] = set()
        _look_into(self._matcher, file, [1 << 62], names)
        return names

    def names_in_archive(self, file: BinaryIO) -> set[str]:
        """What would be hidden in a compressed file, as far as it can be unpacked; nothing in any other file."""
        return _names_in_archive(self._matcher, file)

    def names_in_commits(self, repo: str, base: str, tip: str) -> tuple[str, ...]:
        """Which variables' values are in what was committed between two commits.

        Looks at every new object as it is stored, so at contents, targets of links, names of files and folders,
        messages, authors and all other headers; and at whole paths. An object too large to look at is refused.
        """
        if self._known.knows_nothing or not tip or tip == base:
            return ()
        objects, between = Repository(repo, 0), f"{base}..{tip}"
        paths = objects.ask("log", "-z", "-m", "--no-renames", "--name-only", "--format=", between, "--")
        listed = objects.ask("rev-list", "--objects", "--no-object-names", between, "--")
        names = self.names_in(paths)
        for data in _contents(objects, listed.decode().split()):
            names |= _names_in_archive(self._known, io.BytesIO(data))
            _look_into(self._known, io.BytesIO(data), [len(data)], names)
        return tuple(sorted(names))

    def _up_to(self, text: str, limit: int) -> tuple[bytes, str]:
        """The text before the limit without the values, and what is still to be looked at."""
        done, parts = 0, []
        for start, end, name in self._matcher.find(text):
            if end > limit:
                limit = min(start, limit)
                break
            parts += [text[done:start], mark(name)]
            done = end
        clean = "".join((*parts, text[done:limit])).encode(errors="surrogateescape")
        return clean, text[limit:]

    def _document(self, data: bytes) -> bytes:
        plain = msgspec.json.decode(data)
        return encode(self._walk(plain)) if self._is_in_texts(plain) else data

    def _is_in_texts(self, plain: Any) -> bool:
        """Whether a value is in any text of a document: the JSON that holds the texts would escape them once more."""
        return bool(self._matcher.find("\n".join(_texts(plain))))

    def _walk(self, value: Any) -> Any:
        if isinstance(value, str):
            return self.text(value)
        if isinstance(value, dict):
            return {self._walk(key): self._walk(one) for key, one in value.items()}
        if isinstance(value, list | tuple):
            return [self._walk(one) for one in value]
        return value


def _names(matcher: Matcher, text: str | bytes) -> set[str]:
    if isinstance(text, bytes):
        text = text.decode(errors="surrogateescape")
    return {found.name for found in matcher.find(text)}


def _names_in_archive(matcher: Matcher, file: BinaryIO) -> set[str]:
    start = file.read(_MAGIC)
    file.seek(0)
    names: set[str] = set()
    with suppress(*_DAMAGE):
        if start.startswith(_ZIP):
            left = [_UNPACKED_LIMIT]
            with zipfile.ZipFile(file) as archive:
                names |= _names(matcher, archive.comment)
                for member in archive.infolist():
                    names |= _names(matcher, member.filename) | _names(matcher, member.comment)
                    with archive.open(member) as inner:
                        _look_into(matcher, inner, left, names)
        elif opener := next((one for magic, one in _OPENERS.items() if start.startswith(magic)), None):
            _look_into(matcher, opener(file), [_UNPACKED_LIMIT], names)
    return names


def _look_into(matcher: Matcher, file: Any, left: list[int], names: set[str]) -> None:
    """Adds the names of a stream, of which no more than what is `left` is read."""
    held = b""
    while data := file.read(min(_WINDOW, left[0])):
        left[0] -= len(data)
        names |= _names(matcher, held + data)
        held = (held + data)[-REACH:]


def _texts(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for key, inner in value.items():
            yield from _texts(key)
            yield from _texts(inner)
    elif isinstance(value, list | tuple):
        for inner in value:
            yield from _texts(inner)


NOTHING_TO_HIDE = Redactor({})


def make_redactor(env: Mapping[str, str], repo: str, base: str) -> Redactor:
    """For the values that are secrets: long enough to be told from other words, and not in the repository anyway."""
    secret = {name: value for name, value in env.items() if not _is_public(value, repo, base)}
    return Redactor(secret, env)


def joined_values(*environments: Mapping[str, str]) -> dict[str, str]:
    """All values by name; another value of the same name gets a number."""
    values: dict[str, str] = {}
    for name, value in (pair for env in environments for pair in env.items()):
        if value not in values.values():
            values[name if name not in values else f"{name}-{len(values)}"] = value
    return values


@contextmanager
def no_values_in_errors(redactor: Redactor) -> Iterator[None]:
    """An error of any class that passes through names no value; an unexpected one that did becomes one of ours."""
    try:
        yield
    except mngr.MngrError as error:
        error.message, error.hint = redactor.text(error.message), redactor.text(error.hint)
        error.args = (error.message,)
        raise
    except Exception as error:
        if not redactor.names_in("".join(traceback.format_exception(error))):
            raise
        raise mngr.MngrError(redactor.text(f"{type(error).__name__}: {error}")) from None


def refuse_test_ids(spec: RunSpec, redactor: Redactor) -> None:
    """Stops a run whose tests are named after a value: those names are in prompts, branches and everywhere else."""
    names = sorted({name for task in spec.tasks for name in redactor.names_in(task.node_id)})
    if names:
        raise mngr.RefusedError(
            f"the id of a collected test holds the value of {', '.join(names)}",
            hint="give the parameter a name: pytest.param(…, id=…)",
        )


def mark(name: str) -> str:
    return f"[hidden {_ODD.sub('_', name)}]"


def encode(record: object) -> bytes:
    """A record as JSON; text that UTF-8 cannot hold becomes escapes first."""
    try:
        return msgspec.json.encode(record)
    except UnicodeEncodeError:
        return msgspec.json.encode(storable(msgspec.to_builtins(record)))


def _is_public(value: str, repo: str, base: str) -> bool:
    """Whether it is short, part of the repository's path, or in a file of the base commit.

    The value goes by stdin: an argument could be seen by others.
    """
    if len(value) < SHORTEST or value in repo:
        return True
    if "\n" in value:
        return False
    done = Repository(repo, 0).git(
        "grep", "-q", "-F", "-f", "-", base, "--", stdin=os.fsencode(value) + b"\n"
    )
    return done.code == 0


def _windows(pieces: Iterable[bytes]) -> Iterator[bytes]:
    """The same bytes in pieces of a size that is quick to look at."""
    held = bytearray()
    for piece in pieces:
        held += piece
        while len(held) >= _WINDOW:
            yield bytes(held[:_WINDOW])
            del held[:_WINDOW]
    yield bytes(held)


def _event(line: bytes) -> tuple[float, str, str] | None:
    try:
        return msgspec.json.decode(line, type=tuple[float, str, str])
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
        return None


def _replace_marked(text: str, sizes: Iterable[int], cuts: list[tuple[int, int, str]]) -> Iterator[str]:
    """The pieces of a text again, each cut replaced by its mark in the piece where it begins."""
    start = at = 0
    for size in sizes:
        end, piece, done = start + size, [], start
        while at < len(cuts) and cuts[at][0] < end:
            first, last, put = cuts[at]
            piece += [text[done:first], put] if first >= start else []
            done = min(last, end)
            if last > end:
                break
            at += 1
        piece.append(text[done:end])
        yield "".join(piece)
        start = end


def _contents(objects: Repository, ids: list[str]) -> Iterator[bytes]:
    """Every object as it is stored, a bounded amount at a time."""
    for at in range(0, len(ids), _BATCH):
        batch: list[tuple[str, int]] = []
        for oid, (_, size) in objects.sizes(ids[at : at + _BATCH]).items():
            if size > _OBJECT_LIMIT:
                raise mngr.RefusedError(
                    f"its commits hold an object of {size >> 20} MB, too large to be searched for secrets",
                    hint=f"the limit is {_OBJECT_LIMIT >> 20} MB",
                )
            if batch and sum(size for _, size in batch) + size > _BATCH_BYTES:
                yield from objects.contents(oid for oid, _ in batch)
                batch = []
            batch.append((oid, size))
        yield from objects.contents(oid for oid, _ in batch)
