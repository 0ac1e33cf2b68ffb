"""The schema of a result in words, made from the records: what prompts and `mngr-result schema` show."""

from typing import Any

from mngr_tmr.model.result import json_schema


def schema_text() -> str:
    """Every field with its type, whether it may be left out, and what it may hold."""
    schema = json_schema()
    kinds: dict[str, Any] = schema["$defs"]
    first = schema["$ref"].rpartition("/")[2]
    records = []
    for name in (first, *(name for name in kinds if name != first)):
        lines = [f"{name}. {kinds[name]['description']}"]
        for field, part in kinds[name]["properties"].items():
            value, about = part.get("default"), ""
            if field not in kinds[name].get("required", ()):
                is_number = isinstance(value, int) and not isinstance(value, bool)
                about = f" (default {value})" if is_number else " (optional)"
            about += f": {part['description']}" if "description" in part else ""
            lines.append(f"- {field}: {_type(part)}{about}")
        records.append("\n".join(lines))
    return "\n\n".join(records)


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
