"""Reads a run's folder at any moment, half a run and a damaged one as well: what cannot be read is reported."""

import os
import time
from typing import Any

import msgspec
from msgspec.structs import replace

import mngr
from mngr_tmr.agent_text import one_line
from mngr_tmr.engine.state import RunState
from mngr_tmr.engine.task_state import TaskPhase
from mngr_tmr.model.entry import Entry
from mngr_tmr.model.integration import Integration
from mngr_tmr.model.old_entries import read_entry
from mngr_tmr.model.record import TaskRecord
from mngr_tmr.model.task import Task
from mngr_tmr.model.verdict import Verified
from mngr_tmr.report.data.report_model import RunReading
from mngr_tmr.report.data.run_marks import run_marks
from mngr_tmr.run_folder.attempt import read_attempt_claim
from mngr_tmr.run_folder.folder import RunFolder, read_json, read_spec
from mngr_tmr.run_folder.liveness import is_alive
from mngr_tmr.run_folder.records import Records

_UNREADABLE = (mngr.MngrError, OSError, msgspec.MsgspecError, ValueError, RecursionError)
_IMPOSSIBLE = (KeyError, msgspec.MsgspecError, TypeError, AttributeError)
_FILES = ("pulled.json", "verified.json", "tried.json", "usage.json", os.path.join("outbox", "result.json"))


class RunReader:
    """One run, read again and again; a task whose files are as they were is not read a second time."""

    def __init__(self, folder: RunFolder) -> None:
        self.folder = folder
        self._known: dict[str, tuple[object, TaskRecord]] = {}

    def read(self) -> RunReading:
        """The run now. Only a `run.json` that cannot be read is an error."""
        problems: list[str] = []
        alive = is_alive(self.folder)
        records = _records(self.folder, problems)
        integration = _try_json(self.folder.integration, Integration, problems)
        return RunReading(
            replace(records.spec, options=records.state.options),
            tuple(self._record(records, task, problems) for task in records.spec.tasks),
            integration,
            alive,
            records.state.last_at,
            tuple(problems),
            records.state.used_slots,
            {slug: (task.phase, task.phase_since) for slug, task in records.state.tasks.items()},
            records.state.integration,
            records.stage_spans(time.time() if alive else records.state.last_at),
            records.state.away_s,
            frozenset(slug for slug, task in records.state.tasks.items() if task.silent_since),
            records.state.steering,
            records.state.budget.spent,
            records.state.slots,
            records.slot_spans(time.time() if alive else records.state.last_at),
            frozenset(slug for slug, task in records.state.tasks.items() if task.limited_at),
            committed=records.state.budget.committed,
            limit=records.state.budget.rules.total,
            marks=run_marks(records.entries),
        )

    def _record(self, records: Records, task: Task, problems: list[str]) -> TaskRecord:
        state = records.state.tasks[task.slug]
        end = 0.0 if state.phase == TaskPhase.ENDED else records.state.last_at
        paths = (self.folder.base, *(self.folder.file(task.slug, state.attempt, name) for name in _FILES))
        why = records.why_queued(task.slug) if state.phase == TaskPhase.QUEUED else ""
        mark = (state, end, why, tuple(map(_mark, paths)))
        known = self._known.get(task.slug)
        if known and known[0] == mark:
            return known[1]
        try:
            record = records.record(task)
        except _UNREADABLE as error:
            problem = f"its files cannot be read: {_words(error)}"
            problems.append(f"{task.node_id}: {problem}")
            claim = read_attempt_claim(self.folder, task, state.attempt)
            return TaskRecord(task, "failed", state.attempt, state.agent, "report", problem, claim)
        self._known[task.slug] = (mark, record)
        return record


def read_run(folder: RunFolder) -> RunReading:
    return RunReader(folder).read()


def read_entries(path: str, problems: list[str]) -> tuple[Entry, ...]:
    """Every entry of a journal that can be read. An incomplete last line is still being written; damage is reported."""
    try:
        with open(path, "rb") as file:
            lines = file.read().split(b"\n")[:-1]
    except FileNotFoundError:
        return ()
    except OSError as error:
        problems.append(f"journal.jsonl cannot be read: {error.strerror}")
        return ()
    entries, damaged = [], 0
    for line in lines:
        try:
            entries.append(read_entry(line))
        except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
            damaged += 1
    if damaged:
        problems.append(f"journal.jsonl: {damaged} damaged line{'s' * (damaged > 1)} left out")
    return tuple(entries)


def _records(folder: RunFolder, problems: list[str]) -> Records:
    entries = read_entries(folder.journal, problems)
    base = _try_json(folder.base, dict[str, Verified], problems) or {}
    try:
        return Records(folder, entries=entries, base=base)
    except _IMPOSSIBLE:
        state, kept, left_out = RunState(read_spec(folder)), [], 0
        for entry in entries:
            try:
                state.apply(entry)
                kept.append(entry)
            except _IMPOSSIBLE:
                left_out += 1
        problems.append(f"journal.jsonl: {left_out} entries make no sense and are left out")
        return Records(folder, entries=kept, base=base)


def _try_json(path: str, kind: Any, problems: list[str]) -> Any:
    try:
        return read_json(path, kind)
    except FileNotFoundError:
        return None
    except _UNREADABLE as error:
        problems.append(f"{os.path.basename(path)} cannot be read: {_words(error)}")
        return None


def _mark(path: str) -> tuple[int, int]:
    try:
        facts = os.lstat(path)
    except OSError:
        return 0, 0
    return facts.st_mtime_ns, facts.st_size


def _words(error: BaseException) -> str:
    return one_line(str(error) or type(error).__name__)
