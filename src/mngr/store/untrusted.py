"""The border: everything read from a host passes here, and becomes a record or the name of what does not fit.

A host is not trusted: its users write its files and answer for its programs. So nothing is taken as it comes. Text must
be UTF-8, numbers in range, times between 1970 and 2200, names and branches such as mngr gives, and nothing large or
deeply nested: `rules` says what each field must be. No function here raises anything but `UnfitError`.
"""

import re
from collections.abc import Callable, Iterator
from typing import Any, TypeVar

import msgspec
from msgspec import Struct

from mngr.model.agent import Agent, AgentSpec, Creator
from mngr.model.event import Event
from mngr.model.ids import is_agent_id, is_valid_name
from mngr.store.fold import Folded, fold
from mngr.store.rules import (
    DATA_RULES,
    EXIT_RULES,
    FOLD_RULES,
    LAST_BYTE,
    LAST_PID,
    LAST_SECOND,
    SPEC_RULES,
    UnfitError,
    check,
    is_creator,
    is_shallow,
    is_text,
    is_time,
    is_usual,
)
from mngr_lib.proc import start_time

_AT = r"(?s)(.*) - at `\$\.?([^`]*)`\Z"
# What decoding raises: DecodeError, UnicodeDecodeError (a ValueError), RecursionError for what is nested too deeply.
_UNREADABLE = (msgspec.MsgspecError, ValueError, RecursionError, OverflowError)

T = TypeVar("T")


class ExitRecord(Struct, frozen=True):
    """`exit.json`, written by tmux's pane-died hook."""

    pid: int = 0
    exit_code: int | None = None
    signal: str | None = None
    at: float = 0.0


class Pane(Struct, frozen=True):
    """What tmux says of an agent's pane."""

    pid: int
    dead: bool
    exit_code: int | None
    signal: str | None
    dead_at: float | None
    tty: str
    session: str
    window: str = "0"
    title: str = ""


class ProcessMark(Struct, frozen=True):
    """A process, told from a later one with the same number by its start time and boot."""

    pid: int
    boot: str
    start: str


_SPEC = msgspec.json.Decoder(AgentSpec)
_EXIT = msgspec.json.Decoder(ExitRecord)
_FOLD = msgspec.json.Decoder(Folded)
_EVENT = msgspec.json.Decoder(Event)
_REMEMBERED = msgspec.json.Decoder(tuple[float, tuple[Agent, ...]])


def read_spec(agent_id: str, data: bytes) -> AgentSpec:
    """`agent.json` of the agent whose directory has this name."""
    spec = read_noted_spec(data)
    if spec.id != agent_id:
        raise UnfitError("id", "it is not the name of its directory")
    return spec


def read_noted_spec(data: bytes) -> AgentSpec:
    """The spec that a label of a host or a snapshot holds: in no directory, so its id is its own word."""
    spec = _decoded(data, _SPEC)
    if not is_agent_id(spec.id):
        raise UnfitError("id", "it is not the id of an agent")
    if not is_usual(spec):
        check(spec, SPEC_RULES)
    return spec


def read_exit(data: bytes) -> ExitRecord:
    record = _decoded(data, _EXIT)
    check(record, EXIT_RULES)
    return record


def read_fold(data: bytes) -> Folded:
    folded = _decoded(data, _FOLD)
    check(folded, FOLD_RULES)
    return folded


def read_mark(pid: str, boot: str, stat: str) -> ProcessMark:
    """The words of the file `pid`: a number, the boot it counts in, and the process's line of /proc then."""
    number, start = read_number(pid, LAST_PID), start_time(stat)
    if not number:
        raise UnfitError("", "it does not begin with the number of a process")
    if not is_text(boot, 64) or not (start == "" or read_number(start, LAST_BYTE) is not None):
        raise UnfitError("", "it does not say when that process began")
    return ProcessMark(number, boot, start)


