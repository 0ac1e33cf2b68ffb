"""Which sections and keys there are, and what each may hold."""

from collections.abc import Callable, Collection, Mapping
from typing import Any

from msgspec import Struct

from mngr.config.keys import Key, join_key, quote_text
from mngr.errors import UsageError, did_you_mean


class ValueKind(Struct, frozen=True):
    """What a value must be, in words for the user and as a test."""

    expected: str
    accepts: Callable[[Any], bool]


def _is_text(value: Any) -> bool:
    return isinstance(value, str)


def _is_texts(value: Any) -> bool:
    return isinstance(value, list) and all(isinstance(item, str) for item in value)


TEXT = ValueKind("text", _is_text)
TEXTS = ValueKind("a list of texts", _is_texts)
COMMAND = ValueKind(
    "a command: text, or a list of texts", lambda value: bool(value) and (_is_text(value) or _is_texts(value))
)
TABLE = ValueKind("a table", lambda value: isinstance(value, dict))
ANYTHING = ValueKind("a value", lambda _: True)
TEXTS_BY_NAME = ValueKind(
    "a table of texts", lambda value: isinstance(value, dict) and _is_texts(list(value.values()))
)
PREFIX = ValueKind(
    "at most 32 letters, digits, - and _, with a letter first",
    lambda value: (
        _is_text(value)
        and len(value) <= 32
        and value.isascii()
        and value[:1].isalpha()
        and value.replace("-", "_").isidentifier()
    ),
)

Schema = Mapping[str, "ValueKind | Schema"]

ANY_NAME = "*"
KNOWN: Schema = {
    "prefix": PREFIX,
    "commands": {ANY_NAME: TABLE},
    "templates": {ANY_NAME: TABLE},
    "agent_types": {ANY_NAME: {"command": COMMAND, "args": TEXTS, "env": TEXTS_BY_NAME, "parent": TEXT}},
    "providers": {ANY_NAME: TABLE},
    "notify": {"command": COMMAND},
    "prices": {ANY_NAME: TABLE},
    "policy": TABLE,
    "telemetry": {"otlp": TEXT},
    "tutorial": TABLE,
    "tmr": TABLE,
}
DEFAULTS: dict[str, Any] = {"prefix": "mngr-"}

# Their third part is an option, and people write options with either sign.
_HOLD_OPTIONS = ("commands", "templates")


def with_sections(
    extra_sections: Collection[str], keys: Mapping[str, Collection[str]] | None = None
) -> Schema:
    """The known sections and those of plugins, which hold what they like, or only the `keys` that they name."""
    sections = {**dict.fromkeys(extra_sections, TABLE), **KNOWN}
    for name, own in (keys or {}).items():
        if sections.get(name) is TABLE:
            sections[name] = dict.fromkeys(own, ANYTHING)
    return sections


def check(document: Mapping[str, Any], source: str, schema: Schema) -> None:
    """Raises UsageError for the first unknown key or wrong type."""
    _check_table(document, source, schema, ())


def expected_at(key: Key, schema: Schema) -> "ValueKind | Schema | None":
    """What the schema says of a key: a kind, a table of further keys, or None where anything goes."""
    known: ValueKind | Schema | None = schema
    for part in key:
        if not isinstance(known, Mapping):
            return TEXT if known is TEXTS_BY_NAME else None
        known = known.get(part, known.get(ANY_NAME))
    return known


def canonical_key(key: Key) -> Key:
    """The one spelling of a key: options of commands and templates with `_`."""
    if len(key) > 2 and key[0] in _HOLD_OPTIONS:
        return (*key[:2], key[2].replace("-", "_"), *key[3:])
    return key


def canonical(document: Mapping[str, Any], source: str) -> dict[str, Any]:
    """The document with every key in its one spelling; the same option in two spellings is an error."""
    result = dict(document)
    for section in _HOLD_OPTIONS:
        tables = document.get(section)
        if isinstance(tables, dict):
            result[section] = dict(tables)
            for name, table in tables.items():
                if not isinstance(table, dict):
                    continue
                options = result[section][name] = {}
                for word, value in table.items():
                    key = canonical_key((section, name, word))
                    if key[-1] in options:
                        problem = f'{source}: "{join_key(key)}" is there twice, with "-" and with "_"'
                        raise UsageError(problem, hint="keep one")
                    options[key[-1]] = value
    return result


def nested(key: Key, value: Any) -> dict[str, Any]:
    """A document that holds one value."""
    for part in reversed(key):
        value = {part: value}
    return dict(value)


def _check_table(table: Mapping[str, Any], source: str, schema: Schema, at: Key) -> None:
    for name, value in table.items():
        known = schema.get(name, schema.get(ANY_NAME))
        key = (*at, name)
        if known is None:
            raise UsageError(f"{source}: unknown key {_shown(key)}", hint=did_you_mean(name, schema))
        if isinstance(known, ValueKind):
            if not known.accepts(value):
                raise _wrong_kind(source, key, known, value)
        elif isinstance(value, dict):
            _check_table(value, source, known, key)
        else:
            raise _wrong_kind(source, key, TABLE, value)


def _wrong_kind(source: str, key: Key, kind: ValueKind, found: Any) -> UsageError:
    names = {bool: "true or false", int: "a number", float: "a number", list: "a list", dict: "a table"}
    is_now = names.get(type(found), "a date or time")
    if isinstance(found, str):
        is_now = f"the text {quote_text(found[:40])}"
    return UsageError(f"{source}: {_shown(key)} must be {kind.expected}", hint=f"it is {is_now}")


def _shown(key: Key) -> str:
    dotted = join_key(part[:80] for part in key)
    return dotted if '"' in dotted else f'"{dotted}"'
