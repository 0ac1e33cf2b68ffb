"""`summary.json`: the report for programs, schema 1."""

import os
from typing import Any

import msgspec
from msgspec import Struct

from mngr_tmr.engine.integration import IntegrationState
from mngr_tmr.model.estimate import Calibration, Estimate, RunEstimate
from mngr_tmr.model.integration import Account, Fix, Gate, WeakenedAssertion
from mngr_tmr.model.level import Level
from mngr_tmr.model.measured import BranchCounts, MeasuredOutcomes, count
from mngr_tmr.model.result import Blocked, Change
from mngr_tmr.model.usage import NO_USAGE, AgentUsage
from mngr_tmr.report.data.causes import FailureCause, count_failures
from mngr_tmr.report.data.escalations import RaisedEscalation
from mngr_tmr.report.data.levels import levels_of
from mngr_tmr.report.data.report_model import ReportModel, ReportState
from mngr_tmr.report.data.rows import MergedChange, ReportRow, verdict
from mngr_tmr.report.data.saved import SavedAgents, saved_agents
from mngr_tmr.report.data.sections import SectionName
from mngr_tmr.run_folder.folder import RunFolder

SCHEMA = 1
_RAW = 20_000


class RowSummary(Struct, frozen=True, omit_defaults=True):
    """One test. `claimed` is what its agent says of it at the end, `before` and `after` what we saw ourselves.

    `worked_s` is how long its agents were at work, and `estimate` what it was expected to use.
    `fixed_by` is the task whose work fixed it without an agent of its own.
    `measured` is the test at the base, at its agent's commit and at the tip of the branch, with the reasons.
    """

    test: str
    section: SectionName
    why: str = ""
    task: str = ""
    outcome: str = ""
    claimed: str = ""
    before: str = ""
    after: str = ""
    summary: str = ""
    changes: tuple[Change, ...] = ()
    branch: str = ""
    commit: str = ""
    merged_as: tuple[MergedChange, ...] = ()
    accounts: tuple[Account, ...] = ()
    blocked: Blocked | None = None
    stage: str = ""
    message: str = ""
    problem: str = ""
    raw: str = ""
    agent: str = ""
    attempt: int = 0
    artifacts: str = ""
    usage: AgentUsage = NO_USAGE
    notes: tuple[str, ...] = ()
    added_by: str = ""
    measured: MeasuredOutcomes | None = None
    worked_s: float = 0.0
    estimate: Estimate | None = None
    fixed_by: str = ""


class BranchSummary(Struct, frozen=True, omit_defaults=True):
    """The integrated branch; `tip` equals the base when nothing was integrated.

    `counts` and `headline` are of all rows at the tip; they are left out where that was not measured.
    """

    name: str
    tip: str
    squashed: str = ""
    fixes: tuple[Fix, ...] = ()
    gates: tuple[Gate, ...] = ()
    weakenings: tuple[WeakenedAssertion, ...] = ()
    conflicts: tuple[dict[str, Any], ...] = ()
    notes: tuple[str, ...] = ()
    pr_url: str = ""
    headline: str = ""
    counts: BranchCounts | None = None


class Summary(Struct, frozen=True):
    """The whole file. `counts` are rows by section, `failures` the tests with a failure, each in one cause.

    `model` is the one that was asked for, and `levels` what was done at each number of slots in use. `estimate` is what
    the run was expected to use, `calibration` how good the estimates of the last runs were, this one included.
    `saved` counts the tests that needed no agent because the work for another fixed them.
    `exit_code` is None until the run is over, its integration included; `took_s` is how long it was at work.
    """

    run: str
    repo: str
    base: str
    created_at: float
    state: ReportState
    exit_code: int | None
    collected: int
    counts: dict[str, int]
    failures: int
    causes: tuple[FailureCause, ...]
    escalations: tuple[RaisedEscalation, ...]
    rows: tuple[RowSummary, ...]
    branch: BranchSummary | None = None
    usage: AgentUsage = NO_USAGE
    problems: tuple[str, ...] = ()
    took_s: float = 0.0
    integration: IntegrationState = IntegrationState()
    schema: int = SCHEMA
    agent_type: str = ""
    model: str = ""
    slots: int = 0
    levels: tuple[Level, ...] = ()
    estimate: Estimate | None = None
    calibration: Calibration | None = None
    saved: SavedAgents | None = None


def make_summary(model: ReportModel, folder: RunFolder, calibration: Calibration | None = None) -> Summary:
    spec, one = model.spec, model.integration
    branch = (
        None
        if one is None
        else BranchSummary(
            name=one.branch,
            tip=one.tip,
            squashed=one.squashed,
            fixes=one.fixes,
            gates=one.gates,
            weakenings=one.weakenings,
            conflicts=one.conflicts,
            notes=one.notes,
            pr_url=one.pr_url,
            headline=model.headline,
            counts=count(one.measured) if one.measured else None,
        )
    )
    return Summary(
        spec.id,
        spec.repo,
        spec.base,
        spec.created_at,
        model.state,
        model.exit_code if model.is_over else None,
        model.collected,
        {str(name): count for name, count in model.counts().items()},
        count_failures(model.causes),
        model.causes,
        model.raised,
        tuple(_row(row, folder, spec.estimate) for row in model.rows),
        branch,
        model.usage,
        model.now.problems,
        model.now.took_s,
        model.now.stage,
        agent_type=spec.options.type,
        model=spec.options.model,
        slots=spec.options.slots,
        levels=levels_of(model.now),
        estimate=spec.estimate.total if spec.estimate else None,
        calibration=calibration,
        saved=saved_agents(spec, model.now.records),
    )


def summary_schema() -> dict[str, Any]:
    """The JSON schema of the file, made from the records above."""
    return msgspec.json.schema(Summary)


def _row(row: ReportRow, folder: RunFolder, estimate: RunEstimate | None) -> RowSummary:
    result, record = row.result, row.record
    if record is None:
        return RowSummary(
            row.task.node_id,
            row.section,
            row.why,
            after=row.outcome,
            notes=row.notes,
            added_by=row.added_by,
            measured=row.measured,
        )
    claim = record.claim
    return RowSummary(
        test=row.task.node_id,
        section=row.section,
        why=row.why,
        task=row.task.slug,
        outcome=row.outcome,
        claimed=row.claimed,
        before=verdict(record.before),
        after=row.verdict,
        summary=result.summary if result else "",
        changes=result.changes if result else (),
        branch=record.branch,
        commit=record.commit,
        merged_as=row.merged,
        accounts=row.accounts,
        blocked=result.blocked if result else None,
        stage=record.stage,
        message=record.message,
        problem=claim.problem if claim else "",
        raw=claim.raw[:_RAW] if claim and claim.problem else "",
        agent=record.agent,
        attempt=record.attempt,
        artifacts=os.path.relpath(record.folder, folder.path) if record.folder else "",
        usage=record.usage,
        notes=row.notes,
        measured=row.measured,
        worked_s=record.worked_s,
        estimate=estimate.tasks.get(record.task.slug) if estimate else None,
        fixed_by=record.fixed_by,
    )
