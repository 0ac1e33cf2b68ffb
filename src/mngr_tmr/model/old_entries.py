"""Reads lines of a journal, those of the first edition too: it had sentences and untyped data instead of facts."""

from typing import Any

import msgspec

from mngr_tmr.model.entry import Entry
from mngr_tmr.model.facts import WorkFailureCause

_RUN_FACTS = {
    "resumed": "resumed",
    "paused": "paused",
    "launching stopped": "launching_stopped",
    "interrupted": "interrupted",
}
_FACTS = {
    ("launch", "done"): "launched",
    ("watch", "failed"): "work_failed",
    ("nudge", "done"): "nudged",
    ("pull", "intended"): "pull",
    ("pull", "done"): "pulled",
    ("stop", "intended"): "stop",
    ("stop", "done"): "stopped",
    ("verify", "intended"): "verify",
    ("verify", "done"): "verdicts",
    ("base", "done"): "base",
    ("integrate", "intended"): "integrate_again",
    ("integrate", "done"): "integrated",
}
_CAUSES: tuple[tuple[str, WorkFailureCause], ...] = (
    ("interrupted", "interrupted"),
    ("timed out after ", "timeout"),
    ("the agent disappeared", "disappeared"),
    ("the agent ended without a result", "ended"),
    ("the agent is lost", "unreadable"),
    ("idle without a result", "idle"),
    ("no sign of life", "silent"),
)


def read_entry(line: bytes) -> Entry:
    """The entry on a line. One of the first edition gets the fact that its message and data stand for."""
    fields = msgspec.json.decode(line, type=dict[str, Any])
    data = fields.get("data")
    if not isinstance(data, dict) or "fact" not in data:
        fields["data"] = _fact_of(fields, data if isinstance(data, dict) else {})
    return msgspec.convert(fields, Entry)


def _fact_of(fields: dict[str, Any], data: dict[str, Any]) -> dict[str, Any] | None:
    step, kind, message = fields.get("step"), fields.get("kind"), str(fields.get("message", ""))
    name = _FACTS.get((str(step), str(kind)))
    if step == "run":
        name = _RUN_FACTS.get(message)
    elif kind == "later":
        name = "refused"
    elif kind == "failed" and data.get("overdue"):
        name = "overdue"
    elif (step, kind) == ("watch", "noted"):
        name = "silent" if "silent_since" in data else "asks" if "asks" in data else None
    elif (step, kind) == ("watch", "failed"):
        found: WorkFailureCause = "model_error" if data.get("error") else "unknown"
        cause = next((cause for start, cause in _CAUSES if message.startswith(start)), found)
        data = {**data, "cause": "interrupted" if data.get("interrupted") else cause}
    if name is None or (kind == "intended" and not data):
        return None
    return {**data, "fact": name}
