"""What to do next: a plain function of the run's state and the time. It answers with entries for the journal.

An entry "intended" is acted on after it is on the disk; "done" and "failed" of watch are conclusions drawn here.
"""

import sys
from collections.abc import Iterator
from itertools import islice

from mngr_tmr.engine.admission import wait_of
from mngr_tmr.engine.breaking import breaker_steps
from mngr_tmr.engine.hosts import MOST_TRIES
from mngr_tmr.engine.observation import Observation
from mngr_tmr.engine.slots import SLOTS_WORDS, SlotsUse, change_of_slots
from mngr_tmr.engine.spending import meter_steps, over_budget, stop_without_budget
from mngr_tmr.engine.state import RunState, deadline_s, shared_with
from mngr_tmr.engine.task_state import TaskPhase, TaskState
from mngr_tmr.model.entry import Entry
from mngr_tmr.model.facts import (
    AgentAsks,
    AgentLimited,
    AgentSilent,
    LaunchingStopped,
    LimitEnded,
    PullRequest,
    StepOverdue,
    StopRequest,
    TaskRetried,
    VerifyRequest,
    WorkFailed,
    WorkFailureCause,
)

# On a machine so busy that polls are far apart, an agent may work in between and show nothing new in two of them.
_UNCHANGED_POLLS = 3
# A limit for which no end is said is waited for as long, in all, unless a test may take longer.
_MOST_LIMITED_S = 6 * 3600.0
# An agent that was asked to go on shows it within this time; else the limit ended its turn again at once.
_TAKEN_S = 15.0
_QUIET = ("waiting", "unknown")
# Making a copy mostly takes longer than a test, so that some share one even where each could have its own.
_TOGETHER, _MOST_TOGETHER = 4, 8


def decide(run: RunState, now: float) -> list[Entry]:
    """Everything that is due now; calling it again after applying the answer gives what follows from that.

    What needs a host gets one while there is room: the base first, then verifications, which end tasks, then agents.
    """
    first = [*_overdue(run, now), *_stop_launching(run, now), *_without_hosts(run, now), *_retries(run, now)]
    first += [*stop_without_budget(run, now), *breaker_steps(run, now)]
    if first:
        return first
    room = run.may_begin(now)
    free = sys.maxsize if room is None else room
    is_base_due = run.base == "unknown" and ("base", "") not in run.in_flight and run.may_launch
    base = [Entry(now, "base", "intended")] if is_base_due and free > 0 else []
    verifications = list(islice(_verify_steps(run, now), free - len(base)))
    launches = islice(_launches(run, now), free - len(base) - len(verifications))
    steps = [*_slots(run, now), *base, *_stops(run, now), *meter_steps(run, now), *_live_steps(run, now)]
    return [*steps, *verifications, *launches]


def _overdue(run: RunState, now: float) -> Iterator[Entry]:
    """Steps that never answered: each becomes a failure of its own, and nothing else waits for it."""
    for (step, slug), intention in run.in_flight.items():
        limit_s = deadline_s(run.options, step) * (1 + len(shared_with(intention)))
        if run.counted_s(intention.at, now) >= limit_s:
            message = f"no answer within {limit_s:g} s"
            yield Entry(now, step, "failed", slug, intention.attempt, message, StepOverdue())


def _retries(run: RunState, now: float) -> Iterator[Entry]:
    """New attempts of tasks that were lost with their hosts, once nothing of the last ones may come any more."""
    for slug, retry in run.due_retries.items() if run.may_launch else ():
        if now >= retry.due_at and run.is_settled(slug):
            message = f"tried again on another host where there is one: {retry.why}"
            yield Entry(now, "run", "noted", slug, retry.attempt, message, TaskRetried())


def _stop_launching(run: RunState, now: float) -> Iterator[Entry]:
    """After equal errors of the model that no retry changes, every further agent would meet the same."""
    if run.may_launch and run.queue and (error := run.repeated_error):
        count, message = error.count, error.message
        reason = f"{count} agents ended with the same error of the model: {message}"
        yield Entry(now, "run", "noted", message="launching stopped", fact=LaunchingStopped(reason))


