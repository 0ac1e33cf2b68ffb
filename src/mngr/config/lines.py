"""One key set or unset in TOML text, with every other line left as it is.

A line is written where the text's own layout suggests, then the result is parsed and must mean exactly what
was asked for; what cannot be edited so is refused with a hint to `mngr config edit`.
"""

from collections.abc import Iterator, Mapping
from typing import Any

from msgspec import Struct

from mngr.config.keys import Key, join_key, scan_key
from mngr.config.schema import canonical, canonical_key
from mngr.config.toml import format_value, parse_document
from mngr.errors import RefusedError, UsageError

_MOST_LINES_A_VALUE = 300
_BY_HAND = "edit it by hand: mngr config edit"


class TomlStatement(Struct, frozen=True):
    """A header or `key = value` and its lines, `first` to before `end`."""

    first: int
    end: int
    key: Key
    is_header: bool = False


def set_key(text: str, key: Key, value: Any, source: str) -> str:
    """The TOML text with one key set. `source` names the file in errors."""
    document = _parsed(text, source)
    expected = _meaning(_with(document, key, value, source))
    lines = _lines(text)
    statements = list(_statements(lines, source))
    there = next((one for one in statements if one.key == key and not one.is_header), None)
    if there is None:
        return _first_that_means(_insertions(lines, statements, key, value), expected, key, source)
    old = "".join(lines[there.first : there.end])
    rest = scan_key(old)[1]
    line, comment = _split_comment(rest[1:])
    if "\n" in line and "#" in line:
        raise RefusedError(f"{source}: {join_key(key)} has comments inside its value", hint=_BY_HAND)
    blank = line[: len(line) - len(line.lstrip(" \t"))]
    ending = old[len(old.rstrip("\r\n")) :]
    new = old[: len(old) - len(rest)] + "=" + blank + format_value(value) + comment + ending
    replaced = "".join([*lines[: there.first], new, *lines[there.end :]])
    return _first_that_means(iter([replaced]), expected, key, source)


def unset_key(text: str, key: Key, source: str) -> str:
    """The TOML text without one key; unchanged when it is not there."""
    document = _parsed(text, source)
    without = _without(document, key)
    if without is None:
        return text
    lines = _lines(text)
    found = [one for one in _statements(lines, source) if one.key == key and not one.is_header]
    candidates = ("".join(lines[: one.first] + lines[one.end :]) for one in found)
    return _first_that_means(candidates, _meaning(without), key, source)


def _statements(lines: list[str], source: str) -> Iterator[TomlStatement]:
    table: Key = ()
    at = 0
    while at < len(lines):
        words = lines[at].strip()
        if not words or words.startswith("#"):
            at += 1
        elif words.startswith("["):
            table = canonical_key(scan_key(words.lstrip("["))[0])
            yield TomlStatement(at, at + 1, table, is_header=True)
            at += 1
        else:
            for end in range(at + 1, min(len(lines), at + _MOST_LINES_A_VALUE) + 1):
                if _is_toml("".join(lines[at:end])):
                    break
            else:
                problem = f"{source}, line {at + 1}: a value this long is not edited here"
                raise RefusedError(problem, hint=_BY_HAND)
            yield TomlStatement(at, end, canonical_key((*table, *scan_key(lines[at])[0])))
            at = end


def _split_comment(line: str) -> tuple[str, str]:
    """A value's text, and the comment after it with the blanks before."""
    line = line.rstrip("\r\n")
    at = line.find("#", line.rfind("\n") + 1)
    while at >= 0:
        if _is_toml(f"x ={line[:at]}"):
            value = line[:at].rstrip(" \t")
            return value, line[len(value) :]
        at = line.find("#", at + 1)
    return line, ""


