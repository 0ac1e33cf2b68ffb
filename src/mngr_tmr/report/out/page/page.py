"""The run as the page's index: rows, sections, causes, lanes, commits, facts. Pure."""

from collections.abc import Iterable, Mapping, Sequence
from operator import itemgetter

from mngr_tmr.report.data.counts import count_line
from mngr_tmr.report.data.report_model import ReportModel, ReportState
from mngr_tmr.report.data.rows import ReportRow
from mngr_tmr.report.data.sections import SECTIONS
from mngr_tmr.report.out.page.balance import balance_of
from mngr_tmr.report.out.page.branch import branch_commits
from mngr_tmr.report.out.page.recipes import row_recipes
from mngr_tmr.report.out.page.tabs import Tab, as_attempts
from mngr_tmr.report.out.page.work import usage_facts, work_of
from mngr_tmr.report.out.progress import clock
from mngr_view.records import (
    Cause,
    LabeledFact,
    Lane,
    LaneSpan,
    Matter,
    MeasuredOutcome,
    Recipe,
    Run,
    Section,
    Status,
    Test,
    TestMeasurement,
    TimelineMark,
    Tone,
)

_BY_VERDICT: dict[str, Status] = {
    "passed": "passed",
    "failed": "failed",
    "flaky": "failed",
    "error": "error",
    "skipped": "skipped",
    "wrong_code": "error",
    "cannot_tell": "error",
}
_BY_SECTION: dict[str, Status] = {
    "needs_you": "running",
    "running": "running",
    "queued": "not run",
    "not_run": "not run",
    "blocked": "error",
    "malformed": "error",
    "unverified": "error",
    "infrastructure": "error",
}
_TONES: dict[ReportState, Tone] = {
    "running": "",
    "integrating": "",
    "interrupted": "bad",
    "failed": "bad",
    "finished": "good",
}
_EXAMPLE = 2_000


def make_run(model: ReportModel, tabs: Mapping[str, Sequence[Tab]], run_word: str) -> Run:
    """`tabs` by the slug of their task."""
    spec, now = model.spec, model.now
    recipes = {row.task.node_id: tuple(row_recipes(spec, run_word, row)) for row in model.rows}
    tests = tuple(
        _test(row, tabs.get(row.task.slug, ()), model, recipes[row.task.node_id]) for row in model.rows
    )
    causes = tuple(
        Cause(
            *(one.id, one.title, one.stage, one.tests, one.fixed, one.exception, one.frame),
            *(
                one.example[-_EXAMPLE:],
                one.fix,
                one.others,
                f"{one.likely.kind}: {one.likely.evidence}; {one.likely.next_step}" if one.likely else "",
            ),
        )
        for one in model.causes
    )
    measured = tuple(
        TestMeasurement(
            one.test, *(MeasuredOutcome(cell.outcome, cell.reason) for cell in (one.base, one.agent, one.tip))
        )
        for one in (now.integration.measured if now.integration else ())
    )
    sections = []
    for name in model.counts():
        section, ids = SECTIONS[name], tuple(row.task.node_id for row in model.section(name))
        sections.append(Section(name, section.title, section.about, ids, section.is_finding))
    return Run(
        id=spec.id,
        title=spec.id,
        start=spec.created_at,
        tests=tests,
        duration_s=now.took_s,
        is_running=now.is_alive,
        warnings=now.problems,
        kind="pipeline",
        facts=tuple(_facts(model)),
        causes=causes,
        sections=tuple(sections),
        matters=tuple(
            Matter(one.kind, one.title, one.tests, one.details, one.locations) for one in model.raised
        ),
        lanes=tuple(_lanes(model)),
        commits=branch_commits(spec, now.integration) if now.integration else (),
        recipes=tuple(_recipes(model, run_word)),
        headline=model.headline,
        measured=measured,
        balance=balance_of(model),
        marks=tuple(TimelineMark(one.at, one.text) for one in now.marks),
    )


def status_of(row: ReportRow) -> Status:
    """The row in the words of any test run: how it does on the branch, and before there is one `agent_status`."""
    tip = row.measured.tip.outcome if row.measured else ""
    if not tip or row.section in ("running", "queued"):
        return agent_status(row)
    return _BY_VERDICT.get(tip, "error")