def read_pane(line: str) -> tuple[str, Pane] | None:
    """An agent's id and its pane, from the words of the probe's format; None for what is no agent's pane."""
    words = line.split("|", 9)
    if len(words) < 10 or not is_agent_id(words[0]):
        return None
    agent, pid, dead, status, signal, at, tty, session, window, title = words
    number, code, dead_at = read_number(pid, LAST_PID), read_number(status, 255), read_time(at)
    if not number or read_number(window, LAST_PID) is None or not (session + tty).isprintable():
        return None
    return agent, Pane(
        pid=number,
        # tmux calls a pane dead before it has collected how the process ended.
        dead=dead == "1" and (code is not None or dead_at is not None),
        exit_code=code,
        signal=signal_name(signal),
        dead_at=dead_at,
        tty=tty,
        session=session,
        window=window,
        title=title,
    )


def read_event(line: bytes) -> Event | None:
    """The event; None for a line that is torn, foreign or does not fit: a log survives a bad line."""
    try:
        event = _EVENT.decode(line)
    except _UNREADABLE:
        return None
    if not (0 <= event.at < LAST_SECOND and len(event.kind) <= 64 and event.kind.isprintable()):
        return None
    fits: Callable[[dict[str, Any]], bool] = DATA_RULES.get(event.kind, is_shallow)
    return event if fits(event.data) else None


def read_events(data: bytes) -> list[Event]:
    """The events of a log or of a part of it."""
    return list(_events(data))


def fold_bytes(before: Folded, tail: bytes, start: int | None = None) -> Folded:
    """Folds the complete lines of a log's tail; an unfinished last line waits for its end.

    The tail begins at `start`, by default where the fold ends; what lies between was not read, and is counted.
    """
    whole = tail.rfind(b"\n") + 1
    begin = before.offset if start is None else start
    skipped = before.skipped + max(0, begin - before.offset)
    return fold(before, _events(tail[:whole]), offset=begin + whole, skipped=skipped)


def read_remembered(data: bytes) -> tuple[float, tuple[Agent, ...]]:
    """When a host was last looked at and the agents it had, as noted here; nothing where the note cannot be read."""
    try:
        seen_at, agents = _REMEMBERED.decode(data)
    except _UNREADABLE:
        return 0.0, ()
    sound = tuple(
        agent
        for agent in agents
        if is_agent_id(agent.id) and (agent.name == agent.id or is_valid_name(agent.name))
    )
    return (seen_at, sound) if is_time(seen_at) else (0.0, sound)


def read_creator(data: bytes | str) -> Creator | None:
    creator = decode(data, Creator)
    return creator if creator and is_creator(creator) else None


def decode(data: bytes | str, kind: type[T]) -> T | None:
    """Any other record of JSON, as deep as its type says; None for what is none."""
    try:
        return msgspec.json.decode(data, type=kind)
    except _UNREADABLE:
        return None


def decode_table(line: bytes) -> dict[str, Any]:
    """The object that a line of JSON holds; an empty one for anything else, and for what is nested deeply."""
    found = decode(line, dict[str, Any])
    return found if found is not None and is_shallow(found) else {}


def read_number(text: str, most: int) -> int | None:
    """A number without sign, at most `most`; None for anything else."""
    if not (text.isascii() and text.isdigit() and len(text) < 20):
        return None
    number = int(text)
    return number if number <= most else None


def read_time(text: str) -> float | None:
    """Whole seconds since the epoch."""
    seconds = read_number(text, int(LAST_SECOND) - 1)
    return None if seconds is None else float(seconds)


def signal_name(number: str) -> str | None:
    """`9` → `SIGKILL`; None when there was no signal."""
    value = read_number(number, 127)
    if value is None:
        return None
    from signal import Signals

    try:
        return Signals(value).name
    except ValueError:
        return f"SIG{number}"


def _events(data: bytes) -> Iterator[Event]:
    for line in data.split(b"\n"):
        event = read_event(line) if line else None
        if event:
            yield event


def _decoded(data: bytes, decoder: "msgspec.json.Decoder[T]") -> T:
    try:
        return decoder.decode(data)
    except RecursionError:
        raise UnfitError("", "it is nested too deeply") from None
    except UnicodeError:
        raise UnfitError("", "it is not UTF-8") from None
    except _UNREADABLE as error:
        where = re.match(_AT, str(error))
        raise UnfitError(*((where[2], where[1]) if where else ("", str(error)))) from None
