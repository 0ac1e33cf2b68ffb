"""The border: everything read from a host passes here, and becomes a record or the name of what does not fit.

A host is not trusted: its users write its files and answer for its programs. So nothing is taken as it comes. Text must
be UTF-8, numbers in range, times between 1970 and 2200, names and branches such as mngr gives, and nothing large or
deeply nested. No function here raises anything but `UnfitError`.
"""

import re
from collections.abc import Callable, Iterator, Mapping
from typing import Any, TypeVar

import msgspec
from msgspec import Struct

from mngr.model import event as kinds
from mngr.model.agent import Agent, AgentSpec, Creator
from mngr.model.event import Event
from mngr.model.ids import is_agent_id, is_valid_branch, is_valid_name
from mngr.model.labels import are_labels
from mngr.store.fold import Folded, fold
from mngr_lib.proc import start_time
from mngr_lib.safe_text import PROBLEM_LIMIT, one_line

LAST_SECOND = 7258118400.0
"""The first moment of the year 2200: no clock is right past it, and every calendar can show what is before."""
LAST_PID = 1 << 22
_DEPTH = 32
_LAST_BYTE = 1 << 53

# Compiled when a record is out of the ordinary: every list would pay for it.
_SIGNAL = r"SIG[A-Z0-9+-]{1,15}\Z"
_COMMIT = r"(?:[0-9a-f]{40}|[0-9a-f]{64})?\Z"
_WORD = r"[a-z][a-z0-9_-]{0,31}\Z"
_PREFIX = r"(?:[A-Za-z_][A-Za-z0-9_-]{0,31})?\Z"
_AT = r"(?s)(.*) - at `\$\.?([^`]*)`\Z"
# The fields of a spec in a row, as nearly all are. Whatever this takes, the rules of each field take too.
_USUAL = (
    r"(?a)[A-Za-z0-9](?:[\w-]{0,61}[A-Za-z0-9])?\n[\w.-]{1,64}"
    r"\n(?:/\.?[\w-][\w.+@-]*)*\n(?:/\.?[\w-][\w.+@-]*)*\n(?:\w[\w-]*(?:/\w[\w-]*)*)?"
    r"\n(?:[0-9a-f]{40})?\n[a-z]{1,32}\n(?:[A-Za-z_][\w-]{0,31})?\n[\w.-]{0,255}\n[\w.-]{0,255}\Z"
)
_ACTIVITIES = frozenset(("", "busy", "end_of_turn", "permission", "input", "unknown"))
# What decoding raises: DecodeError, UnicodeDecodeError (a ValueError), RecursionError for what is nested too deeply.
_UNREADABLE = (msgspec.MsgspecError, ValueError, RecursionError, OverflowError)

T = TypeVar("T")


class UnfitError(Exception):
    """A record that cannot be used: the field that does not fit, and why. Its text is safe on a terminal."""

    def __init__(self, field: str, reason: str) -> None:
        super().__init__(one_line(f"{field}: {reason}" if field else reason, PROBLEM_LIMIT))


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
    if not _is_usual(spec):
        _check(spec, _SPEC_RULES)
    return spec


def read_exit(data: bytes) -> ExitRecord:
    record = _decoded(data, _EXIT)
    _check(record, _EXIT_RULES)
    return record


def read_fold(data: bytes) -> Folded:
    folded = _decoded(data, _FOLD)
    _check(folded, _FOLD_RULES)
    return folded


def read_mark(pid: str, boot: str, stat: str) -> ProcessMark:
    """The words of the file `pid`: a number, the boot it counts in, and the process's line of /proc then."""
    number, start = read_number(pid, LAST_PID), start_time(stat)
    if not number:
        raise UnfitError("", "it does not begin with the number of a process")
    if not _is_text(boot, 64) or not (start == "" or read_number(start, _LAST_BYTE) is not None):
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
    fits: Callable[[dict[str, Any]], bool] = _DATA_RULES.get(event.kind, _is_shallow)
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
    return (seen_at, sound) if _is_time(seen_at) else (0.0, sound)


def read_creator(data: bytes | str) -> Creator | None:
    creator = decode(data, Creator)
    return creator if creator and _is_creator(creator) else None


def decode(data: bytes | str, kind: type[T]) -> T | None:
    """Any other record of JSON, as deep as its type says; None for what is none."""
    try:
        return msgspec.json.decode(data, type=kind)
    except _UNREADABLE:
        return None


def decode_table(line: bytes) -> dict[str, Any]:
    """The object that a line of JSON holds; an empty one for anything else, and for what is nested deeply."""
    found = decode(line, dict[str, Any])
    return found if found is not None and _is_shallow(found) else {}


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


def _is_usual(spec: AgentSpec) -> bool:
    """Whether a spec holds nothing out of the ordinary: one look instead of many, as there may be thousands."""
    texts = (
        *(spec.name, spec.type, spec.work_dir, spec.source, spec.branch, spec.base_commit),
        *(spec.transfer, spec.prefix, spec.project, spec.source_machine),
    )
    return (
        re.match(_USUAL, "\n".join(texts)) is not None
        and 0 <= spec.created_at < LAST_SECOND
        and "\0" not in "".join(spec.argv)
        and are_labels(spec.labels)
        and not (spec.windows or spec.type_options or spec.isolate)
        and _is_creator(spec.creator)
    )


