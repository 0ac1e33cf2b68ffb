"""How a run stands, for `mngr tmr status`. Pure."""

from collections import Counter
from collections.abc import Iterable

from msgspec import Struct

from mngr_tmr.agent_text import one_line
from mngr_tmr.engine.clock import clock_time
from mngr_tmr.engine.task_state import TaskPhase
from mngr_tmr.report.data.causes import FailureCause, count_failures
from mngr_tmr.report.data.counts import count_line, plural
from mngr_tmr.report.data.escalations import RaisedEscalation
from mngr_tmr.report.data.report_model import ReportModel, ReportState
from mngr_tmr.report.out.progress import answer_command, clock
from mngr_tmr.report.out.terminal import cause_line, printable

_MOST = 10
_WORDS = {
    TaskPhase.LAUNCHING: "launching",
    TaskPhase.WORKING: "working",
    TaskPhase.ENDING: "being pulled",
    TaskPhase.PULLING: "being pulled",
    TaskPhase.STOPPING: "being stopped",
    TaskPhase.TO_VERIFY: "waiting for verification",
    TaskPhase.VERIFYING: "being verified",
}


_SILENT, _LIMITED = "no sign of life", "waiting for a limit"


class LiveTask(Struct, frozen=True):
    """A task that is under way: what it is at, for how long, and how to look at its agent.

    Of an agent that waits for a person, `asks` says for what, `question` is its question, `answer` the command.
    """

    test: str
    agent: str
    doing: str
    seconds: float
    attach: str = ""
    asks: str = ""
    question: str = ""
    answer: str = ""


class IntegrationProgress(Struct, frozen=True):
    """The integration: how it stands, the step it is at, and how long it took so far."""

    progress: str
    step: str
    seconds: float
    message: str = ""


class RunStatus(Struct, frozen=True):
    """`status --json`. `exit_code` is None until the run is over; `integration` tells of it once it has begun.

    `allowed_slots` are those of its slots that agents may have now; `waits_until` is when a closed usage window opens.
    Of a run that is paused, `paused_by` says by whom, and `paused_s` for how long.
    """

    run: str
    state: ReportState
    elapsed_s: float
    tests: int
    counts: dict[str, int]
    used_slots: int
    slots: int
    live: tuple[LiveTask, ...]
    failures: int
    causes: tuple[FailureCause, ...]
    escalations: tuple[RaisedEscalation, ...]
    exit_code: int | None
    page: str
    problems: tuple[str, ...] = ()
    integration: IntegrationProgress | None = None
    allowed_slots: int = 0
    waits_until: float = 0.0
    paused_s: float = 0.0
    paused_by: str = ""
    schema: int = 1


def make_status(model: ReportModel, page: str, at: float) -> RunStatus:
    """The status at a time; for a run without a process it is the time of its last entry."""
    spec, now, stage = model.spec, model.now, model.now.stage
    at = at if now.is_alive else now.last_at
    integration = None
    if stage.progress != "none":
        end = stage.ended_at or (at if now.is_alive else stage.step_at)
        took_s = max(end - stage.started_at, 0.0)
        integration = IntegrationProgress(stage.progress, stage.step, took_s, stage.message)
    return RunStatus(
        spec.id,
        model.state,
        max(at - spec.created_at - now.away_s, 0.0),
        model.collected,
        {str(name): count for name, count in model.counts().items()},
        now.used_slots if now.is_alive else 0,
        spec.options.slots,
        tuple(sorted(_live(model, at), key=_urgency)),
        count_failures(model.causes),
        model.causes,
        model.raised,
        model.exit_code if model.is_over else None,
        page,
        now.problems,
        integration,
        now.slots.of(spec.options.slots),
        now.slots.closed_until if at < now.slots.closed_until else 0.0,
        at - now.steering.paused_at if now.steering.paused_at else 0.0,
        now.steering.paused_by,
    )


