"""All that a report tells of a run at one moment, ready to be written in any form. Pure."""

from collections import Counter
from collections.abc import Sequence
from typing import Literal

from msgspec import Struct

from mngr_tmr.engine.integration import IntegrationState
from mngr_tmr.engine.slots import SlotsState
from mngr_tmr.engine.steering import SteeringState
from mngr_tmr.engine.task_state import TaskPhase
from mngr_tmr.model.integration import Integration
from mngr_tmr.model.measured import headline
from mngr_tmr.model.money import Amount, Used
from mngr_tmr.model.record import StageSpan, TaskRecord
from mngr_tmr.model.run import RunSpec
from mngr_tmr.model.usage import AgentUsage, add_usages
from mngr_tmr.report.data.causes import FailureCause, find_causes
from mngr_tmr.report.data.escalations import RaisedEscalation, group_escalations
from mngr_tmr.report.data.rows import ReportRow, make_rows
from mngr_tmr.report.data.run_marks import RunMark
from mngr_tmr.report.data.sections import NAMES, SECTIONS, SectionName

ReportState = Literal["running", "integrating", "interrupted", "failed", "finished"]

CLEAN, NO_RESULT, LOST, FINDINGS = 0, 1, 3, 8
_UNDONE: tuple[SectionName, ...] = ("needs_you", "running", "queued", "not_run")
_NO_ANSWER: tuple[SectionName, ...] = (*_UNDONE, "infrastructure", "malformed")


class RunReading(Struct, frozen=True):
    """A run as its folder tells it now; `problems` are files of it that could not be read.

    `phases` tell by slug what a task that is under way is at, and since when; `silent` are those whose busy agents show
    no sign of life. `stage` is the integration as the journal tells it, with a span for each of its steps.
    `slot_spans` are the numbers of slots that the run had, and `limited` the tasks whose agents wait for a limit.
    `away_s` is time in which no process was at work on the run, `spent` what agents used as a budget counts it,
    `committed` that and what is set aside for those at work, `limit` the budget of the run.
    """

    spec: RunSpec
    records: tuple[TaskRecord, ...]
    integration: Integration | None = None
    is_alive: bool = False
    last_at: float = 0.0
    problems: tuple[str, ...] = ()
    used_slots: int = 0
    phases: dict[str, tuple[TaskPhase, float]] = {}
    stage: IntegrationState = IntegrationState()
    stage_spans: tuple[StageSpan, ...] = ()
    away_s: float = 0.0
    silent: frozenset[str] = frozenset()
    steering: SteeringState = SteeringState()
    spent: Used = Used()
    slots: SlotsState = SlotsState()
    slot_spans: tuple[StageSpan, ...] = ()
    limited: frozenset[str] = frozenset()
    committed: Used = Used()
    limit: Amount | None = None
    marks: tuple[RunMark, ...] = ()

    @property
    def took_s(self) -> float:
        """How long the run was at work so far, integration included."""
        return max(self.last_at - self.spec.created_at - self.away_s, 0.0)


class ReportModel(Struct, frozen=True):
    """Rows in order, causes, escalations, and their totals."""

    now: RunReading
    rows: tuple[ReportRow, ...]
    causes: tuple[FailureCause, ...]
    raised: tuple[RaisedEscalation, ...]
    state: ReportState
    exit_code: int
    usage: AgentUsage

    @property
    def spec(self) -> RunSpec:
        return self.now.spec

    @property
    def integration(self) -> Integration | None:
        return self.now.integration

    @property
    def headline(self) -> str:
        """How the tests do on the branch; empty where that was not measured."""
        one = self.now.integration
        return headline(one.measured, is_base=one.tip == one.base) if one else ""

    @property
    def collected(self) -> int:
        """How many rows are tests that were collected."""
        return sum(row.record is not None for row in self.rows)

    @property
    def is_over(self) -> bool:
        """Whether no process of this run will do anything more."""
        return self.state not in ("running", "integrating")

    def counts(self) -> dict[SectionName, int]:
        """How many rows each section has, in the order of the sections, empty ones left out."""
        counts = Counter(row.section for row in self.rows)
        return {name: counts[name] for name in NAMES if counts[name]}

    def section(self, name: SectionName) -> tuple[ReportRow, ...]:
        return tuple(row for row in self.rows if row.section == name)


def make_report_model(now: RunReading) -> ReportModel:
    rows = make_rows(now.records, now.integration)
    raised = group_escalations(rows, now.integration)
    progress = now.stage.progress
    state: ReportState = "failed" if progress == "failed" else "finished"
    if now.is_alive:
        state = "integrating" if progress == "running" else "running"
    elif progress == "running" or any(
        row.section in _UNDONE and not (row.record and row.record.cause == "cancelled") for row in rows
    ):
        state = "interrupted"
    return ReportModel(
        now,
        rows,
        find_causes(rows),
        raised,
        state,
        exit_code(rows, raised, now.integration),
        add_usages(record.usage for record in now.records),
    )


def exit_code(
    rows: Sequence[ReportRow], raised: Sequence[RaisedEscalation] = (), integration: Integration | None = None
) -> int:
    """1: no task has a result that can be read. 3: some were lost or are not done. 8: something to look at. Else 0."""
    own = [row for row in rows if row.record is not None]
    if all(row.section in _NO_ANSWER for row in own):
        return NO_RESULT
    if any(row.section in (*_UNDONE, "infrastructure") for row in own):
        return LOST
    if raised or any(SECTIONS[row.section].is_finding for row in rows):
        return FINDINGS
    if integration is not None and (
        integration.tip != integration.base
        or integration.conflicts
        or integration.weakenings
        or any(not gate.passed for gate in integration.gates)
    ):
        return FINDINGS
    return CLEAN
