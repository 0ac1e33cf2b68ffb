"""Records as JSON has them: what every machine format prints."""

from typing import Any

import msgspec
from msgspec import Struct

from mngr.errors import MngrError


def as_record(value: Any) -> dict[str, Any]:
    """A dict in the order of its fields. What is about an agent has the agent's own fields first."""
    if isinstance(value, dict):
        return value
    plain: dict[str, Any] = msgspec.to_builtins(value)
    inner = plain.pop("agent", None)
    if isinstance(inner, dict):
        return inner | plain
    return plain if inner is None else {"agent": inner, **plain}


def fields_of(record: type[Struct]) -> dict[str, bool]:
    """The same for its type: the fields that a template may name."""
    from mngr.cli.template import known_fields  # only where a template is used

    known = known_fields(record)
    if "agent.id" not in known:
        return known
    agent = {name.removeprefix("agent."): free for name, free in known.items() if name.startswith("agent.")}
    return agent | {name: free for name, free in known.items() if name.partition(".")[0] != "agent"}


def error_record(error: MngrError) -> dict[str, Any]:
    """What a machine reads about an item that failed."""
    return {"error": {"message": error.message, "hint": error.hint, "exit_code": int(error.exit_code)}}