def agent_status(row: ReportRow) -> Status:
    """How its agent's work ended; an agent that ran out of time is a timeout."""
    if row.section == "infrastructure" and row.record and row.record.cause == "timeout":
        return "timeout"
    return _BY_SECTION.get(row.section) or _BY_VERDICT.get(row.verdict, "error")


def _test(row: ReportRow, tabs: Sequence[Tab], model: ReportModel, recipes: Sequence[Recipe]) -> Test:
    file, _, name = row.task.node_id.partition("::")
    spans = [span for span in row.record.spans if span.kind != "queue"] if row.record else []
    start = spans[0].start if spans else 0.0
    duration_s = spans[-1].end - start if spans else 0.0
    estimate = model.spec.estimate.tasks.get(row.task.slug) if model.spec.estimate else None
    return Test(
        id=row.task.node_id,
        name=name or row.task.node_id,
        file=file if name else "",
        status=status_of(row),
        duration_s=duration_s,
        attempts=as_attempts(tabs, agent_status(row), start, duration_s),
        reason=row.why,
        section=row.section,
        work=work_of(row, model.raised, recipes, estimate),
    )


def _facts(model: ReportModel) -> Iterable[LabeledFact]:
    spec, one = model.spec, model.integration
    yield LabeledFact("state", model.state, _TONES[model.state])
    yield LabeledFact("tests", count_line(model))
    yield LabeledFact("base", spec.base[:12])
    if one is not None:
        yield LabeledFact("branch", one.branch if one.tip != one.base else "nothing was integrated")
    yield LabeledFact(
        "agents",
        " ".join(filter(None, (spec.options.type, spec.options.provider and f"on {spec.options.provider}"))),
    )
    yield LabeledFact(
        "slots",
        f"{model.now.used_slots} of {spec.options.slots}" if model.now.is_alive else str(spec.options.slots),
    )
    yield LabeledFact("took", clock(model.now.took_s))
    stage, spans = model.now.stage, model.now.stage_spans
    seconds = sum(span.end - span.start for span in spans if span.start >= stage.started_at)
    if stage.progress == "running":
        yield LabeledFact("integration", f"{stage.step or 'preparing'}, {clock(seconds)} so far")
    elif stage.progress == "done":
        yield LabeledFact("integration", f"took {clock(seconds)}")
    elif stage.progress == "failed":
        yield LabeledFact("integration", f"failed: {stage.message}", "bad")
    yield from usage_facts(model.usage, model.spec.estimate.total if model.spec.estimate else None)
    for gate in one.gates if one else ():
        yield LabeledFact(
            f"gate {gate.name}",
            gate.detail or ("passed" if gate.passed else "failed"),
            "good" if gate.passed else "bad",
        )
    if one is not None and one.pr_url:
        yield LabeledFact("pull request", one.pr_url)
    for note in one.notes if one else ():
        yield LabeledFact("note", note)


def _lanes(model: ReportModel) -> Iterable[Lane]:
    """Lanes in the order in which work began, then those without work; slots and integration are the last."""
    lanes = []
    for row in model.rows:
        spans = row.record.spans if row.record else ()
        began = next((span.start for span in spans if span.kind != "queue"), float("inf"))
        if spans:
            shown = tuple(LaneSpan(span.kind, span.start, span.end) for span in spans)
            lanes.append((began, Lane(row.task.node_id, shown)))
    yield from (lane for _, lane in sorted(lanes, key=itemgetter(0)))
    for label, steps in (("slots", model.now.slot_spans), ("integration", model.now.stage_spans)):
        if steps:
            yield Lane("", tuple(LaneSpan(span.step, span.start, span.end) for span in steps), label)


def _recipes(model: ReportModel, run_word: str) -> Iterable[Recipe]:
    one = model.integration
    if model.now.is_alive:
        yield Recipe("show its status", f"mngr tmr status {run_word}")
    if one is not None and one.tip != one.base:
        yield Recipe("review the branch", f"git log --reverse -p {one.base[:12]}..{one.branch}")
        yield Recipe("merge the branch", f"git merge {one.branch}")
    if model.state == "interrupted":
        yield Recipe("resume it", f"mngr tmr resume {run_word}")
    elif model.state == "failed":
        yield Recipe("integrate again", f"mngr tmr integrate {run_word}")
    elif "infrastructure" in model.counts():
        yield Recipe("retry the tests without a result", f"mngr tmr resume {run_word} --retry")