def _check(record: Struct, rules: "Mapping[str, _Rule]") -> None:
    for field, (fits, reason) in rules.items():
        if not fits(getattr(record, field)):
            raise UnfitError(field, reason)


def _is_time(value: float | None) -> bool:
    return value is None or 0 <= value < LAST_SECOND


def _is_text(value: str, limit: int) -> bool:
    return len(value) <= limit and value.isprintable()


def _is_short(value: str) -> bool:
    return len(value) <= 4096 and "\0" not in value


def _is_word(value: str) -> bool:
    return _is_text(value, 128)


def _is_path(value: str) -> bool:
    return not value or (_is_short(value) and value[0] == "/" and "/../" not in value + "/")


def _is_branch(value: str) -> bool:
    return not value or (is_valid_branch(value) and _is_text(value, 255))


def _is_argv(value: tuple[str, ...]) -> bool:
    return not any("\0" in word for word in value)


def _is_windows(value: dict[str, str]) -> bool:
    return all(_is_word(name) and "\0" not in command for name, command in value.items())


def _is_pid(value: int) -> bool:
    return 0 <= value <= LAST_PID


def _is_code(value: Any) -> bool:
    return value is None or (type(value) is int and 0 <= value <= 255)


def _is_signal(value: Any) -> bool:
    return value is None or (isinstance(value, str) and re.match(_SIGNAL, value) is not None)


def _is_offset(value: int) -> bool:
    return 0 <= value < _LAST_BYTE


def _is_creator(value: Creator | None) -> bool:
    return value is None or (
        _is_pid(value.pid) and all(_is_text(text, 255) for text in (value.machine, value.boot, value.start))
    )


def _is_shallow(value: Any, depth: int = _DEPTH) -> bool:
    """Whether containers are nested at most so deeply."""
    if not value:
        return True
    if isinstance(value, dict):
        return depth > 0 and all(
            _is_shallow(item, depth - 1) for item in value.values() if isinstance(item, dict | list)
        )
    if isinstance(value, list):
        return depth > 0 and all(
            _is_shallow(item, depth - 1) for item in value if isinstance(item, dict | list)
        )
    return True


_Rule = tuple[Callable[[Any], bool], str]

_NAME = (is_valid_name, "it is not a name that an agent can have")
_TIME = (_is_time, "it is not a time between 1970 and 2200")
_CODE = (_is_code, "it is not between 0 and 255")
_SIGNALS = (_is_signal, "it is not the name of a signal")
_LABELS = (are_labels, "a key or a value is not one that a label can have")
_PATH = (_is_path, "it is not an absolute path without ..")
_TEXT = (_is_short, "it is too long, or holds a NUL")

_SPEC = msgspec.json.Decoder(AgentSpec)
_SPEC_RULES: dict[str, _Rule] = {
    "name": _NAME,
    "type": (_is_word, "it is not the name of a type"),
    "argv": (_is_argv, "an argument holds a NUL"),
    "work_dir": _PATH,
    "created_at": _TIME,
    "labels": _LABELS,
    "project": _TEXT,
    "branch": (_is_branch, "it is not a name that a branch can have"),
    "base_commit": (lambda value: re.match(_COMMIT, value) is not None, "it is not the id of a commit"),
    "source": _PATH,
    "source_machine": _TEXT,
    "transfer": (lambda value: re.match(_WORD, value) is not None, "it is not the name of a transfer"),
    "prefix": (lambda value: re.match(_PREFIX, value) is not None, "sessions cannot have it"),
    "isolate": (lambda value: value in ("", "pid"), "it is unknown"),
    "windows": (_is_windows, "a name or a command cannot be used"),
    "type_options": (_is_shallow, "it is nested too deeply"),
    "creator": (_is_creator, "it is not a process"),
}
_EXIT = msgspec.json.Decoder(ExitRecord)
_EXIT_RULES: dict[str, _Rule] = {
    "pid": (_is_pid, "it is not the number of a process"),
    "exit_code": _CODE,
    "signal": _SIGNALS,
    "at": _TIME,
}
_FOLD = msgspec.json.Decoder(Folded)
_FOLD_RULES: dict[str, _Rule] = {
    "offset": (_is_offset, "it is not a place in a file"),
    "name": (lambda value: not value or is_valid_name(value), _NAME[1]),
    "labels": (lambda value: value is None or are_labels(value), _LABELS[1]),
    "started_at": _TIME,
    "ended_at": _TIME,
    "exit_code": _CODE,
    "signal": _SIGNALS,
    "activity": (lambda value: value in _ACTIVITIES, "it is unknown"),
    "activity_at": _TIME,
    "message_at": _TIME,
    "error": (lambda value: value is None or _is_text(value.message, 500), "its text cannot be shown"),
    "last_at": _TIME,
    "skipped": (_is_offset, "it is not a number of bytes"),
}
_EVENT = msgspec.json.Decoder(Event)
_DATA_RULES: dict[str, Callable[[dict[str, Any]], bool]] = {
    kinds.RENAMED: lambda data: isinstance(data.get("name"), str) and is_valid_name(data["name"]),
    kinds.LABELLED: lambda data: are_labels(data.get("labels")),
    kinds.EXITED: lambda data: _is_code(data.get("exit_code")) and _is_signal(data.get("signal")),
}
_REMEMBERED = msgspec.json.Decoder(tuple[float, tuple[Agent, ...]])