def status_lines(model: ReportModel, status: RunStatus) -> tuple[str, ...]:
    """Counts, slots, the slowest first with how to attach, causes and escalations so far."""
    lines = [f"run {status.run}: {status.state}, {clock(status.elapsed_s)}", count_line(model)]
    if status.state == "running":
        steps = Counter(live.doing for live in status.live)
        doing = "".join(f", {count} {word}" for word, count in steps.items())
        most = f" ({status.slots} configured)" if status.allowed_slots < status.slots else ""
        lines.append(f"slots: {status.used_slots} of {status.allowed_slots}{most}{doing}")
    if status.waits_until:
        until = clock_time(status.waits_until, model.now.last_at)
        lines.append(f"waits until {until}: the usage window is closed")
    if status.paused_by:
        resume = f"mngr tmr resume {status.run}"
        lines.append(f"paused by {status.paused_by}, {clock(status.paused_s)} ago: {resume}")
    lines += _stage_lines(status)
    shown = [live for live in status.live if live.doing != _WORDS[TaskPhase.TO_VERIFY]]
    for live in shown[:_MOST]:
        lines.append(f"  {clock(live.seconds):>7}  {live.doing:<20} {live.test}")
        lines += [f"           {line}" for line in (live.question, live.answer, live.attach) if line]
    lines += _more(len(shown))
    if waiting := len(status.live) - len(shown):
        lines.append(f"  {plural(waiting, 'test')} waiting for verification")
    if status.causes:
        so_far = "" if model.is_over else " so far"
        lines.append(f"{plural(status.failures, 'failure')}, {plural(len(status.causes), 'cause')}{so_far}:")
        lines += map(cause_line, status.causes[:_MOST])
        lines += _more(len(status.causes))
    if status.escalations:
        lines.append("raised by agents:")
        lines += [
            f"  {len(one.tests):>3} x {one_line(f'{one.kind}: {one.title}', 120)}"
            for one in status.escalations[:_MOST]
        ]
    lines += [f"problem: {problem}" for problem in status.problems]
    lines += [f"page: {status.page}"] if status.page else []
    if status.state == "interrupted":
        lines.append(f"no process runs it: mngr tmr resume {status.run}")
    return tuple(map(printable, lines))


def _stage_lines(status: RunStatus) -> list[str]:
    one = status.integration
    if one is None:
        return []
    if one.progress == "failed":
        return [
            f"integration failed after {clock(one.seconds)}: {one.message}",
            f"  mngr tmr integrate {status.run}",
        ]
    words = "took" if one.progress == "done" else f"{one.step or 'preparing'},"
    return [f"integration: {words} {clock(one.seconds)}"]


def _live(model: ReportModel, at: float) -> Iterable[LiveTask]:
    now = model.now
    for row in (*model.section("needs_you"), *model.section("running")):
        if row.record is None:
            continue
        slug = row.task.slug
        phase, since = now.phases[slug]
        doing = _SILENT if slug in now.silent else _LIMITED if slug in now.limited else _WORDS[phase]
        agent, asks = row.record.agent, row.record.asks
        attach = f"mngr connect {agent}" if phase == TaskPhase.WORKING and now.is_alive else ""
        yield LiveTask(
            row.task.node_id,
            agent,
            f"needs you: {asks}" if asks else doing,
            max(at - since, 0.0),
            attach,
            asks,
            row.record.question,
            answer_command(agent, asks) if asks else "",
        )


def _urgency(live: LiveTask) -> tuple[int, float]:
    """The order of tasks: those that need a person, may hang, have an agent at work; those that wait come last."""
    order = (_SILENT, _WORDS[TaskPhase.WORKING])
    last = {_WORDS[TaskPhase.VERIFYING]: len(order) + 2, _WORDS[TaskPhase.TO_VERIFY]: len(order) + 3}
    if live.asks:
        return 0, -live.seconds
    place = order.index(live.doing) + 1 if live.doing in order else last.get(live.doing, len(order) + 1)
    return place, -live.seconds


def _more(count: int) -> list[str]:
    return [f"  … and {count - _MOST} more"] if count > _MOST else []
