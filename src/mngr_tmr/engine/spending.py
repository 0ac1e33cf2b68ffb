"""What a budget has the run do: read what agents used, ask them to finish, stop them, launch nothing more. Pure."""

from collections.abc import Iterator

from mngr_tmr.engine.admission import wait_of
from mngr_tmr.engine.state import RunState
from mngr_tmr.engine.task_state import TaskPhase, TaskState
from mngr_tmr.model.entry import Entry
from mngr_tmr.model.facts import FinishRequest, LaunchingStopped, WorkFailed


def meter_steps(run: RunState, now: float) -> Iterator[Entry]:
    """A reading of all running agents, once in each interval; without a budget nothing is read before the end."""
    rules = run.budget.rules
    if not rules.are_any or ("meter", "") in run.in_flight or now < run.budget.metered_at + rules.meter_s:
        return
    if any(run.tasks[slug].phase == TaskPhase.WORKING for slug in run.live):
        yield Entry(now, "meter", "intended")


def over_budget(run: RunState, state: TaskState, now: float) -> Entry | None:
    """An agent whose part is used up is asked to finish, and given up after the grace."""
    one = run.budget.running.get(state.slug)
    if one is None:
        return None
    if one.asked_at is None:
        reason = run.budget.used_up(state.slug)
        fact = FinishRequest(reason)
        return Entry(now, "nudge", "intended", state.slug, state.attempt, fact=fact) if reason else None
    if run.counted_s(one.asked_at, now) < run.options.grace_s:
        return None
    message = (
        f"{run.budget.used_up(state.slug) or 'the budget is used up'}; it was asked to finish and did not"
    )
    return Entry(now, "watch", "failed", state.slug, state.attempt, message, WorkFailed("budget"))


def stop_without_budget(run: RunState, now: float) -> Iterator[Entry]:
    """Ends the launching when tasks wait for budget, no task can be launched and no running agent can free any."""
    if (
        not (run.budget.rules.are_any and run.may_launch and run.queue)
        or run.live
        or run.in_flight
        or run.to_verify
    ):
        return
    waits = [wait_of(run, slug, now) for slug in run.queue]
    lacking = next((wait for wait in waits if wait and wait.reason == "budget"), None)
    if all(waits) and lacking:
        fact = LaunchingStopped(f"budget: {lacking.text}", "budget")
        yield Entry(now, "run", "noted", message="launching stopped", fact=fact)
