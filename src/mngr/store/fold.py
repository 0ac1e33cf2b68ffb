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
        step = _STEPS.get(event.kind)
        if step:
            step(state, event)
    return Folded(**state)


def encode_fold(folded: Folded) -> bytes:
    # The shell's `read` calls a line without its end a failure.
    return msgspec.json.encode(folded) + b"\n"


def _created(state: dict[str, Any], _: Event) -> None:
    state["created"] = True


def _started(state: dict[str, Any], event: Event) -> None:
    state.update(started_at=event.at, ended_at=None, exit_code=None, signal=None, exit_seen=False)
    state.update(stopping=False, stopped=False, activity="", activity_at=None, error=None)


def _exited(state: dict[str, Any], event: Event) -> None:
    state.update(ended_at=event.at, exit_seen=True, activity="", activity_at=None)
    state.update(exit_code=event.data.get("exit_code"), signal=event.data.get("signal"))


def _stopping(state: dict[str, Any], _: Event) -> None:
    state["stopping"] = True


def _stopped(state: dict[str, Any], event: Event) -> None:
    state.update(stopping=False, stopped=True, activity="", activity_at=None)
    state["ended_at"] = state["ended_at"] or event.at


def _renamed(state: dict[str, Any], event: Event) -> None:
    state["name"] = event.data["name"]


def _labelled(state: dict[str, Any], event: Event) -> None:
    state["labels"] = event.data["labels"]


def _message(state: dict[str, Any], event: Event) -> None:
    state["message_at"] = event.at


def _prompt_submitted(state: dict[str, Any], event: Event) -> None:
    state.update(activity="busy", activity_at=event.at, error=None)


def _busy(state: dict[str, Any], event: Event) -> None:
    state.update(activity="busy", activity_at=event.at)


def _api_error(state: dict[str, Any], event: Event) -> None:
    from mngr.model.model_error import model_error  # few agents have one

    state["error"] = model_error(event.data)


def _turn_ended(state: dict[str, Any], event: Event) -> None:
    state.update(activity="end_of_turn", activity_at=event.at)
    if event.data.get("reason") != kinds.API_ERROR:
        state["error"] = None


def _needs_input(state: dict[str, Any], event: Event) -> None:
    reason = "permission" if event.data.get("reason") == "permission" else "input"
    state.update(activity=reason, activity_at=event.at)


def _screen_unknown(state: dict[str, Any], event: Event) -> None:
    state.update(activity="unknown", activity_at=event.at)


_STEPS = {
    kinds.CREATED: _created,
    kinds.STARTED: _started,
    kinds.EXITED: _exited,
    kinds.STOPPING: _stopping,
    kinds.STOPPED: _stopped,
    kinds.RENAMED: _renamed,
    kinds.LABELLED: _labelled,
    kinds.MESSAGE: _message,
    kinds.PROMPT_SUBMITTED: _prompt_submitted,
    kinds.TURN_ENDED: _turn_ended,
    kinds.NEEDS_INPUT: _needs_input,
    kinds.RESUMED: _busy,
    kinds.API_ERROR: _api_error,
    kinds.SCREEN_UNKNOWN: _screen_unknown,
}
