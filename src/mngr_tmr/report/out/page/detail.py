"""A tab's detail, read when it is opened: an agent's attempt, one of its tries beside its recording, or a check."""

import os
from collections.abc import Iterable

import msgspec

from mngr_e2e.view.detail import PlayableRecording, load_detail, load_recordings
from mngr_e2e.view.files import FileContent, amount, try_entries, try_read
from mngr_e2e.view.tapes import LIMIT, read_tape
from mngr_lib.safe_text import one_line
from mngr_tmr.model.verdict import Verified
from mngr_tmr.report.data.counts import plural
from mngr_tmr.report.data.rows import ReportRow
from mngr_tmr.report.out.page.tabs import ARTIFACTS, CHECK, OUTBOX, AgentTab, KitTab, Tab
from mngr_view.records import Cast, ConversationTurn, Detail, Text

_CONVERSATION = 8_000_000
_TURNS = 2_000
_TURN = 40_000
_TEXT = 256_000
_FILES = 200
_OWN = frozenset(("prompt.md", "conversation.jsonl", "recording.cast", OUTBOX, CHECK))


def load_tab(tab: Tab, row: ReportRow) -> tuple[Detail, tuple[PlayableRecording, ...]]:
    """The detail and its recordings; never fails, whatever lies in the folder."""
    if isinstance(tab, KitTab):
        own = agent_recording(tab.agent) if tab.agent else ()
        recordings = (*load_recordings(tab.attempt), *own)
        return load_detail(tab.attempt, recordings), recordings
    recordings = tuple(agent_recording(tab))
    record = row.record
    is_last = record is not None and record.attempt == tab.number
    after = record.after if record and is_last else None
    failure = ""
    if after and after.verdict != "passed":
        failed = (run.message for run in after.runs if run.outcome != "passed" and run.message)
        failure = next(failed, after.reason)
    conversation, talk_notes = _conversation(tab)
    places = ((tab.name,), (tab.name, OUTBOX))
    names = [
        one_line(os.path.join(*place[1:], entry.name)) + ("" if entry.kind == "file" else f" ({entry.kind})")
        for place in places
        for entry in try_entries(tab.task, *place)
        if entry.name not in _OWN and entry.name != ARTIFACTS
    ]
    more = len(names) - _FILES
    files, file_notes = tuple(names[:_FILES]), [f"{more} more files are in the folder"] if more > 0 else []
    notes = row.notes if is_last else ("this attempt was cut off",)
    return Detail(
        commands=(),
        citations=row.task.blocks,
        failure=failure,
        casts=tuple(recording.cast for recording in recordings),
        files=files,
        notes=(*notes, *talk_notes, *file_notes),
        conversation=conversation,
        texts=tuple(_texts(tab, row if is_last else None)),
    ), recordings


def agent_recording(tab: AgentTab) -> Iterable[PlayableRecording]:
    """The recording of the agent's own terminal, where there is one."""
    found = try_read(tab.task, tab.name, "recording.cast", limit=LIMIT)
    if found is None:
        return
    tape = read_tape(found)
    cast = Cast("the agent", tape.start, tape.duration_s, tape.cols, tape.rows, tab.cast_key, tape.problem)
    yield PlayableRecording(cast, tape, tape.start + tape.duration_s if tape.has_end else 0.0)


def _conversation(tab: AgentTab) -> tuple[tuple[ConversationTurn, ...], list[str]]:
    """The turns that can be shown, and what a reader must know about the others."""
    found = try_read(tab.task, tab.name, "conversation.jsonl", limit=_CONVERSATION)
    lines = [line for line in found.data.split(b"\n") if line.strip()] if found else []
    turns, damaged = [], 0
    for line in lines[:_TURNS]:
        try:
            turn = msgspec.json.decode(line, type=ConversationTurn)
        except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
            damaged += 1
            continue
        shortened = f" […] ({len(turn.text) - _TURN:,} more characters)" if len(turn.text) > _TURN else ""
        turns.append(ConversationTurn(one_line(turn.role)[:40], turn.text[:_TURN] + shortened, turn.at))
    notes = [f"{plural(damaged, 'damaged line')} of the conversation left out"] if damaged else []
    notes += [f"{len(lines)} turns: the first {_TURNS} are shown"] if len(lines) > _TURNS else []
    return tuple(turns), notes


def _texts(tab: AgentTab, row: ReportRow | None) -> Iterable[Text]:
    """The result as it was received, the prompt, and the output of our own runs of the test."""
    found = try_read(tab.task, tab.name, OUTBOX, "result.json", limit=_TEXT)
    if found:
        claim = row.record.claim if row and row.record else None
        note = claim.problem if claim else ""
        yield _text("the result as it was received", found, note)
    record = row.record if row else None
    for title, seen in (("the check at its commit", "after"), ("the check at the base", "before")):
        verified: Verified | None = getattr(record, seen) if record else None
        if (
            verified
            and verified.verdict != "passed"
            and not (seen == "before" and record and record.after is verified)
        ):
            parts = [
                verified.reason,
                *(f"{run.outcome} ({run.duration_s:.1f} s)\n{run.message}" for run in verified.runs),
            ]
            yield Text(title, "\n\n".join(filter(None, parts))[:_TEXT], verified.verdict)
    prompt = try_read(tab.task, tab.name, "prompt.md", limit=_TEXT)
    if prompt:
        yield _text("its prompt", prompt)


def _text(title: str, found: FileContent, note: str = "") -> Text:
    shortened = f"{amount(found.size)}, cut" if found.is_truncated else ""
    return Text(title, found.text, "; ".join(filter(None, (note, shortened))))
