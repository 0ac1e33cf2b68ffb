"""Results to stdout, everything else to stderr, in the format that was asked for."""

import os
import sys
from collections.abc import Callable
from typing import Any, TextIO

import msgspec
from msgspec import Struct

from mngr.cli.records import as_record, fields_of
from mngr.cli.terminal_text import paint, wants_colour
from mngr.errors import MngrError, UsageError, did_you_mean
from mngr.model.agent import Agent, AgentState, Change
from mngr_lib.safe_text import one_line, raw, safe_lines, writing

HUMAN, JSON, JSONL = "human", "json", "jsonl"
_WORDS = (HUMAN, JSON, JSONL)


class CommandOutput:
    """Where a command writes. `format` is human, json, jsonl or a template."""

    def __init__(self, format: str = HUMAN, *, quiet: bool = False, verbose: bool = False) -> None:
        self.format, self.quiet, self.verbose = format, quiet, verbose
        self._template = None
        if format not in _WORDS:
            if "{" not in format and "}" not in format:
                raise UsageError(
                    f'no format "{one_line(format)}"',
                    hint=did_you_mean(
                        format, _WORDS, else_hint="human, json, jsonl, or a template: '{name}\\t{state}'"
                    ),
                )
            from mngr.cli.template import parse_template  # most calls have none

            self._template = parse_template(format)

    @property
    def is_human(self) -> bool:
        return self.format == HUMAN

    @property
    def is_template(self) -> bool:
        return self._template is not None

    def check(self, record: type[Struct], *extra: str) -> None:
        """Refuses a template that names fields these records do not have, before anything is done."""
        if self._template is not None:
            self._template.check(fields_of(record) | dict.fromkeys(extra, True))

    def line(self, record: Any) -> None:
        """One record as a JSON line or by the template, at once."""
        plain = as_record(record)
        if self._template is None:
            put(msgspec.json.encode(plain).decode())
        else:
            put_styled(self._template.fill(plain))

    def document(self, value: Any) -> None:
        """One JSON document; indented where a person reads it."""
        data = msgspec.json.encode(value if isinstance(value, Struct) else as_record(value))
        put((msgspec.json.format(data, indent=2) if sys.stdout.isatty() else data).decode())

    def one(self, record: Any, human: Callable[[], str]) -> None:
        """A single result in any format."""
        if self.is_human:
            say(human())
        elif self.format == JSON:
            self.document(as_record(record))
        else:
            self.line(record)

    def many(self, records: list[Any], human: Callable[[], str]) -> None:
        """A list of results: one JSON array, or a line each."""
        if self.is_human:
            say(human())
        elif self.format == JSON:
            data = msgspec.json.encode([as_record(record) for record in records])
            put((msgspec.json.format(data, indent=2) if sys.stdout.isatty() else data).decode())
        else:
            for record in records:
                self.line(record)

    def note(self, text: str) -> None:
        """Progress, and what a person may want to know."""
        if not self.quiet:
            _complain(text)

    def warn(self, text: str) -> None:
        if not self.quiet:
            _complain(text, "warning", "yellow")


def put(text: str, stream: TextIO | None = None) -> None:
    """Writes a line at once."""
    stream = stream or sys.stdout
    with writing():
        stream.write(text + "\n")
        stream.flush()


def put_bytes(data: bytes, stream: TextIO | None = None) -> None:
    """Writes bytes as they are, at once."""
    sink = (stream or sys.stdout).buffer
    with writing():
        sink.write(data)
        sink.flush()


def put_styled(text: str, stream: TextIO | None = None) -> None:
    """Writes a line with escape sequences of our own or of the user; what others wrote in it was made safe before."""
    put(text, raw(stream or sys.stdout))


def say(text: str) -> None:
    """A result for a person; nothing when there is nothing to say."""
    if text:
        put(text)


def show_error(error: MngrError) -> None:
    """`error: …` and, where there is one, `hint: …`."""
    _complain(error.message, "error", "red")
    if error.hint:
        _complain(error.hint, "hint", "blue")


def show_note(text: str) -> None:
    """`note: …`."""
    _complain(text, "note", "blue")


def _complain(text: str, label: str = "", colour: str = "") -> None:
    """A line on stderr; further lines are indented, so that none of them can pass for an error of ours.

    What cannot be written there is dropped: it must not end a command in the middle of its work.
    """
    head = f"{paint(label, colour, wants_colour(sys.stderr))}: " if label else ""
    try:
        sys.stdout.flush()
    except OSError:
        pass  # the caller flushes again, and reports it
    try:
        put_styled(head + safe_lines(text).replace("\n", "\n  "), sys.stderr)
    except OSError:
        discard(2)


def discard(number: int) -> None:
    """Sends what is still to be written to a broken standard stream nowhere, or Python would fail on it at exit."""
    null = os.open(os.devnull, os.O_WRONLY)
    os.dup2(null, number)
    os.close(null)


def state_text(agent: Agent) -> str:
    """The state and its one important detail."""
    if agent.state == AgentState.WAITING and agent.waiting_reason:
        return f"WAITING ({agent.waiting_reason.replace('_', ' ')})"
    if agent.state == AgentState.DONE:
        how = agent.signal or (str(agent.exit_code) if agent.exit_code is not None else "?")
        return f"DONE ({how})"
    if agent.state in (AgentState.UNKNOWN, AgentState.STOPPED) and agent.why and agent.why != "stopped":
        return f"{agent.state} ({agent.why})"
    return str(agent.state)


def change_text(done: str, change: Change, *, unchanged: str = "") -> str:
    """`Stopped foo`, and each note indented."""
    word = done if change.changed else unchanged or f"{done} already"
    return with_notes(f"{word} {one_line(change.agent.name)}", change.notes)


def with_notes(line: str, notes: tuple[str, ...]) -> str:
    return "\n".join([line, *(f"  {one_line(note)}" for note in notes)])