def _without_hosts(run: RunState, now: float) -> Iterator[Entry]:
    """Where hosts that could not be ended take all the room and nothing else goes on, the rest is not waited for."""
    held = run.hosts.held.values()
    is_stuck = run.free_hosts(now) == 0 and all(one.tries >= MOST_TRIES for one in held)
    if not is_stuck or run.live or run.in_flight or run.hosts.late:
        return
    reason = f"{len(held)} hosts could not be ended, and more than {run.options.max_hosts} are not allowed"
    if run.may_launch and run.queue:
        yield Entry(now, "run", "noted", message="launching stopped", fact=LaunchingStopped(reason))
    for slug in run.to_verify:
        yield Entry(now, "verify", "failed", slug, run.tasks[slug].attempt, reason)


def _stops(run: RunState, now: float) -> Iterator[Entry]:
    """Agents that were launched after we had given up on them, and hosts that could not be ended before."""
    if run.refused_until(now):
        return
    for slug in run.strays:
        if ("stop", slug) not in run.in_flight:
            yield _stop(run, slug, run.tasks[slug].attempt, now)
    for one in run.hosts.held.values() if run.options.max_hosts else ():
        is_due = 0 < one.tries < MOST_TRIES and now >= one.again_at
        if is_due and one.task not in run.strays and ("stop", one.task) not in run.in_flight:
            yield _stop(run, one.task, one.attempt, now)


def _stop(run: RunState, slug: str, attempt: int, now: float) -> Entry:
    """Stops an agent. A host that was made for it ends with it, unless its work is there alone: then it is stopped."""
    fact = None
    if run.options.max_hosts:
        fact = StopRequest("end" if (slug, attempt) in run.hosts.pulled else "stop")
    return Entry(now, "stop", "intended", slug, attempt, fact=fact)


def _slots(run: RunState, now: float) -> Iterator[Entry]:
    used, active = run.used_slots, run.active_slots
    has_more = run.may_launch and (bool(run.queue) or active < used)
    use = SlotsUse(used, active, has_more, run.is_memory_short)
    if fact := change_of_slots(run.slots, run.options.slots, use, now):
        yield Entry(now, "run", "noted", message=f"{fact.slots} slots: {SLOTS_WORDS[fact.reason]}", fact=fact)


def _launches(run: RunState, now: float) -> Iterator[Entry]:
    launching = sum(run.tasks[slug].phase == TaskPhase.LAUNCHING for slug in run.live)
    free = min(run.allowed_slots - run.used_slots, run.options.launchers - launching)
    if run.budget.rules.are_any:
        free = min(free, 1)  # the next one is asked for with this one's part set aside
    admitted = (slug for slug in run.queue if wait_of(run, slug, now) is None)
    for slug in islice(admitted, max(free, 0)):
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
        return _failed(state, now, "interrupted", "interrupted")
    observation = run.observations.get(state.agent)
    if observation is not None and observation.result_since is not None:
        # Whatever the time: a result that is there is taken.
        finished = _finished(run, observation, observation.result_since, now)
        return Entry(now, "watch", "done", state.slug, state.attempt, finished) if finished else None
    if observation is not None and (state.limited_at or _shows_limit(observation)):
        return _while_limited(run, observation, state, now)
    if run.counted_s(state.launched_at, now) - state.limited_s >= run.options.timeout_s:
        return _failed(state, now, "timeout", f"timed out after {run.options.timeout_s:g} s")
    if entry := over_budget(run, state, now):
        return entry
    if observation is None:
        return None
    if observation.status.error_kind and observation.status.activity in ("waiting", "ended"):
        return _failed(state, now, "model_error", observation.status.error, observation.status.error_kind)
    if _asks_anew(observation, state):
        status = observation.status
        return Entry(
            now, "watch", "noted", state.slug, state.attempt, status.question, AgentAsks(status.asks)
        )
    if failure := _gone_wrong(run, observation, state, now):
        return failure
    if _is_silent(run, observation, now) != bool(state.silent_since):
        fact = AgentSilent(0.0 if state.silent_since else observation.changed_at)
        return Entry(now, "watch", "noted", state.slug, state.attempt, fact=fact)
    if _wants_nudge(run, observation, state, now):
        return Entry(now, "nudge", "intended", state.slug, state.attempt)
    return None


