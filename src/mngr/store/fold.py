"""Events in, state out: everything that is read later is computed here."""

from collections.abc import Iterable
from typing import Any

import msgspec
from msgspec import Struct

from mngr.model import event as kinds
from mngr.model.event import Event, decode_event


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
    last_at: float = 0.0


def fold_bytes(before: Folded, tail: bytes) -> Folded:
    """Folds the complete lines of a log's tail; an unfinished last line waits for its end."""
    whole = tail.rfind(b"\n") + 1
    events = (decode_event(line) for line in tail[:whole].split(b"\n") if line)
    after = fold(before, (event for event in events if event))
    return msgspec.structs.replace(after, offset=before.offset + whole)


def fold(before: Folded, events: Iterable[Event]) -> Folded:
    state: dict[str, Any] = msgspec.structs.asdict(before)
    for event in events:
        state["last_at"] = event.at
        step = _STEPS.get(event.kind)
        if step:
            step(state, event)
    return Folded(**state)


def encode_fold(folded: Folded) -> bytes:
    # The shell's `read` calls a line without its end a failure.
    return msgspec.json.encode(folded) + b"\n"


def decode_fold(data: bytes) -> Folded:
    """The fold, or a fresh one when the file is torn: the log has it all."""
    try:
        return msgspec.json.decode(data, type=Folded)
    except msgspec.DecodeError:
        return Folded()


def _created(state: dict[str, Any], _: Event) -> None:
    state["created"] = True


def _started(state: dict[str, Any], event: Event) -> None:
    state.update(started_at=event.at, ended_at=None, exit_code=None, signal=None, exit_seen=False)
    state.update(stopping=False, stopped=False, activity="", activity_at=None)


def _exited(state: dict[str, Any], event: Event) -> None:
    state.update(ended_at=event.at, exit_seen=True, activity="", activity_at=None)
    state.update(exit_code=event.data.get("exit_code"), signal=event.data.get("signal"))


def _stopping(state: dict[str, Any], _: Event) -> None:
    state["stopping"] = True


def _stopped(state: dict[str, Any], event: Event) -> None:
    state.update(stopping=False, stopped=True, activity="", activity_at=None)
    state["ended_at"] = state["ended_at"] or event.at


def _renamed(state: dict[str, Any], event: Event) -> None:
    state["name"] = str(event.data.get("name", state["name"]))


def _labelled(state: dict[str, Any], event: Event) -> None:
    labels = event.data.get("labels")
    if isinstance(labels, dict):
        state["labels"] = {str(key): str(value) for key, value in labels.items()}


def _message(state: dict[str, Any], event: Event) -> None:
    state["message_at"] = event.at


def _busy(state: dict[str, Any], event: Event) -> None:
    state.update(activity="busy", activity_at=event.at)


def _turn_ended(state: dict[str, Any], event: Event) -> None:
    state.update(activity="end_of_turn", activity_at=event.at)


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
    kinds.PROMPT_SUBMITTED: _busy,
    kinds.TURN_ENDED: _turn_ended,
    kinds.NEEDS_INPUT: _needs_input,
    kinds.RESUMED: _busy,
    kinds.SCREEN_UNKNOWN: _screen_unknown,
}
