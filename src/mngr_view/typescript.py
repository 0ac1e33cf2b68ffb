"""The records as TypeScript, so that the front end and Python never disagree.

`python -m mngr_view.typescript > web/src/lib/records.ts` writes them again; a test fails when the file is stale.
"""

import types
import typing

import msgspec

from mngr_view import records

_HEADER = "// Generated from src/mngr_view/records.py by `python -m mngr_view.typescript`; do not edit."
_PLAIN = {str: "string", float: "number", int: "number", bool: "boolean", type(None): "null"}


def declarations() -> str:
    """Every record as an interface, and every named choice as a union."""
    parts = [_HEADER]
    for name, value in vars(records).items():
        if typing.get_origin(value) is typing.Literal:
            parts.append(f"export type {name} = {_choice(value)};")
        elif isinstance(value, type) and issubclass(value, msgspec.Struct) and value is not msgspec.Struct:
            hints = typing.get_type_hints(value, vars(records))
            lines = [f"  readonly {field}: {_type(hints[field])};" for field in value.__struct_fields__]
            parts.append("\n".join([f"export interface {value.__name__} {{", *lines, "}"]))
    return "\n\n".join(parts) + "\n"


def _type(hint: object) -> str:
    if typing.get_origin(hint) is typing.Literal:
        return next((name for name, value in vars(records).items() if value == hint), None) or _choice(hint)
    if typing.get_origin(hint) is types.UnionType:
        return " | ".join(_type(part) for part in typing.get_args(hint))
    if typing.get_origin(hint) is tuple:
        return f"readonly {_type(typing.get_args(hint)[0])}[]"
    if typing.get_origin(hint) is dict:
        return f"Readonly<Record<string, {_type(typing.get_args(hint)[1])}>>"
    if isinstance(hint, type):
        return _PLAIN.get(hint, hint.__name__)
    raise TypeError(f"no TypeScript for {hint!r}")


def _choice(choice: object) -> str:
    return " | ".join(f'"{value}"' for value in typing.get_args(choice))


if __name__ == "__main__":
    print(declarations(), end="")
