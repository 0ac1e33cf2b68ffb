"""A row's work as the page shows it."""

from collections.abc import Iterable, Sequence

from mngr_tmr.agent_text import shown
from mngr_tmr.model.estimate import Estimate
from mngr_tmr.model.record import TaskRecord
from mngr_tmr.model.usage import AgentUsage
from mngr_tmr.report.data.escalations import RaisedEscalation
from mngr_tmr.report.data.rows import ReportRow, outcome_word, verdict
from mngr_tmr.report.out.estimate_lines import estimate_words
from mngr_tmr.report.out.progress import clock
from mngr_view.records import LabeledFact, MergedAs, Recipe, Work, WorkChange, WorkCommit

_PATHS = 200


def work_of(
    row: ReportRow,
    raised: Sequence[RaisedEscalation],
    recipes: Iterable[Recipe],
    estimate: Estimate | None = None,
) -> Work:
    """`matters` of the answer count from 0 in `raised`."""
    record, result = row.record, row.result
    on_branch = row.measured.tip.outcome if row.measured else ""
    if record is None:
        return Work(
            verdict=row.outcome,
            added_by=row.added_by,
            recipes=tuple(recipes),
            notes=row.notes,
            on_branch=on_branch,
        )
    blocked = result.blocked if result else None
    return Work(
        outcome=row.outcome,
        claimed=row.claimed,
        verdict=row.verdict,
        before_claimed=outcome_word(result.passed_before) if result else "",
        before=verdict(record.before),
        summary=result.summary if result else "",
        changes=tuple(
            WorkChange(one.kind, one.commits, one.summary, one.importance, one.reason)
            for one in (result.changes if result else ())
        ),
        commits=tuple(_commits(row, record)),
        merged=tuple(MergedAs(one.commit, one.kind, one.rank, one.title) for one in row.merged),
        branch=record.branch,
        commit=record.commit,
        needs=blocked.needs if blocked else "",
        matters=tuple(number for number, one in enumerate(raised) if row.task.node_id in one.tests),
        facts=tuple(_facts(record, estimate)),
        recipes=tuple(recipes),
        notes=row.notes,
        on_branch=on_branch,
    )


def _commits(row: ReportRow, record: TaskRecord) -> Iterable[WorkCommit]:
    on_branch = {one.commit for one in row.merged}
    into = {
        commit: account.into
        for account in row.accounts
        for commit in account.commits
        if account.into in on_branch
    }
    for commit in record.commits:
        paths = tuple(map(shown, commit.paths[:_PATHS]))
        yield WorkCommit(
            commit.id, commit.subject, commit.kind, commit.claimed or "", paths, into.get(commit.id, "")
        )


def _facts(record: TaskRecord, estimate: Estimate | None) -> Iterable[LabeledFact]:
    if record.agent:
        yield LabeledFact("agent", record.agent)
    if record.attempt > 1:
        yield LabeledFact("attempt", str(record.attempt))
    if record.stage:
        yield LabeledFact("failed at", record.stage, "bad")
    if seconds := record.worked_s:
        yield LabeledFact("worked", clock(seconds))
    yield from usage_facts(record.usage, estimate)


def usage_facts(usage: AgentUsage, estimate: Estimate | None) -> Iterable[LabeledFact]:
    """Money and tokens, where they are known, and what was expected."""
    if (cost := usage.cost_usd) is not None:
        yield LabeledFact("cost", f"${cost:.2f}")
    if tokens := usage.tokens:
        yield LabeledFact("tokens", f"{tokens:,}")
    if estimate:
        yield LabeledFact("estimate", estimate_words(estimate))
