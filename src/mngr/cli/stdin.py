"""`-`: targets and tasks as JSON lines, taken as they come."""

import os
import select
from collections.abc import Iterator
from typing import Any

import msgspec
from msgspec import Struct

from mngr.errors import UsageError

_CHUNK = 1 << 16
_LINE_LIMIT = 16 << 20
_LULL_S = 0.02


class Item(Struct, frozen=True):
    """One target. `fields` is the whole line when it was an object; `problem` says why it cannot be used."""

    target: str = ""
    fields: dict[str, Any] = {}
    problem: str = ""

    @property
    def has_failed_before(self) -> bool:
        """An earlier command of the pipe reported this line as an error and there is no agent to act on."""
        return isinstance(self.fields.get("error"), dict) and "id" not in self.fields


def read_batches(fd: int = 0) -> Iterator[list[bytes]]:
    """Lines in groups: all that have arrived by now, without waiting for more. Ends at the end of input."""
    rest = b""
    while True:
        chunk = os.read(fd, _CHUNK)
        while chunk and select.select([fd], [], [], _LULL_S)[0]:
            more = os.read(fd, _CHUNK)
            if not more:
                break
            chunk += more
        whole, newline, last = (rest + chunk).rpartition(b"\n")
        rest = last
        lines = [line for line in (whole + newline).split(b"\n") if line.strip()]
        if not chunk and rest.strip():
            lines.append(rest)
        if len(rest) > _LINE_LIMIT:
            raise UsageError("a line on stdin is longer than 16 MB", hint="one JSON object a line")
        if lines:
            yield lines
        if not chunk:
            return


def read_item(line: bytes) -> Item:
    """A line is an agent's record, a JSON string, or a bare name."""
    text = line.strip()
    if text[:1] == b"{":
        return _from_object(text)
    if text[:1] == b'"':
        try:
            return Item(msgspec.json.decode(text, type=str))
        except msgspec.DecodeError as error:
            return Item(problem=f"{_shown(text)}: {error}")
    try:
        return Item(text.decode())
    except UnicodeDecodeError:
        return Item(problem=f"{_shown(text)} is not UTF-8")


def _from_object(text: bytes) -> Item:
    try:
        fields = msgspec.json.decode(text, type=dict[str, Any])
    except msgspec.DecodeError as error:
        return Item(problem=f"{_shown(text)} is not a JSON object: {error}")
    for key in ("id", "address", "name"):
        if isinstance(fields.get(key), str) and fields[key]:
            return Item(fields[key], fields)
    return Item("", fields, f"{_shown(text)} names no agent")


def _shown(text: bytes) -> str:
    start = text[:60].decode(errors="replace")
    return f"line {start!r}" + ("…" if len(text) > 60 else "")
