"""Events in, state out: everything that is read later is computed here."""

from collections.abc import Iterable
from typing import Any

import msgspec
from msgspec import Struct

from mngr.model import event as kinds
from mngr.model.agent import ModelError
from mngr.model.event import Event


class Folded(Struct, frozen=True):
    """What a log says up to a byte offset. `offset` comes first: the probe reads it with the shell's own tools."""

    offset: int = 0
    name: str = ""
    labels: dict[str, str] | None = None
    created: bool = False
    started_at: float | None = None
    ended_at: float | None = None
    exit_code: int | None = None
    signal: str | None = None
    exit_seen: bool = False
    stopping: bool = False
    stopped: bool = False
    activity: str = ""
    activity_at: float | None = None
    message_at: float | None = None
    error: ModelError | None = None
    """The last error of the model since a message was taken; none when the turn went on to its end."""
    last_at: float = 0.0
    skipped: int = 0
    """Bytes of the log that were never read: it grew by more than one look reads."""


def fold(before: Folded, events: Iterable[Event], **also: int) -> Folded:
    """What the log says after these events, each of which `untrusted.read_event` has let through.

    `also` are fields that no event changes: `offset` and `skipped`.
    """
    state: dict[str, Any] = {**msgspec.structs.asdict(before), **also}
    for event in events:
        state["last_at"] = event.at
        _apply(event, state)
    return Folded(**state)


def encode_fold(folded: Folded) -> bytes:
    # The shell's `read` calls a line without its end a failure.
    return msgspec.json.encode(folded) + b"\n"


# What an event sets by its kind alone; a change of the activity is dated.
_CHANGES: dict[str, dict[str, Any]] = {
    kinds.CREATED: {"created": True},
    kinds.STARTED: {
        **{"ended_at": None, "exit_code": None, "signal": None, "exit_seen": False},
        **{"stopping": False, "stopped": False, "activity": "", "error": None},
    },
    kinds.EXITED: {"exit_seen": True, "activity": ""},
    kinds.STOPPING: {"stopping": True},
    kinds.STOPPED: {"stopping": False, "stopped": True, "activity": ""},
    kinds.PROMPT_SUBMITTED: {"activity": "busy", "error": None},
    kinds.TURN_ENDED: {"activity": "end_of_turn"},
    kinds.NEEDS_INPUT: {"activity": "input"},
    kinds.RESUMED: {"activity": "busy"},
    kinds.SCREEN_UNKNOWN: {"activity": "unknown"},
}


def _apply(event: Event, state: dict[str, Any]) -> None:
    change = _CHANGES.get(event.kind, {})
    state.update(change)
    if "activity" in change:
        state["activity_at"] = event.at if change["activity"] else None
    match event.kind:
        case kinds.STARTED:
            state["started_at"] = event.at
        case kinds.EXITED:
            state["ended_at"] = event.at
            state.update(exit_code=event.data.get("exit_code"), signal=event.data.get("signal"))
        case kinds.STOPPED:
            state["ended_at"] = state["ended_at"] or event.at
        case kinds.RENAMED:
            state["name"] = event.data["name"]
        case kinds.LABELLED:
            state["labels"] = event.data["labels"]
        case kinds.MESSAGE:
            state["message_at"] = event.at
        case kinds.TURN_ENDED if event.data.get("reason") != kinds.API_ERROR:
            state["error"] = None
        case kinds.NEEDS_INPUT if event.data.get("reason") == "permission":
            state["activity"] = "permission"
        case kinds.API_ERROR:
            from mngr.model.model_error import model_error  # few agents have one

            state["error"] = model_error(event.data)
