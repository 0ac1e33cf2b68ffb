"""The commands of an attempt, from both forms of its transcript."""

import binascii
import codecs
from collections.abc import Sequence

import msgspec
from msgspec import Struct

from mngr_e2e.session.transcript import CommandRecord
from mngr_e2e.view.files import amount, try_read
from mngr_e2e.view.times import length, moment
from mngr_e2e.view.transcript_text import TextCommand, parse_text
from mngr_lib.safe_text import one_line
from mngr_view.records import Output, ShownCommand

JSON_LIMIT = 48_000_000
TEXT_LIMIT = 16_000_000
OUTPUT_LIMIT = 1_000_000
COMMAND_LIMIT = 2_000
_WORDS_LIMIT = 100_000
_TOGETHER_S = 0.05
_NO_TIMES = "transcript.jsonl is damaged or incomplete: the times of some commands are not known"


class Commands(Struct, frozen=True):
    """What was found, and what a reader must know about it."""

    commands: tuple[ShownCommand, ...]
    notes: tuple[str, ...] = ()


def load_commands(root: str, folder: tuple[str, ...], start: float) -> Commands:
    """Every command of an attempt in order; `start` stands in for times that are not known.

    The JSON lines count. Where one is damaged or missing (a run that broke off, a command that still runs), the text
    form fills in.
    """
    notes: list[str] = []
    lines: list[CommandRecord | None] = []
    if records := try_read(root, *folder, "transcript.jsonl", limit=JSON_LIMIT):
        if records.is_truncated:
            read = amount(len(records.data))
            notes.append(f"transcript.jsonl is cut: {amount(records.size)}, {read} were read")
        for line in records.data.split(b"\n")[:-1]:
            try:
                lines.append(msgspec.json.decode(line, type=CommandRecord))
            except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
                lines.append(None)
    text = try_read(root, *folder, "transcript.txt", limit=TEXT_LIMIT)
    from_text = parse_text(text.text) if text else []
    if text and text.is_truncated and len(lines) < len(from_text):
        notes.append(f"transcript.txt is cut: {amount(text.size)}")
    found, is_damaged = _join(lines, from_text, start)
    if len(found) > COMMAND_LIMIT:
        notes.append(f"{len(found)} commands: the first {COMMAND_LIMIT} are shown")
    if is_damaged:
        notes.append(_NO_TIMES)
    shown = tuple(
        _shortened(command, number, notes) for number, command in enumerate(found[:COMMAND_LIMIT], 1)
    )
    return Commands(shown, tuple(notes))


def _join(
    lines: Sequence[CommandRecord | None], from_text: Sequence[TextCommand], start: float
) -> tuple[list[ShownCommand], bool]:
    """Line by line; for the n-th that is damaged or missing the n-th command of the text."""
    commands: list[ShownCommand] = []
    is_damaged = False
    now = start
    for number in range(max(len(lines), len(from_text))):
        record = lines[number] if number < len(lines) else None
        if record is not None:
            commands.append(_from_record(record))
        elif number < len(from_text):
            text = from_text[number]
            output = tuple(_merged([Output(stream, 0.0, printed) for stream, printed in text.output]))
            shown = ShownCommand(
                text.command, text.comment, "", now, 0.0, text.exit_code, text.is_timed_out, output
            )
            commands.append(shown)
        # The last command of the text may still run; all before it have ended and have a line.
        is_damaged = is_damaged or (record is None and number < max(len(lines), len(from_text) - 1))
        now = commands[-1].start + commands[-1].duration_s if commands else start
    return commands, is_damaged


def _from_record(record: CommandRecord) -> ShownCommand:
    # A character that was cut in two by a read is put together again.
    decoders = {name: codecs.getincrementaldecoder("utf-8")("replace") for name in ("stdout", "stderr")}
    pieces = []
    for piece in record.chunks:
        try:
            data = piece.data
        except (binascii.Error, ValueError):
            data = b""
        pieces.append(Output(piece.stream, piece.at, decoders[piece.stream].decode(data)))
    at = pieces[-1].at if pieces else 0.0
    pieces += [Output(name, at, decoders[name].decode(b"", True)) for name in ("stdout", "stderr")]
    return ShownCommand(
        record.command,
        record.comment,
        record.cwd,
        moment(record.start),
        length(record.duration),
        record.exit_code,
        record.timed_out,
        tuple(_merged(pieces)),
        terminal=one_line(record.terminal),
    )


def _merged(pieces: Sequence[Output]) -> list[Output]:
    """Pieces of one stream that came together are one."""
    merged: list[Output] = []
    texts: list[str] = []
    for piece in pieces:
        if not piece.text:
            continue
        before = merged[-1] if merged else None
        if before and before.stream == piece.stream and piece.at - before.at <= _TOGETHER_S:
            texts.append(piece.text)
            continue
        _close(merged, texts)
        merged.append(piece)
        texts = [piece.text]
    _close(merged, texts)
    return merged


def _close(merged: list[Output], texts: list[str]) -> None:
    if len(texts) > 1:
        merged[-1] = msgspec.structs.replace(merged[-1], text="".join(texts))


def _shortened(command: ShownCommand, number: int, notes: list[str]) -> ShownCommand:
    """Without what no reader can take in: of a flood the beginning and the end are kept."""
    words = [
        text if len(text) <= _WORDS_LIMIT else f"{text[:_WORDS_LIMIT]} […]"
        for text in (command.command, command.comment, command.cwd)
    ]
    size = sum(len(piece.text) for piece in command.output)
    output = command.output
    if size > OUTPUT_LIMIT:
        half = OUTPUT_LIMIT // 2
        left_out = f"{size - OUTPUT_LIMIT:,} characters"
        notes.append(f"the output of command {number} is cut: {left_out} in its middle are left out")
        gap = Output("stdout", output[-1].at, f"\n[… {left_out} left out …]\n")
        output = (*_first(output, half), gap, *reversed(_first(output[::-1], half, is_tail=True)))
    return msgspec.structs.replace(
        command, command=words[0], comment=words[1], cwd=one_line(words[2]), output=output
    )


def _first(pieces: Sequence[Output], limit: int, *, is_tail: bool = False) -> list[Output]:
    kept: list[Output] = []
    for piece in pieces:
        if limit <= 0:
            break
        text = piece.text[-limit:] if is_tail else piece.text[:limit]
        kept.append(msgspec.structs.replace(piece, text=text))
        limit -= len(text)
    return kept