def _insertions(lines: list[str], statements: list[TomlStatement], key: Key, value: Any) -> Iterator[str]:
    """The text with the key in each place it could have, the most natural first."""
    eol = "\r\n" if any(line.endswith("\r\n") for line in lines) else "\n"
    if lines and not lines[-1].endswith("\n"):
        lines = [*lines[:-1], lines[-1] + eol]
    parents = [
        one for one in statements if one.is_header and key[: len(one.key)] == one.key and one.key != key
    ]
    for parent in sorted(parents, key=lambda one: -len(one.key)):
        if parent.key == key[:-1]:
            yield _insert(lines, _block_end(statements, parent), _line(key[-1:], value, eol))
    if len(key) > 1:
        gap = eol if lines and lines[-1].strip() else ""
        yield "".join(lines) + gap + f"[{join_key(key[:-1])}]{eol}" + _line(key[-1:], value, eol)
    for parent in sorted(parents, key=lambda one: -len(one.key)):
        yield _insert(lines, _block_end(statements, parent), _line(key[len(parent.key) :], value, eol))
    yield _insert(lines, _root_end(lines, statements), _line(key, value, eol))


def _line(key: Key, value: Any, eol: str) -> str:
    return f"{join_key(key)} = {format_value(value)}{eol}"


def _insert(lines: list[str], at: int, line: str) -> str:
    return "".join([*lines[:at], line, *lines[at:]])


def _block_end(statements: list[TomlStatement], header: TomlStatement) -> int:
    """The line after the last statement under a header."""
    end = header.end
    for one in statements:
        if one.first > header.first:
            if one.is_header:
                break
            end = one.end
    return end


def _root_end(lines: list[str], statements: list[TomlStatement]) -> int:
    """The line after the last statement before any header, else before the first header and its comment."""
    end = 0
    for one in statements:
        if one.is_header:
            break
        end = one.end
    if end or not statements:
        return end or len(lines)
    end = statements[0].first
    while end and lines[end - 1].lstrip().startswith("#"):
        end -= 1
    return end


def _first_that_means(candidates: Iterator[str], expected: Any, key: Key, source: str) -> str:
    for text in candidates:
        try:
            if _meaning(_parsed(text, source)) == expected:
                return text
        except UsageError:
            continue
    raise RefusedError(f"{source}: cannot edit {join_key(key)} and leave the rest as it is", hint=_BY_HAND)


def _with(document: Mapping[str, Any], key: Key, value: Any, source: str) -> dict[str, Any]:
    if len(key) == 1:
        return {**document, key[0]: value}
    below = document.get(key[0], {})
    if not isinstance(below, dict):
        raise RefusedError(
            f"{source}: {join_key(key[:1])} is not a table, so nothing can be set in it", hint=_BY_HAND
        )
    return {**document, key[0]: _with(below, key[1:], value, source)}


def _without(document: Any, key: Key) -> dict[str, Any] | None:
    """The document without the key, or None when it is not there."""
    if not isinstance(document, dict) or key[0] not in document:
        return None
    rest = {name: value for name, value in document.items() if name != key[0]}
    if len(key) == 1:
        return rest
    below = _without(document[key[0]], key[1:])
    return None if below is None else {**rest, key[0]: below}


def _meaning(value: Any) -> Any:
    """A form that is equal for documents that say the same: `1` is not `true`, empty is absent."""
    if isinstance(value, dict):
        below = ((name, _meaning(item)) for name, item in sorted(value.items()))
        return tuple((name, item) for name, item in below if item != ())
    if isinstance(value, list):
        return [_meaning(item) for item in value]
    return repr(value)


def _parsed(text: str, source: str) -> dict[str, Any]:
    return canonical(parse_document(text.encode(), source), source)


def _is_toml(text: str) -> bool:
    from tomllib import loads  # 20 ms that reading a config module must not cost

    try:
        loads(text)
    except (ValueError, RecursionError):
        return False
    return True


def _lines(text: str) -> list[str]:
    """Lines as TOML counts them, each with its ending; splitlines knows too many kinds."""
    return [line for line in text.replace("\n", "\n\0").split("\0") if line]
