"""`-`: targets and tasks as JSON lines, taken as they come."""

import os
import select
from collections.abc import Iterator
from typing import Any

import msgspec
from msgspec import Struct

from mngr.errors import MngrError

_CHUNK = 1 << 16
_PIECES = 64
_LINE_LIMIT = 16 << 20
_NAME_LIMIT = 4096
_DEPTH_LIMIT = 100
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


def read_items(fd: int = 0) -> Iterator[list[Item]]:
    """What is on stdin, in groups: all that has arrived by now, without waiting for more. Ends at its end.

    A line that cannot be used is an item with a `problem`, and the others are read all the same.
    """
    rest, is_oversized = b"", False
    while True:
        # What can be read now, and what follows at once; empty at the end.
        try:
            pieces = [os.read(fd, _CHUNK)]
            while pieces[-1] and len(pieces) < _PIECES and select.select([fd], [], [], _LULL_S)[0]:
                pieces.append(os.read(fd, _CHUNK))
        except OSError as error:
            raise MngrError(
                f"cannot read stdin: {error.strerror}", hint="a target of - reads lines from stdin"
            ) from None
        chunk = b"".join(pieces)
        *whole, rest = (rest + chunk).split(b"\n")
        if is_oversized and whole:  # the end of a line whose beginning was answered before
            del whole[0]
            is_oversized = False
        items = [read_item(line) for line in whole if line.strip()]
        if is_oversized:
            rest = b""
        elif len(rest) > _LINE_LIMIT:
            items.append(read_item(rest))
            rest, is_oversized = b"", True
        elif not chunk and rest.strip():
            items.append(read_item(rest))
        if items:
            yield items
        if not chunk:
            return


def read_item(line: bytes) -> Item:
    """A line is an agent's record, a JSON string, or a bare name."""
    text = line.strip()
    if len(text) > _LINE_LIMIT:
        return Item(problem=f"{_shown(text)} is longer than 16 MB")
    if text[:1] == b"{":
        try:
            fields = msgspec.json.decode(text, type=dict[str, Any])
        except UnicodeDecodeError:
            return Item(problem=f"{_shown(text)} is not UTF-8")
        except msgspec.DecodeError as error:
            return Item(problem=f"{_shown(text)} is not a JSON object: {error}")
        except RecursionError:
            return Item(problem=f"{_shown(text)} is nested too deeply")
        if text.count(b"[") + text.count(b"{") > _DEPTH_LIMIT and _is_deeper(fields, _DEPTH_LIMIT):
            return Item(problem=f"{_shown(text)} is nested too deeply")
        for key in ("id", "address", "name"):
            if isinstance(fields.get(key), str) and fields[key]:
                return Item(fields[key], fields)
        return Item("", fields, f"{_shown(text)} names no agent")
    if len(text) > _NAME_LIMIT:
        return Item(problem=f"{_shown(text)} is too long for a name")
    try:
        return Item(msgspec.json.decode(text, type=str) if text[:1] == b'"' else text.decode())
    except UnicodeDecodeError:
        return Item(problem=f"{_shown(text)} is not UTF-8")
    except msgspec.DecodeError as error:
        return Item(problem=f"{_shown(text)}: {error}")


def _is_deeper(value: Any, limit: int) -> bool:
    """Whether lists and objects are nested more than so deep; they are written again from deeper in our own calls."""
    if not isinstance(value, dict | list):
        return False
    inner = value.values() if isinstance(value, dict) else value
    return limit <= 0 or any(_is_deeper(one, limit - 1) for one in inner)


def _shown(text: bytes) -> str:
    start = text[:60].decode(errors="replace")
    return f"line {start!r}" + ("…" if len(text) > 60 else "")
