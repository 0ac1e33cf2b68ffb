"""What to do next: a plain function of the run's state and the time. It answers with entries for the journal.

An entry "intended" is acted on after it is on the disk; "done" and "failed" of watch are conclusions drawn here.
"""

from collections.abc import Iterator
from itertools import islice

from mngr_tmr.engine.sight import Sight
from mngr_tmr.engine.state import Phase, RunState, TaskState
from mngr_tmr.model.entry import Entry, Step
from mngr_tmr.model.run import Knobs

_QUIET = ("waiting", "unknown")


def decide(run: RunState, now: float) -> list[Entry]:
    """Everything that is due now; calling it again after applying the answer gives what follows from that."""
    overdue = list(_overdue(run, now))
    return overdue or [
        *_run_steps(run, now),
        *_live_steps(run, now),
        *_verify_steps(run, now),
        *_launches(run, now),
    ]


def _overdue(run: RunState, now: float) -> Iterator[Entry]:
    """Steps that never answered: each becomes a failure of its own, and nothing else waits for it."""
    for (step, slug), intention in run.in_flight.items():
        deadline_s = _deadline_s(run.knobs, step)
        if now - intention.at >= deadline_s:
            yield Entry(now, step, "failed", slug, intention.attempt, f"no answer within {deadline_s:g} s")


def _deadline_s(knobs: Knobs, step: Step) -> float:
    return {
        "launch": knobs.launch_deadline_s,
        "pull": knobs.pull_deadline_s,
        "verify": knobs.verify_deadline_s,
        "base": knobs.verify_deadline_s,
    }.get(step, knobs.stop_deadline_s)


def _run_steps(run: RunState, now: float) -> Iterator[Entry]:
    if run.base == "unknown" and ("base", "") not in run.in_flight and run.may_launch:
        yield Entry(now, "base", "intended")
    for slug in run.strays:
        if ("stop", slug) not in run.in_flight:
            yield Entry(now, "stop", "intended", slug, run.tasks[slug].attempt)


def _launches(run: RunState, now: float) -> Iterator[Entry]:
    if not run.may_launch:
        return
    launching = sum(run.tasks[slug].phase == Phase.LAUNCHING for slug in run.live)
    free = min(run.knobs.slots - run.used_slots, run.knobs.launchers - launching)
    for slug in islice(run.queue, max(free, 0)):
        yield Entry(now, "launch", "intended", slug, run.tasks[slug].attempt)


def _live_steps(run: RunState, now: float) -> Iterator[Entry]:
    for slug in run.live:
        state = run.tasks[slug]
        step = _NEXT.get(state.phase)
        entry = step(run, state, now) if step else None
        if entry is not None:
            yield entry


def _working(run: RunState, state: TaskState, now: float) -> Entry | None:
    if run.is_aborting:
        return _entry(state, "watch", now, "interrupted", interrupted=True)
    sight = run.sights.get(state.agent)
    if sight is not None and (finished := _finished(sight, run.knobs, now)):
        return Entry(now, "watch", "done", state.slug, state.attempt, finished)
    if now - state.launched_at >= run.knobs.timeout_s:
        return _entry(state, "watch", now, f"timed out after {run.knobs.timeout_s:g} s")
    if sight is None:
        return None
    if wrong := _gone_wrong(sight, state, run.knobs, now):
        return _entry(state, "watch", now, wrong)
    if _wants_nudge(sight, state, run.knobs, now):
        return Entry(now, "nudge", "intended", state.slug, state.attempt)
    return None


def _finished(sight: Sight, knobs: Knobs, now: float) -> str:
    """Why the work counts as done: a result, and the agent at rest or given its grace."""
    if sight.result_since is None:
        return ""
    if sight.seen.mood in ("ended", "waiting") and sight.missing_since is None:
        return "result"
    return "result, still busy" if now - sight.result_since >= knobs.grace_s else ""


def _gone_wrong(sight: Sight, state: TaskState, knobs: Knobs, now: float) -> str:
    """Why no result is to be expected any more."""
    seen = sight.seen
    if sight.missing_since is not None:
        return "the agent disappeared" if now - sight.missing_since >= knobs.grace_s else ""
    if seen.mood == "ended" and now - sight.mood_since >= knobs.grace_s:
        return f"the agent ended without a result: {seen.how}"
    if seen.mood == "unknown" and state.nudge_failed:
        return f"the agent is lost: {seen.how}"
    if seen.mood in _QUIET and state.nudged_at is not None:
        quiet_since = max(sight.mood_since, state.nudged_at)
        return (
            f"idle without a result, also after a nudge: {seen.how}" if _idle(quiet_since, knobs, now) else ""
        )
    if seen.mood == "working" and now - sight.active_at >= knobs.silence_s:
        return f"no sign of life for {knobs.silence_s:g} s"
    return ""


def _wants_nudge(sight: Sight, state: TaskState, knobs: Knobs, now: float) -> bool:
    is_idle = sight.seen.mood in _QUIET and sight.missing_since is None
    return is_idle and state.nudged_at is None and _idle(sight.mood_since, knobs, now)


def _idle(since: float, knobs: Knobs, now: float) -> bool:
    return now - since >= knobs.idle_s


def _ending(_run: RunState, state: TaskState, now: float) -> Entry | None:
    """After a failure the pull is a rescue: uncommitted work comes along."""
    data = {"salvage": True} if state.has_failed else {}
    return Entry(now, "pull", "intended", state.slug, state.attempt, data=data)


def _stopping(run: RunState, state: TaskState, now: float) -> Entry | None:
    if run.knobs.keep:
        return Entry(now, "stop", "done", state.slug, state.attempt, "kept, as asked")
    if ("stop", state.slug) not in run.in_flight:
        return Entry(now, "stop", "intended", state.slug, state.attempt)
    return None


def _verify_steps(run: RunState, now: float) -> Iterator[Entry]:
    busy = sum(step in ("verify", "base") for step, _ in run.in_flight)
    for slug in list(run.to_verify):
        state = run.tasks[slug]
        if state.phase == Phase.TO_VERIFY and busy < run.knobs.verifiers:
            busy += 1
            yield Entry(now, "verify", "intended", slug, state.attempt)


def _entry(state: TaskState, step: Step, now: float, message: str, **data: object) -> Entry:
    return Entry(now, step, "failed", state.slug, state.attempt, message, data)


_NEXT = {
    Phase.WORKING: _working,
    Phase.ENDING: _ending,
    Phase.STOPPING: _stopping,
}