def _shows_limit(observation: Observation) -> bool:
    status = observation.status
    return status.limit is not None and status.activity == "waiting" and observation.missing_since is None


def _while_limited(run: RunState, observation: Observation, state: TaskState, now: float) -> Entry | None:
    """Waits until the limit may have passed and there is a slot, then asks the agent to go on: no time limit counts."""
    limit = observation.status.limit
    if limit is None or not _shows_limit(observation):
        return Entry(now, "watch", "noted", state.slug, state.attempt, fact=LimitEnded())
    if not state.limited_at:
        ended_at = state.limit_ended_at
        if observation.activity_since <= ended_at and run.counted_s(ended_at, now) < _TAKEN_S:
            return None
        fact = AgentLimited(limit.until, limit.is_window)
        return Entry(now, "watch", "noted", state.slug, state.attempt, observation.status.error, fact)
    waited_s = state.limited_s + run.counted_s(state.limited_at, now)
    if now < max(state.limited_until, run.slots.closed_until):
        return None
    if waited_s >= max(run.options.timeout_s, _MOST_LIMITED_S):
        message = f"a limit of the model's provider did not end: {observation.status.error}"
        return _failed(state, now, "model_error", message)
    is_asked = ("nudge", state.slug) in run.in_flight
    may_go_on = run.active_slots < run.allowed_slots and not run.refused_until(now) and not is_asked
    return (
        Entry(now, "nudge", "intended", state.slug, state.attempt, fact=LimitEnded()) if may_go_on else None
    )


def _asks_anew(observation: Observation, state: TaskState) -> bool:
    """Whether it began or ceased to wait for a person, or asks something else: a clock that counts does not."""
    status = observation.status
    if status.asks != state.asks:
        return True
    return bool(status.asks and status.question) and _no_digits(status.question) != _no_digits(state.question)


def _is_silent(run: RunState, observation: Observation, now: float) -> bool:
    """Whether a busy agent has shown nothing new for half of the time after which it is given up."""
    is_busy = observation.status.activity == "working" and observation.missing_since is None
    return is_busy and run.counted_s(observation.changed_at, now) >= run.options.silence_s / 2


def _no_digits(text: str) -> str:
    return "".join(char for char in text if not char.isdigit())


def _finished(run: RunState, observation: Observation, result_since: float, now: float) -> str:
    """Why the work counts as done: a result, and the agent at rest or given its grace."""
    if observation.status.activity in ("ended", "waiting") and observation.missing_since is None:
        return "result"
    return "result, still busy" if run.counted_s(result_since, now) >= run.options.grace_s else ""


def _gone_wrong(run: RunState, observation: Observation, state: TaskState, now: float) -> Entry | None:
    """The failure of an agent from which no result is to be expected any more."""
    status, grace_s, silence_s = observation.status, run.options.grace_s, run.options.silence_s
    if observation.missing_since is not None:
        is_gone = run.counted_s(observation.missing_since, now) >= grace_s
        return _failed(state, now, "disappeared", "the agent disappeared") if is_gone else None
    if status.activity == "ended" and run.counted_s(observation.activity_since, now) >= grace_s:
        if status.has_lost_host:
            return _failed(state, now, "host_lost", f"its host ended: {status.how}")
        return _failed(state, now, "ended", f"the agent ended without a result: {status.how}")
    if status.activity == "unknown" and state.nudge_failed:
        return _failed(state, now, "unreadable", f"the agent's state cannot be read: {status.how}")
    if status.activity in _QUIET and state.nudged_at is not None:
        is_idle = _idle(run, max(observation.activity_since, state.nudged_at), now)
        message = f"idle without a result, also after a nudge: {status.how}"
        return _failed(state, now, "idle", message) if is_idle else None
    is_still = observation.unchanged_polls >= _UNCHANGED_POLLS
    if status.activity == "working" and is_still and run.counted_s(observation.changed_at, now) >= silence_s:
        return _failed(state, now, "silent", f"no sign of life for {silence_s:g} s")
    return None


