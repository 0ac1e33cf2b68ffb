"""Why a queued task is not launched now: each reason is a condition of its own, asked in this order."""

from collections.abc import Callable
from typing import Literal

from msgspec import Struct

from mngr_tmr.engine.clock import clock_time
from mngr_tmr.engine.state import RunState

# How long all tests wait for the run at the base commit, which tells those that fail alike.
BASE_WAIT_S = 300.0

WaitReason = Literal["stopped", "paused", "window", "base", "same_failure", "budget", "breaker"]


class Wait(Struct, frozen=True):
    """Why a task is not launched now; `text` is for people, and reads on after "waits: "."""

    reason: WaitReason
    text: str


Condition = Callable[[RunState, str, float], Wait | None]
"""Asked with the run, a queued task's slug and the time."""


def wait_of(run: RunState, slug: str, now: float) -> Wait | None:
    """What holds a queued task back; None when it may be launched as soon as there is a slot.

    A condition that may hold a task without end must stop its waiting too, by an entry of the journal.
    """
    return next((wait for condition in _CONDITIONS if (wait := condition(run, slug, now))), None)


def _stopped(run: RunState, _slug: str, _now: float) -> Wait | None:
    return None if run.may_launch else Wait("stopped", run.stopped_why or "nothing more is launched")


def _paused(run: RunState, _slug: str, _now: float) -> Wait | None:
    return Wait("paused", f"paused by {run.steering.paused_by}") if run.steering.paused_at else None


def _closed(run: RunState, _slug: str, now: float) -> Wait | None:
    """A usage window opens again by itself, at a time that is known."""
    until = run.slots.closed_until
    text = f"waits until {clock_time(until, now)}: the usage window is closed"
    return Wait("window", text) if now < until else None


def _same_failure(run: RunState, slug: str, now: float) -> Wait | None:
    """One agent first for tests that fail alike; before the base is measured any two may, and that may take long."""
    if not run.options.limits.group:
        return None
    base = run.in_flight.get(("base", ""))
    is_soon = base is None or now - base.at < BASE_WAIT_S
    if run.base == "unknown" and not run.groups.is_known and len(run.tasks) > 1 and is_soon:
        return Wait("base", "waits for the tests at the base commit")
    first, is_tried = run.groups.first_for(run.tasks[slug], run.tasks)
    if not first:
        return None
    return Wait("same_failure", f"waits for {first}: same failure{', its fix is tried' if is_tried else ''}")


def _budget(run: RunState, slug: str, _now: float) -> Wait | None:
    """`stop_without_budget` ends this when no running agent can free any."""
    lacking = run.budget.lacking(slug)
    return Wait("budget", lacking) if lacking else None


def _breaker(run: RunState, slug: str, _now: float) -> Wait | None:
    """`breaker_steps` ends this with a task that is tried, or after some of them the launches."""
    is_open = run.breaker.cause and run.options.limits.breaker == "pause" and run.breaker.probe != slug
    return Wait("breaker", f"paused after equal failures: {run.breaker.title}") if is_open else None


_CONDITIONS: tuple[Condition, ...] = (_stopped, _paused, _closed, _same_failure, _budget, _breaker)
