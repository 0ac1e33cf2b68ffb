"""What each field of a record from a host must be; `untrusted` checks records with these."""

import re
from collections.abc import Callable, Mapping
from typing import Any

from msgspec import Struct

from mngr.model import event as kinds
from mngr.model.agent import AgentSpec, Creator
from mngr.model.ids import is_valid_branch, is_valid_name
from mngr.model.labels import are_labels
from mngr_lib.safe_text import PROBLEM_LIMIT, one_line

LAST_SECOND = 7258118400.0
"""The first moment of the year 2200: no clock is right past it, and every calendar can show what is before."""
LAST_PID = 1 << 22
_DEPTH = 32
LAST_BYTE = 1 << 53

# Compiled when a record is out of the ordinary: every list would pay for it.
_SIGNAL = r"SIG[A-Z0-9+-]{1,15}\Z"
_COMMIT = r"(?:[0-9a-f]{40}|[0-9a-f]{64})?\Z"
_WORD = r"[a-z][a-z0-9_-]{0,31}\Z"
_PREFIX = r"(?:[A-Za-z_][A-Za-z0-9_-]{0,31})?\Z"
# The fields of a spec in a row, as nearly all are. Whatever this takes, the rules of each field take too.
_USUAL = (
    r"(?a)[A-Za-z0-9](?:[\w-]{0,61}[A-Za-z0-9])?\n[\w.-]{1,64}"
    r"\n(?:/\.?[\w-][\w.+@-]*)*\n(?:/\.?[\w-][\w.+@-]*)*\n(?:\w[\w-]*(?:/\w[\w-]*)*)?"
    r"\n(?:[0-9a-f]{40})?\n[a-z]{1,32}\n(?:[A-Za-z_][\w-]{0,31})?\n[\w.-]{0,255}\n[\w.-]{0,255}\Z"
)
_ACTIVITIES = frozenset(("", "busy", "end_of_turn", "permission", "input", "unknown"))


class UnfitError(Exception):
    """A record that cannot be used: the field that does not fit, and why. Its text is safe on a terminal."""

    def __init__(self, field: str, reason: str) -> None:
        super().__init__(one_line(f"{field}: {reason}" if field else reason, PROBLEM_LIMIT))


def is_usual(spec: AgentSpec) -> bool:
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
        and is_creator(spec.creator)
    )


def check(record: Struct, rules: "Mapping[str, _Rule]") -> None:
    for field, (fits, reason) in rules.items():
        if not fits(getattr(record, field)):
            raise UnfitError(field, reason)


def is_time(value: float | None) -> bool:
    return value is None or 0 <= value < LAST_SECOND


def is_text(value: str, limit: int) -> bool:
    return len(value) <= limit and value.isprintable()


def _is_short(value: str) -> bool:
    return len(value) <= 4096 and "\0" not in value


def _is_word(value: str) -> bool:
    return is_text(value, 128)


def _is_pid(value: int) -> bool:
    return 0 <= value <= LAST_PID


def _is_code(value: Any) -> bool:
    return value is None or (type(value) is int and 0 <= value <= 255)


def _is_signal(value: Any) -> bool:
    return value is None or (isinstance(value, str) and re.match(_SIGNAL, value) is not None)


def _is_offset(value: int) -> bool:
    return 0 <= value < LAST_BYTE


def is_creator(value: Creator | None) -> bool:
    return value is None or (
        _is_pid(value.pid) and all(is_text(text, 255) for text in (value.machine, value.boot, value.start))
    )


def is_shallow(value: Any, depth: int = _DEPTH) -> bool:
    """Whether containers are nested at most so deeply."""
    if not value:
        return True
    if isinstance(value, dict):
        return depth > 0 and all(
            is_shallow(item, depth - 1) for item in value.values() if isinstance(item, dict | list)
        )
    if isinstance(value, list):
        return depth > 0 and all(
            is_shallow(item, depth - 1) for item in value if isinstance(item, dict | list)
        )
    return True


_Rule = tuple[Callable[[Any], bool], str]

_NAME = (is_valid_name, "it is not a name that an agent can have")
_TIME = (is_time, "it is not a time between 1970 and 2200")
_CODE = (_is_code, "it is not between 0 and 255")
_SIGNALS = (_is_signal, "it is not the name of a signal")
_LABELS = (are_labels, "a key or a value is not one that a label can have")
_PATH: _Rule = (
    lambda value: not value or (_is_short(value) and value[0] == "/" and "/../" not in value + "/"),
    "it is not an absolute path without ..",
)
_TEXT = (_is_short, "it is too long, or holds a NUL")

SPEC_RULES: dict[str, _Rule] = {
    "name": _NAME,
    "type": (_is_word, "it is not the name of a type"),
    "argv": (lambda value: not any("\0" in word for word in value), "an argument holds a NUL"),
    "work_dir": _PATH,
    "created_at": _TIME,
    "labels": _LABELS,
    "project": _TEXT,
    "branch": (
        lambda value: not value or (is_valid_branch(value) and is_text(value, 255)),
        "it is not a name that a branch can have",
    ),
    "base_commit": (lambda value: re.match(_COMMIT, value) is not None, "it is not the id of a commit"),
    "source": _PATH,
    "source_machine": _TEXT,
    "transfer": (lambda value: re.match(_WORD, value) is not None, "it is not the name of a transfer"),
    "prefix": (lambda value: re.match(_PREFIX, value) is not None, "sessions cannot have it"),
    "isolate": (lambda value: value in ("", "pid"), "it is unknown"),
    "windows": (
        lambda value: all(_is_word(name) and "\0" not in command for name, command in value.items()),
        "a name or a command cannot be used",
    ),
    "type_options": (is_shallow, "it is nested too deeply"),
    "creator": (is_creator, "it is not a process"),
}
EXIT_RULES: dict[str, _Rule] = {
    "pid": (_is_pid, "it is not the number of a process"),
    "exit_code": _CODE,
    "signal": _SIGNALS,
    "at": _TIME,
}
FOLD_RULES: dict[str, _Rule] = {
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
    "error": (lambda value: value is None or is_text(value.message, 500), "its text cannot be shown"),
    "last_at": _TIME,
    "skipped": (_is_offset, "it is not a number of bytes"),
}
DATA_RULES: dict[str, Callable[[dict[str, Any]], bool]] = {
    kinds.RENAMED: lambda data: isinstance(data.get("name"), str) and is_valid_name(data["name"]),
    kinds.LABELLED: lambda data: are_labels(data.get("labels")),
    kinds.EXITED: lambda data: _is_code(data.get("exit_code")) and _is_signal(data.get("signal")),
}
