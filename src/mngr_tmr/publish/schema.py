"""The schema of a result in words, made from the records: what prompts and `mngr-result schema` show."""

from typing import Any

from mngr_tmr.model.result import json_schema


def schema_text() -> str:
    """Every field with its type, whether it may be left out, and what it may hold."""
    schema = json_schema()
    kinds: dict[str, Any] = schema["$defs"]
    first = schema["$ref"].rpartition("/")[2]
    parts = [_record(name, kinds[name]) for name in (first, *(name for name in kinds if name != first))]
    return "\n\n".join(parts)


def _record(name: str, schema: dict[str, Any]) -> str:
    required = schema.get("required", ())
    lines = [f"{name}. {schema['description']}"]
    for field, part in schema["properties"].items():
        about = f": {part['description']}" if "description" in part else ""
        lines.append(f"- {field}: {_type(part)}{'' if field in required else _default(part)}{about}")
    return "\n".join(lines)


def _type(part: dict[str, Any]) -> str:
    if "$ref" in part:
        return str(part["$ref"]).rpartition("/")[2]
    if "anyOf" in part:
        return " or ".join(map(_type, part["anyOf"]))
    if "enum" in part:
        return " | ".join(part["enum"])
    if part["type"] == "array":
        return f"list of {_type(part['items'])}"
    span = f" from {part['minimum']} to {part['maximum']}" if "minimum" in part else ""
    return {"string": "text"}.get(part["type"], str(part["type"])) + span


def _default(part: dict[str, Any]) -> str:
    value = part.get("default")
    return f" (default {value})" if isinstance(value, int) and not isinstance(value, bool) else " (optional)"
