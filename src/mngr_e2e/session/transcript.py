"""The transcript of a test: text to read as it grows, and one JSON line per command with times and every byte.

# a comment
$ a command
> its second line
  a line of stdout
! a line of stderr
\\ no newline           (the line above did not end)
\\ 9 bytes of stdout left out
? 0                    (or `? 124 timed out after 5 s`)
"""

import base64
import os
from itertools import pairwise
from typing import BinaryIO

import msgspec
from msgspec import UNSET, Struct, UnsetType

from mngr_e2e.session.kept import Kept
from mngr_e2e.session.runner import Chunk, JobEnd, StreamName

_NO_NEWLINE = "\\ no newline"
_MARKS: dict[StreamName, bytes] = {"stdout": b"  ", "stderr": b"! "}


class Piece(Struct, frozen=True):
    """Output as it arrived: `text`, or `b64` where the bytes are not UTF-8."""

    stream: StreamName
    at: float
    text: str | UnsetType = UNSET
    b64: str | UnsetType = UNSET

    @property
    def data(self) -> bytes:
        return base64.b64decode(self.b64) if isinstance(self.b64, str) else str(self.text).encode()


class CommandRecord(Struct, frozen=True):
    """One line of `transcript.jsonl`; `start` is in seconds since 1970.

    `stdout_left_out` counts bytes between the beginning and the end of a flood that are not among the chunks.
    `terminal` is set for what happened on a terminal: its name, which is that of its recording.
    """

    start: float
    duration: float
    cwd: str
    command: str
    comment: str
    exit_code: int | None
    timed_out: bool
    chunks: tuple[Piece, ...]
    stdout_left_out: int = 0
    stderr_left_out: int = 0
    terminal: str = ""


class TranscriptEntry(Struct, frozen=True):
    """One command as `transcript.txt` tells it; `exit_code` is None when the run broke off."""

    command: str
    comment: str = ""
    stdout: str = ""
    stderr: str = ""
    exit_code: int | None = None


def piece(chunk: Chunk) -> Piece:
    try:
        return Piece(chunk.stream, chunk.at, text=chunk.data.decode())
    except UnicodeDecodeError:
        return Piece(chunk.stream, chunk.at, b64=base64.b64encode(chunk.data).decode())


def read_records(path: str) -> list[CommandRecord]:
    """Every command of a `transcript.jsonl`; a line cut by a crash is left out."""
    records = []
    with open(path, "rb") as file:
        for line in file:
            if line.endswith(b"\n"):
                records.append(msgspec.json.decode(line, type=CommandRecord))
    return records


class Transcript:
    """Appends to `transcript.txt` and `transcript.jsonl` in a folder, flushed as things happen."""

    def __init__(self, folder: str) -> None:
        self._text: BinaryIO = open(os.path.join(folder, "transcript.txt"), "ab")  # noqa: SIM115
        self._json: BinaryIO = open(os.path.join(folder, "transcript.jsonl"), "ab")  # noqa: SIM115

    def begin(self, command: str, comment: str) -> "TextWriter":
        writer = TextWriter(self._text)
        writer.begin(command, comment)
        return writer

    def end(self, record: CommandRecord) -> None:
        self._json.write(msgspec.json.encode(record) + b"\n")
        self._json.flush()

    def close(self) -> None:
        self._text.close()
        self._json.close()


class TextWriter:
    """Writes one entry of the text form. A line is written once it is whole, so that two streams never share one."""

    def __init__(self, file: BinaryIO) -> None:
        self._file = file
        self._partial: dict[StreamName, bytes] = {"stdout": b"", "stderr": b""}

    def begin(self, command: str, comment: str) -> None:
        lines = [f"# {line}" for line in comment.split("\n")] if comment else []
        first, *rest = command.split("\n")
        lines += [f"$ {first}", *(f"> {line}" for line in rest)]
        before = "\n" if self._file.tell() else ""
        self._write((before + "\n".join(lines) + "\n").encode(errors="backslashreplace"))

    def hear(self, chunk: Chunk) -> None:
        *whole, rest = (self._partial[chunk.stream] + chunk.data).split(b"\n")
        self._partial[chunk.stream] = rest
        if whole:
            self._write(b"".join(_line(chunk.stream, line) for line in whole))

    def end(self, ended: JobEnd, timeout_s: float) -> None:
        why = f" timed out after {timeout_s:g} s" if ended.timed_out else ""
        self._write(f"? {ended.exit_code}{why}\n".encode())

    def hear_rest(self, kept: Kept) -> None:
        """Writes the end of what was too much to be written as it came, and what never got its newline."""
        for name, stream in kept.streams.items():
            if stream.left_out:
                self._flush(name)
                self._write(f"\\ {stream.left_out} bytes of {name} left out\n".encode())
            for chunk in stream.tail:
                self.hear(chunk)
            self._flush(name)

    def _flush(self, name: StreamName) -> None:
        if rest := self._partial[name]:
            self._write(_line(name, rest) + f"{_NO_NEWLINE}\n".encode())
        self._partial[name] = b""

    def _write(self, data: bytes) -> None:
        self._file.write(data)
        self._file.flush()


def _line(stream: StreamName, line: bytes) -> bytes:
    return _MARKS[stream] + line.decode(errors="replace").encode() + b"\n"


def parse_transcript(text: str) -> list[TranscriptEntry]:
    """The entries of a `transcript.txt`, also of one that broke off."""
    entries: list[TranscriptEntry] = []
    lines = text.split("\n")
    starts = [at for at, line in enumerate(lines) if line.startswith("$ ")]
    for start, end in pairwise([*starts, len(lines)]):
        first = start
        while first and lines[first - 1].startswith("# "):
            first -= 1
        comment = [line[2:] for line in lines[first:start]]
        found: dict[str, list[str]] = {"$ ": [], "> ": [], "  ": [], "! ": [], "? ": []}
        mark = ""
        for line in lines[start:end]:
            if line == _NO_NEWLINE and found.get(mark):
                found[mark][-1] = found[mark][-1][:-1]
            else:
                mark = line[:2]
                found.setdefault(mark, []).append(f"{line[2:]}\n")
        code = int(found["? "][0].split()[0]) if found["? "] else None
        command = "".join(found["$ "] + found["> "])[:-1]
        entries.append(
            TranscriptEntry(command, "\n".join(comment), "".join(found["  "]), "".join(found["! "]), code)
        )
    return entries
