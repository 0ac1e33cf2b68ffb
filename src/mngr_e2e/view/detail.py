"""One attempt's folder to the detail that the page shows, with its recordings."""

from collections.abc import Iterator, Sequence

import msgspec
from msgspec import Struct

from mngr_e2e.recorder.ledger import CASTS
from mngr_e2e.recorder.recordings import Recorded, parse_index
from mngr_e2e.recorder.writer import INDEX
from mngr_e2e.view.attempts import CITED, FAILURE, AttemptFolder
from mngr_e2e.view.commands import load_commands
from mngr_e2e.view.files import FolderEntry, amount, try_entries, try_read
from mngr_e2e.view.tapes import LIMIT, Tape, read_tape
from mngr_e2e.view.times import moment
from mngr_lib.safe_text import one_line
from mngr_view.records import Cast, Detail, ScreenText, Seek, ShownCommand

CAST_LIMIT = 40
SCREEN_LIMIT = 200
FILE_LIMIT = 200
_TEXT_LIMIT = 256_000
_ERROR_LIMIT = 4_000
_KNOWN = frozenset(("meta.json", "transcript.txt", "transcript.jsonl", CITED, FAILURE))
_UNFINISHED = "meta.json.new"
"""What a killed process left beside its `meta.json` begins with this."""


class PlayableRecording(Struct, frozen=True):
    """A recording of an attempt: its place in the page and what it holds; `terminal` is the name of its terminal."""

    cast: Cast
    tape: Tape
    end: float
    terminal: str = ""


def load_detail(attempt: AttemptFolder, recordings: Sequence[PlayableRecording]) -> Detail:
    """Everything of an attempt but its recordings' text; never fails, whatever the folder holds."""
    start, end = attempt.start, attempt.start + attempt.duration_s
    found = load_commands(attempt.root, attempt.names, start)
    notes = [*attempt.notes, *found.notes]
    entries = [one for one in try_entries(attempt.root, *attempt.names, "screens") if one.kind == "file"]
    screens = []
    for entry in entries[:SCREEN_LIMIT]:
        screen = try_read(attempt.root, *attempt.names, "screens", entry.name, limit=_TEXT_LIMIT)
        if screen:
            name = one_line(entry.name.rpartition(".")[0] or entry.name)
            screens.append(ScreenText(name, screen.text.rstrip("\n")))
    if len(entries) > SCREEN_LIMIT:
        notes.append(f"{len(entries) - SCREEN_LIMIT} more screens are in the folder")
    notes += _cast_notes(attempt)
    files = list(_others(attempt, ()))
    if len(files) > FILE_LIMIT:
        notes.append(f"{len(files) - FILE_LIMIT} more files are in the folder")
    failure = try_read(attempt.root, *attempt.names, FAILURE, limit=_TEXT_LIMIT)
    if failure and failure.is_truncated:
        notes.append(f"the failure's text is cut: {amount(failure.size)}")
    return Detail(
        commands=tuple(_with_seeks(command, recordings, end) for command in found.commands),
        citations=attempt.citations,
        failure=failure.text.rstrip() if failure else "",
        casts=tuple(recording.cast for recording in recordings),
        screens=tuple(screens),
        files=tuple(files[:FILE_LIMIT]),
        notes=tuple(notes),
    )


def load_recordings(attempt: AttemptFolder) -> Iterator[PlayableRecording]:
    """The recordings of an attempt one after another, in the order of the numbers in their names."""
    found = try_read(attempt.root, *attempt.names, CASTS, INDEX, limit=_TEXT_LIMIT)
    noted = parse_index(found.data) if found else {}
    for entry in cast_files(attempt):
        yield load_recording(attempt, entry.name, noted.get(entry.name))


def load_recording(attempt: AttemptFolder, name: str, noted: Recorded | None = None) -> PlayableRecording:
    found = try_read(attempt.root, *attempt.names, CASTS, name, limit=LIMIT)
    tape = read_tape(found) if found else Tape("", problem="it cannot be read")
    error = try_read(attempt.root, *attempt.names, CASTS, f"{name}.error", limit=_ERROR_LIMIT)
    problems = [tape.problem, error.text.strip() if error else ""]
    start = moment(noted.start) if noted else tape.start
    cast = Cast(
        title=one_line((noted.title if noted else "") or tape.title or name.removesuffix(".cast"))[:200],
        start=start,
        duration_s=tape.duration_s,
        cols=tape.cols,
        rows=tape.rows,
        chunk=attempt.cast_key(name),
        problem="; ".join(filter(None, problems)),
    )
    end = start + tape.duration_s if tape.has_end else 0.0
    return PlayableRecording(cast, tape, end, one_line(name.removesuffix(".cast")))


def cast_files(attempt: AttemptFolder) -> list[FolderEntry]:
    """The plain files among an attempt's casts, as many as a page shows."""
    found = [entry for entry in try_entries(attempt.root, *attempt.names, CASTS) if _is_cast(entry)]
    return found[:CAST_LIMIT]


def _is_cast(entry: FolderEntry) -> bool:
    return entry.kind == "file" and entry.name.endswith(".cast")


def _with_seeks(command: ShownCommand, recordings: Sequence[PlayableRecording], end: float) -> ShownCommand:
    """With the second in each recording that ran while the command did; one that began meanwhile from its start.

    What was done on a terminal leads into its own recording only.
    """
    seeks = []
    for number, recording in enumerate(recordings):
        start = recording.cast.start
        if command.terminal and command.terminal != recording.terminal:
            continue
        last = recording.end or max(start + recording.cast.duration_s, end)
        is_started = start <= command.start + command.duration_s or command.terminal
        if start and command.start and is_started and command.start <= last:
            second = min(max(command.start - start, 0.0), recording.cast.duration_s)
            seeks.append(Seek(number, round(second, 3)))
    return msgspec.structs.replace(command, seeks=tuple(seeks))


def _cast_notes(attempt: AttemptFolder) -> Iterator[str]:
    """What is in `casts/` and not on the page: recordings that failed before they had a file, links, too many."""
    entries = try_entries(attempt.root, *attempt.names, CASTS)
    names = {entry.name for entry in entries}
    for entry in entries:
        whole = entry.name.removesuffix(".error")
        if whole != entry.name and whole not in names:
            found = try_read(attempt.root, *attempt.names, CASTS, entry.name, limit=_ERROR_LIMIT)
            yield f"recording {one_line(whole)} failed: {found.text.strip() if found else 'the reason is not known'}"
        elif entry.name.endswith(".cast") and entry.kind != "file":
            yield f"{one_line(entry.name)} is a {entry.kind} and was not opened"
    if (casts := sum(map(_is_cast, entries))) > CAST_LIMIT:
        yield f"{casts} recordings: the first {CAST_LIMIT} are shown"


def _others(attempt: AttemptFolder, below: tuple[str, ...]) -> Iterator[str]:
    for entry in try_entries(attempt.root, *attempt.names, *below):
        if not below and (entry.name in (*_KNOWN, CASTS, "screens") or entry.name.startswith(_UNFINISHED)):
            continue
        path = one_line("/".join((*below, entry.name)))
        if entry.kind == "folder" and len(below) < 2:
            yield from _others(attempt, (*below, entry.name))
        else:
            yield path if entry.kind == "file" else f"{path} ({entry.kind})"
