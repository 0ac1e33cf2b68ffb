"""What bad drafts say about the program's interface and docs: kept a line each, ranked by how often and how lately.

The file is meant to be committed: a person's reason for rejecting a draft is worth as much to the team as the
draft. It only grows, and git is told to join both sides' lines, so that branches do not conflict in it.
"""

import os
import time
from collections.abc import Iterable, Sequence
from contextlib import suppress
from hashlib import sha256
from typing import Literal

import msgspec
from msgspec import Struct

from mngr_e2e.authoring.rules import INTERFACE_RULES, KNOWN_COMMAND, KNOWN_OPTION, VALID_SHELL, RuleFinding

Kind = Literal["unknown command", "unknown option", "not valid shell", "rejected"]

_FOLDER = os.path.join(".mngr", "tutorial")
_KINDS: dict[str, Kind] = {
    KNOWN_COMMAND: "unknown command",
    KNOWN_OPTION: "unknown option",
    VALID_SHELL: "not valid shell",
}


class Signal(Struct, frozen=True, tag_field="entry", tag="signal"):
    """One mistake: `command` is what was meant to be used, `what` is what was wrong with it."""

    at: float
    kind: Kind
    command: str
    what: str
    tutorial: str = ""
    text: str = ""
    schema: int = 1


class Resolved(Struct, frozen=True, tag_field="entry", tag="resolved"):
    """A group of signals was answered; those that come later count again."""

    at: float
    group: str
    note: str = ""
    schema: int = 1


class SignalGroup(Struct, frozen=True):
    """Equal signals, as one line of the list."""

    id: str
    kind: Kind
    command: str
    what: str
    count: int
    first_at: float
    last_at: float
    texts: tuple[str, ...] = ()
    resolved: str | None = None
    """The note it was resolved with; None while it is open."""


def signals_path(root: str) -> str:
    return os.path.join(root, _FOLDER, "signals.jsonl")


def signals_of(findings: Iterable[RuleFinding], tutorial: str, now: float) -> tuple[Signal, ...]:
    """The findings that are about the interface, each once, however many rounds repeated it."""
    found = {
        (finding.rule, finding.command, finding.what): finding
        for finding in findings
        if finding.rule in INTERFACE_RULES
    }
    return tuple(
        Signal(now, _KINDS[one.rule], one.command, one.what, tutorial, one.problem) for one in found.values()
    )


def rejection(command: str, reason: str, tutorial: str, text: str) -> Signal:
    return Signal(time.time(), "rejected", command, reason, tutorial, text)


def append(path: str, entries: Sequence[Signal | Resolved]) -> None:
    """Adds lines in one write, so that two who add at once do not mix them."""
    if not entries:
        return
    folder = os.path.dirname(path)
    os.makedirs(folder, exist_ok=True)
    if not os.path.exists(attributes := os.path.join(folder, ".gitattributes")):
        with open(attributes, "w", encoding="utf-8") as file:
            file.write("signals.jsonl merge=union\n")
    lines = b"".join(msgspec.json.encode(entry) + b"\n" for entry in entries)
    fd = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o644)
    try:
        os.write(fd, lines)
    finally:
        os.close(fd)


def load(path: str) -> tuple[Signal | Resolved, ...]:
    """Every line that can be read; none without a file."""
    try:
        with open(path, "rb") as file:
            lines = file.read().split(b"\n")
    except FileNotFoundError:
        return ()
    found: list[Signal | Resolved] = []
    for line in lines:
        with suppress(msgspec.DecodeError):
            found.append(msgspec.json.decode(line, type=Signal | Resolved))
    return tuple(found)


def rank(entries: Iterable[Signal | Resolved], *, since: float = 0.0) -> tuple[SignalGroup, ...]:
    """The groups, most frequent first, then the latest; a resolved one keeps what came before its resolution."""
    signals: dict[str, list[Signal]] = {}
    resolved: dict[str, Resolved] = {}
    for entry in sorted(entries, key=lambda entry: entry.at):
        if isinstance(entry, Resolved):
            resolved[entry.group] = entry
        elif entry.at >= since:
            signals.setdefault(group_id(entry), []).append(entry)
    groups: list[SignalGroup] = []
    for key, own in signals.items():
        done = resolved.get(key)
        answered = [signal for signal in own if done and signal.at <= done.at]
        if len(answered) < len(own):
            groups.append(_group(key, own[len(answered) :], None))
        if done and answered:
            groups.append(_group(key, answered, done.note))
    return tuple(sorted(groups, key=lambda group: (-group.count, -group.last_at)))


def group_id(signal: Signal) -> str:
    key = "\0".join((signal.kind, signal.command, signal.what))
    return "s" + sha256(key.encode(errors="backslashreplace")).hexdigest()[:8]


def _group(key: str, signals: Sequence[Signal], resolved: str | None) -> SignalGroup:
    last = signals[-1]
    texts = tuple(dict.fromkeys(one.text for one in signals if one.text))
    return SignalGroup(
        key, last.kind, last.command, last.what, len(signals), signals[0].at, last.at, texts, resolved
    )
