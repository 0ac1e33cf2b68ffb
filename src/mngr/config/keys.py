"""Dotted keys: `agent_types."my.type".command` and the parts it is made of."""

from collections.abc import Iterable

from mngr.errors import UsageError

_BARE = frozenset("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-")
_SHORT = {'"': '\\"', "\\": "\\\\", "\n": "\\n", "\t": "\\t", "\r": "\\r"}
_BLANK = " \t"

Key = tuple[str, ...]


def parse_key(dotted: str) -> Key:
    """The parts of a whole dotted key."""
    if '"' not in dotted and "'" not in dotted and "=" not in dotted:
        parts = tuple(part.strip(_BLANK) for part in dotted.split("."))
        if all(parts):
            return parts
    parts, rest = scan_key(dotted)
    if rest:
        raise UsageError(f"key {quote_text(dotted)} goes on after its end: {quote_text(rest)}", hint=_HINT)
    return parts


def scan_key(text: str) -> tuple[Key, str]:
    """The key a text starts with, and the rest from `=` or `]` on."""
    parts: list[str] = []
    at = 0
    while True:
        part, at = _scan_part(text, at)
        parts.append(part)
        if text[at : at + 1] != ".":
            return tuple(parts), text[at:]
        at += 1


def join_key(parts: Iterable[str]) -> str:
    """The dotted form; parts that need quotes get them, so that it is safe to print and to parse."""
    return ".".join(part if part and _BARE.issuperset(part) else quote_text(part) for part in parts)


def quote_text(text: str) -> str:
    """A TOML basic string of one line, with everything unprintable escaped."""
    quoted = ""
    for char in text:
        if char in _SHORT or char.isprintable():
            quoted += _SHORT.get(char, char)
        else:
            quoted += f"\\u{ord(char):04X}" if ord(char) <= 0xFFFF else f"\\U{ord(char):08X}"
    return f'"{quoted}"'


def loosely(part: str) -> str:
    """What is left when case, `-` and `_` do not count."""
    return part.lower().replace("-", "_")


_HINT = 'write section.key, with quotes around a part that holds a dot: templates."v1.2".branch'


def _scan_part(text: str, at: int) -> tuple[str, int]:
    at = _skip_blank(text, at)
    if text[at : at + 1] in ('"', "'"):
        quote, end = text[at], at + 1
        while end < len(text) and text[end] != quote:
            end += 2 if quote == '"' and text[end] == "\\" else 1
        if end >= len(text):
            raise UsageError(f"key {quote_text(text)} has a quote that never closes", hint=_HINT)
        part = text[at + 1 : end]
        if quote == '"' and "\\" in part:
            from tomllib import loads  # 20 ms, and keys hardly ever have escapes

            try:
                part = str(loads(f'x = "{part}"')["x"])
            except ValueError:
                written = quote_text(text[at : end + 1])
                raise UsageError(f"key part {written} is not a TOML string", hint=_HINT) from None
        return part, _skip_blank(text, end + 1)
    end = at
    while end < len(text) and text[end] not in ".=]\"'":
        end += 1
    part = text[at:end].strip(_BLANK)
    if not part:
        raise UsageError(f"key {quote_text(text)} has an empty part", hint=_HINT)
    return part, end


def _skip_blank(text: str, at: int) -> int:
    while text[at : at + 1] in (" ", "\t"):
        at += 1
    return at
