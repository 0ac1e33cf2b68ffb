"""How a run stands, for `mngr tmr status`. Pure."""

from collections import Counter
from collections.abc import Iterable

from msgspec import Struct

from mngr_tmr.engine.state import Phase
from mngr_tmr.integrate.text import one_line
from mngr_tmr.report.causes import Cause, count_failures
from mngr_tmr.report.contents import Contents, State
from mngr_tmr.report.escalations import Raised
from mngr_tmr.report.lines import cause_line, printable
from mngr_tmr.report.words import counted, times
from mngr_tmr.run.progress import clock

_MOST = 10
_WORDS = {
    Phase.LAUNCHING: "launching",
    Phase.WORKING: "working",
    Phase.ENDING: "being pulled",
    Phase.PULLING: "being pulled",
    Phase.STOPPING: "being stopped",
    Phase.TO_VERIFY: "waiting for a check",
    Phase.VERIFYING: "being verified",
}


class Live(Struct, frozen=True):
    """A task that is under way: what it is at, for how long, and how to look at its agent."""

    test: str
    agent: str
    doing: str
    seconds: float
    attach: str = ""


class Status(Struct, frozen=True):
    """`status --json`."""

    run: str
    state: State
    elapsed_s: float
    tests: int
    counts: dict[str, int]
    used_slots: int
    slots: int
    live: tuple[Live, ...]
    failures: int
    causes: tuple[Cause, ...]
    escalations: tuple[Raised, ...]
    exit_code: int
    page: str
    problems: tuple[str, ...] = ()
    schema: int = 1


def make_status(contents: Contents, page: str, at: float) -> Status:
    """At a time, which for a run that nobody runs is that of its last entry."""
    spec, now = contents.spec, contents.now
    at = at if now.is_alive else now.last_at
    return Status(
        spec.id,
        contents.state,
        max(at - spec.created_at, 0.0),
        contents.collected,
        {str(name): count for name, count in contents.counts().items()},
        now.used_slots if now.is_alive else 0,
        spec.knobs.slots,
        tuple(sorted(_live(contents, at), key=lambda live: -live.seconds)),
        count_failures(contents.causes),
        contents.causes,
        contents.raised,
        contents.exit_code,
        page,
        now.problems,
    )


def status_lines(contents: Contents, status: Status) -> tuple[str, ...]:
    """Counts, slots, the slowest first with how to attach, causes and matters so far."""
    lines = [f"run {status.run}: {status.state}, {clock(status.elapsed_s)}", counted(contents)]
    if status.state == "running":
        lines.append(f"slots: {status.used_slots} of {status.slots}{_doing(status)}")
    for live in status.live[:_MOST]:
        lines.append(f"  {clock(live.seconds):>7}  {live.doing:<20} {live.test}")
        lines += [f"           {live.attach}"] if live.attach else []
    lines += _more(len(status.live))
    if status.causes:
        so_far = " so far" if status.state == "running" else ""
        lines.append(f"{times(status.failures, 'failure')}, {times(len(status.causes), 'cause')}{so_far}:")
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
        lines.append(f"nobody is at work on it: mngr tmr resume {status.run}")
    return tuple(map(printable, lines))


def _live(contents: Contents, at: float) -> Iterable[Live]:
    now = contents.now
    for row in contents.section("running"):
        phase, since = now.phases[row.task.slug]
        agent = row.record.agent if row.record else ""
        attach = f"mngr connect {agent}" if phase == Phase.WORKING and now.is_alive else ""
        yield Live(row.task.node_id, agent, _WORDS[phase], max(at - since, 0.0), attach)


def _doing(status: Status) -> str:
    counts = Counter(live.doing for live in status.live)
    return "".join(f", {count} {word}" for word, count in counts.items())


def _more(count: int) -> list[str]:
    return [f"  … and {count - _MOST} more"] if count > _MOST else []
