"""Alerts and pauses of a run whose tasks fail alike, as entries for the journal."""

from collections.abc import Iterator

from mngr_tmr.engine.admission import wait_of
from mngr_tmr.engine.breaker import MOST_PROBES
from mngr_tmr.engine.state import RunState
from mngr_tmr.model.entry import Entry
from mngr_tmr.model.facts import BreakerProbe, LaunchingStopped


def breaker_steps(run: RunState, now: float) -> Iterator[Entry]:
    """An alert for a cause that repeats; while launches are paused a probe when it is due, and their end in the end."""
    limits, breaker = run.options.limits, run.breaker
    if limits.breaker == "off":
        return
    pauses = limits.breaker == "pause"
    if not breaker.cause:
        if ("alert", "") not in run.in_flight:
            yield from list(breaker.due(now, limits.breaker_after, pauses=pauses))[:1]
    elif pauses and not breaker.probe and run.may_launch and run.queue:
        if breaker.failed_probes >= MOST_PROBES:
            reason = f"{breaker.failed_probes} tries in a row failed alike: {breaker.title}"
            yield Entry(now, "run", "noted", message="launching stopped", fact=LaunchingStopped(reason))
        elif now >= breaker.probe_at:
            for slug in run.queue:
                wait = wait_of(run, slug, now)
                if wait is None or wait.reason == "breaker":
                    message = "tried while launches are paused after equal failures"
                    yield Entry(now, "run", "noted", slug, run.tasks[slug].attempt, message, BreakerProbe())
                    return