def _wants_nudge(run: RunState, observation: Observation, state: TaskState, now: float) -> bool:
    is_idle = (
        observation.status.activity in _QUIET
        and observation.missing_since is None
        and not run.refused_until(now)
    )
    return is_idle and state.nudged_at is None and _idle(run, observation.activity_since, now)


def _idle(run: RunState, since: float, now: float) -> bool:
    return run.counted_s(since, now) >= run.options.idle_s


def _ending(run: RunState, state: TaskState, now: float) -> Entry | None:
    """After a failure the pull is a rescue: uncommitted work comes along, and with a budget the agent stops first."""
    if run.refused_until(now) or now < state.retry_at:
        return None
    fact = PullRequest(salvage=True, stop_first=run.budget.rules.are_any) if state.has_failed else None
    return Entry(now, "pull", "intended", state.slug, state.attempt, fact=fact)


def _stopping(run: RunState, state: TaskState, now: float) -> Entry | None:
    if run.options.keep:
        return Entry(now, "stop", "done", state.slug, state.attempt, "kept, as asked")
    if ("stop", state.slug) not in run.in_flight and not run.refused_until(now):
        return _stop(run, state.slug, state.attempt, now)
    return None


def _verify_steps(run: RunState, now: float) -> Iterator[Entry]:
    """Verifications, as many at once as there are verifiers and idle slots; tasks with equal trees share one."""
    busy = sum(step in ("verify", "base") for step, _ in run.in_flight)
    states = [run.tasks[slug] for slug in run.to_verify]
    waiting = [one for one in states if one.phase == TaskPhase.TO_VERIFY and now >= one.retry_at]
    free = _verifiers(run) - busy
    if free <= 0:
        return
    share = max(_TOGETHER, min(-(-len(waiting) // free), _MOST_TOGETHER))
    own = _with_equal_trees(waiting, share)[:free]
    for first, *others in own:
        fact = VerifyRequest({state.slug: state.attempt for state in others}) if others else None
        yield Entry(now, "verify", "intended", first.slug, first.attempt, fact=fact)
    if run.may_launch and run.options.limits.group:
        yield from islice(run.groups.trials(run.tasks, now, _MOST_TOGETHER), free - len(own))


def _verifiers(run: RunState) -> int:
    """The run's verifiers, and one more for each slot that no agent has or is about to get."""
    coming = len(run.queue) if run.may_launch else 0
    slots = run.allowed_slots
    idle = max(slots - run.used_slots - coming, 0)
    return max(run.options.verifiers, min(run.options.verifiers + idle, slots))


def _with_equal_trees(waiting: list[TaskState], most: int) -> list[list[TaskState]]:
    """Tasks whose commits have the same tree together, at most so many; the first that waits comes first."""
    groups: list[list[TaskState]] = []
    filling: dict[str, list[TaskState]] = {}
    for state in waiting:
        is_shared = bool(state.tree) and not state.alone
        group = filling.get(state.tree) if is_shared else None
        if group is None or len(group) == most:
            group = []
            groups.append(group)
            if is_shared:
                filling[state.tree] = group
        group.append(state)
    return groups


def _failed(state: TaskState, now: float, cause: WorkFailureCause, message: str, error: str = "") -> Entry:
    return Entry(now, "watch", "failed", state.slug, state.attempt, message, WorkFailed(cause, error))


_NEXT = {
    TaskPhase.WORKING: _working,
    TaskPhase.ENDING: _ending,
    TaskPhase.STOPPING: _stopping,
}
