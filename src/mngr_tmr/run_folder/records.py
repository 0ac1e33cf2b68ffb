"""What became of every task, from the journal and the run's folder: what integrate and report read."""

import os
from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import Any

import mngr
from mngr_tmr.engine.admission import wait_of
from mngr_tmr.engine.journal import read_journal
from mngr_tmr.engine.state import RunState, fold
from mngr_tmr.engine.task_state import TaskPhase, TaskState
from mngr_tmr.model.dependencies import Dependencies, DependencyTable
from mngr_tmr.model.entry import Entry
from mngr_tmr.model.facts import SlotsChanged
from mngr_tmr.model.record import Commit, End, StageSpan, TaskRecord, TaskSpan
from mngr_tmr.model.result import Claim
from mngr_tmr.model.run import RunSpec
from mngr_tmr.model.task import Task
from mngr_tmr.model.usage import add_usages, read_usage
from mngr_tmr.model.verdict import Verified
from mngr_tmr.run_folder.attempt import PulledAttempt, read_attempt_claim
from mngr_tmr.run_folder.commits import read_commits
from mngr_tmr.run_folder.folder import RunFolder, read_json, read_spec

_SPANS = {
    TaskPhase.QUEUED: "queue",
    TaskPhase.LAUNCHING: "launch",
    TaskPhase.WORKING: "work",
    TaskPhase.ENDING: "pull",
    TaskPhase.PULLING: "pull",
    TaskPhase.STOPPING: "stop",
    TaskPhase.TO_VERIFY: "queue",
    TaskPhase.VERIFYING: "verify",
}


class Records:
    """A run as it is on the disk now: its spec, its state, one record per collected test."""

    def __init__(
        self,
        folder: RunFolder,
        *,
        entries: Sequence[Entry] | None = None,
        base: Mapping[str, Verified] | None = None,
    ) -> None:
        """Reads the folder, but for what a caller has read already, leaving out what is damaged."""
        self.folder, self.spec = folder, read_spec(folder)
        if entries is None:
            entries = read_journal(folder.journal) if os.path.exists(folder.journal) else ()
        self.entries = tuple(entries)
        self.state = fold(self.spec, self.entries)
        self._base = read_base(folder) if base is None else base
        self._spans = spans(self.spec, self.entries)

    def stage_spans(self, until: float) -> tuple[StageSpan, ...]:
        """The steps of every integration of the run, in order; one that is not over lasts until then.

        The end of a step in which the process was killed is not known, and it is left out.
        """
        marks = [entry for entry in self.entries if entry.step == "integrate"]
        marks.append(Entry(until, "integrate", "done"))
        return tuple(
            StageSpan(entry.message or "preparing", entry.at, following.at)
            for entry, following in pairwise(marks)
            if entry.kind in ("intended", "noted")
            and following.kind != "intended"
            and following.at > entry.at
        )

    def slot_spans(self, until: float) -> tuple[StageSpan, ...]:
        """How many slots there were and why, as stretches of time; none where their number did not change."""
        changes = [
            (entry.at, entry.message) for entry in self.entries if isinstance(entry.fact, SlotsChanged)
        ]
        if not changes:
            return ()
        marks = [(self.spec.created_at, "as many slots as configured"), *changes, (until, "")]
        return tuple(StageSpan(words, at, end) for (at, words), (end, _) in pairwise(marks) if end > at)

    def tasks(self) -> tuple[TaskRecord, ...]:
        return tuple(self.record(task) for task in self.spec.tasks)

    def record(self, task: Task) -> TaskRecord:
        state = self.state.tasks[task.slug]
        pulled = (
            _read(self.folder.file(task.slug, state.attempt, "pulled.json"), PulledAttempt) or PulledAttempt()
        )
        claim = read_attempt_claim(self.folder, task, state.attempt)
        before = self._base.get(task.node_id)
        fixed_by = state.fix if state.phase == TaskPhase.ENDED else ""
        verified = "tried.json" if fixed_by else "verified.json"
        after = _read(self.folder.file(task.slug, state.attempt, verified), Verified)
        if after is None and pulled.commit == self.spec.base:
            after = before
        commits: tuple[Commit, ...] = ()
        if pulled.commit and pulled.commit != self.spec.base:
            commits = self._commits(pulled.commit, claim)
        return TaskRecord(
            task,
            _end(state, self.state.stopped_why),
            0 if state.is_skipped else state.attempt,
            "" if state.is_skipped else state.agent,
            state.stage,
            self._message(state),
            claim,
            before,
            after,
            pulled.branch,
            pulled.commit,
            commits,
            self.folder.attempt(task.slug, state.attempt),
            self._spans.get(task.slug, ()),
            add_usages(
                read_usage(self.folder.file(task.slug, attempt, "usage.json"))
                for attempt in range(1, state.attempt + 1)
            ),
            (*state.notes, *pulled.notes),
            state.asks,
            state.question,
            state.cause,
            fixed_by,
        )

    def _message(self, state: TaskState) -> str:
        if state.is_skipped:
            return self.spec.skipped[state.slug].reason
        return state.message if state.phase != TaskPhase.QUEUED else self.why_queued(state.slug)

    def why_queued(self, slug: str) -> str:
        """Why a queued task has no agent yet; empty where it only waits for a slot."""
        wait = wait_of(self.state, slug, self.state.last_at) if self.state.may_launch else None
        return wait.text if wait else self.state.stopped_why

    def _commits(self, tip: str, claim: Claim | None) -> tuple[Commit, ...]:
        """A commit that is gone from the repository since leaves its row without commits."""
        spec = self.spec
        try:
            return read_commits(spec.repo, spec.base, tip, claim, spec.options.implementation, spec.tutorial)
        except mngr.MngrError:
            return ()


def read_base(folder: RunFolder) -> dict[str, Verified]:
    """The verdicts on the base commit; empty while they are not known."""
    return _read(folder.base, dict[str, Verified]) or {}


def read_base_dependencies(folder: RunFolder) -> dict[str, Dependencies]:
    """What each test that passed at the base depends on; empty where that is not known."""
    try:
        return (_read(folder.base_dependencies, DependencyTable) or DependencyTable()).unpacked()
    except (mngr.MngrError, LookupError):
        return {}


def spans(spec: RunSpec, entries: Sequence[Entry]) -> dict[str, tuple[TaskSpan, ...]]:
    """Every task's life as stretches of time, all attempts in one line."""
    run = RunState(spec)
    marks = {slug: [(spec.created_at, state.phase)] for slug, state in run.tasks.items()}
    for entry in entries:
        for task in run.apply(entry):
            if run.tasks[task].phase != marks[task][-1][1]:
                marks[task].append((entry.at, run.tasks[task].phase))
    return {
        slug: tuple(
            TaskSpan(_SPANS[phase], start, end)  # type: ignore[arg-type]
            for (start, phase), (end, _) in pairwise([*found, (run.last_at, TaskPhase.ENDED)])
            if phase in _SPANS and end > start
        )
        for slug, found in marks.items()
    }


def _end(state: TaskState, stopped_why: str) -> End:
    if state.is_skipped:
        return "skipped"
    if state.phase == TaskPhase.QUEUED:
        return "not_run" if stopped_why else "queued"
    if state.phase != TaskPhase.ENDED:
        return "running"
    if state.was_interrupted or state.cause == "cancelled":
        return "not_run"
    return "failed" if state.has_failed else "result"


def _read(path: str, kind: Any) -> Any:
    try:
        return read_json(path, kind)
    except FileNotFoundError:
        return None
