"""`--format '{name}\\t{host.provider}'`: a line made of a record's fields."""

from collections.abc import Mapping
from typing import Any

import msgspec
from msgspec import Struct

from mngr.actions.filter import as_text
from mngr.errors import UsageError, did_you_mean
from mngr_lib.safe_text import one_line, safe_lines

_ESCAPES = {"t": "\t", "n": "\n", "r": "\r", "0": "\0", "e": "\x1b", "\\": "\\"}
# Fields that are texts of many lines by nature; any other field stays on one line, whatever is in it.
_TEXTS = frozenset(("text", "screen", "stdout", "stderr"))
_HINT = "write {field}, and {{ or }} for a brace"


class OutputTemplate(Struct, frozen=True):
    """Texts and fields in turn: the first piece is a text, then field, text, field, …"""

    pieces: tuple[str, ...]

    @property
    def fields(self) -> tuple[str, ...]:
        return self.pieces[1::2]

    def check(self, known: Mapping[str, bool]) -> "OutputTemplate":
        """Refuses fields that the record does not have. `known` says of each whether any key may follow."""
        for field in self.fields:
            head = field.partition(".")[0]
            if field not in known and not (head != field and known.get(head)):
                raise UsageError(f'no field "{field}" in this format', hint=did_you_mean(field, known))
        return self

    def fill(self, record: Mapping[str, Any]) -> str:
        """The line; a field that is not there now (an absent label) is empty. Fields are made safe for a terminal."""
        line = ""
        for index, piece in enumerate(self.pieces):
            if index % 2:
                text = as_text(_value(record, piece))
                piece = safe_lines(text) if piece in _TEXTS else one_line(text)
            line += piece
        return line


def parse_template(text: str) -> OutputTemplate:
    pieces, current, at = [], "", 0
    while at < len(text):
        char, pair = text[at], text[at : at + 2]
        if char == "\\" and pair[1:] in _ESCAPES and pair[1:]:
            current, at = current + _ESCAPES[pair[1]], at + 2
        elif pair in ("{{", "}}"):
            current, at = current + char, at + 2
        elif char == "{":
            end = text.find("}", at)
            if end < 0:
                raise UsageError(f"format {text!r} has a {{ that never closes", hint=_HINT)
            name = text[at + 1 : end].strip()
            if not name or "{" in name:
                raise UsageError(f"format {text!r} has an empty or nested field", hint=_HINT)
            field, at = name, end + 1
            pieces += [current, field]
            current = ""
        elif char == "}":
            raise UsageError(f"format {text!r} has a }} without its {{", hint=_HINT)
        else:
            current, at = current + char, at + 1
    return OutputTemplate((*pieces, current))


def known_fields(record: type[Struct]) -> dict[str, bool]:
    """The fields of a record and, dotted, of the records in it; True where any key may follow."""
    known: dict[str, bool] = {}
    for field in msgspec.structs.fields(record):
        inner = field.type
        known[field.name] = getattr(inner, "__origin__", inner) is dict
        if isinstance(inner, type) and issubclass(inner, Struct):
            known |= {f"{field.name}.{name}": free for name, free in known_fields(inner).items()}
    return known


def _value(record: Mapping[str, Any], field: str) -> Any:
    if field in record:
        return record[field]
    head, _, rest = field.partition(".")
    inner = record.get(head)
    return _value(inner, rest) if rest and isinstance(inner, Mapping) else None
