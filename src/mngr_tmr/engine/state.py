"""The state of a run, folded from its journal one entry at a time."""

from collections.abc import Callable, Iterable

from msgspec import Struct, convert, to_builtins
from msgspec.structs import replace

from mngr_tmr.engine.breaker import BreakerState
from mngr_tmr.engine.budget import make_budget
from mngr_tmr.engine.capacity import CapacityState
from mngr_tmr.engine.groups import GroupsState
from mngr_tmr.engine.hosts import MAKES_HOST, Held, HostsState
from mngr_tmr.engine.integration import IntegrationState
from mngr_tmr.engine.observation import Observation, Poll, follow
from mngr_tmr.engine.retries import RetriesState, Retry
from mngr_tmr.engine.slots import SlotsState
from mngr_tmr.engine.steering import SteeringState, changed_by_steering
from mngr_tmr.engine.task_state import HOLDS_SLOT, TaskPhase, TaskState, task_after
from mngr_tmr.model.entry import Entry, Step
from mngr_tmr.model.facts import (
    AgentLaunched,
    BaseMeasured,
    IntegrationRepeated,
    LaunchingStopped,
    RunInterrupted,
    RunPaused,
    RunResumed,
    RunSteered,
    TaskRetried,
    VerdictsFound,
    VerifyAgain,
    VerifyRequest,
    WorkFailed,
)
from mngr_tmr.model.run import RunOptions, RunSpec
from mngr_tmr.model.task import Task, agent_of

# So many equal errors of the model that no retry changes end the launching.
_SAME_ERRORS = 3


class Pause(Struct, frozen=True):
    """Time in which the agents were not watched: from `since` until the first complete poll after `noticed_at`."""

    since: float
    noticed_at: float
    ended_at: float | None = None


class FinalError(Struct, frozen=True):
    """An error of the model that no retry changes: how many agents it ended, and what it said the last time."""

    count: int
    message: str


class RunState:
    """Everything that `decide` looks at. Changed only by `apply` and `apply_poll`.

    `addresses` says by the names that we gave agents which they are, `ID@HOST.PROVIDER` (of older runs the id alone):
    names and labels are the host's word, and so is an id on any other host.
    """

    def __init__(self, spec: RunSpec) -> None:
        self.spec = spec
        self.options: RunOptions = spec.options
        self.tasks = {
            task.slug: TaskState(task.slug, agent_of(spec.id, task.slug), since=spec.created_at)
            for task in spec.tasks
        }
        self.addresses: dict[str, str] = {}
        self.names = {task.slug: task.node_id.rpartition("::")[2] for task in spec.tasks}
        for slug in spec.skipped.keys() & self.tasks.keys():
            self.tasks[slug] = replace(self.tasks[slug], phase=TaskPhase.ENDED, is_skipped=True)
        to_run = (slug for slug in launch_order(spec.tasks) if slug not in spec.skipped)
        self.queue: dict[str, None] = dict.fromkeys(to_run)
        self.live: dict[str, None] = {}
        self.to_verify: dict[str, None] = {}
        self.strays: dict[str, None] = {}
        self.observations: dict[str, Observation] = {}
        self.in_flight: dict[tuple[Step, str], Entry] = {}
        self.hosts, self.capacity = HostsState(), CapacityState()
        self.steering, self.retries, self.slots = SteeringState(), RetriesState(), SlotsState()
        self.is_memory_short = False
        self.budget = make_budget(spec)
        self.base: str = "unknown"
        self.groups, self.breaker = GroupsState(), BreakerState()
        self.integration = IntegrationState()
        self.away_s = 0.0
        self.may_launch = True
        self.is_aborting = False
        self.stopped_why = ""
        self.is_out_of_budget = False
        self.final_errors: dict[str, FinalError] = {}
        self.last_at = spec.created_at
        self._pauses: tuple[Pause, ...] = ()

    def counted_s(self, since: float, now: float) -> float:
        """How much time has passed since then, without pauses: deadlines are compared with this.

        A pause in which no complete poll comes ends after the time that an agent may take: a host that is gone for
        good does not keep a run from ending.
        """
        away_s = 0.0
        for pause in self._pauses:
            latest = pause.noticed_at + self.options.timeout_s
            ended_at = min(now, latest) if pause.ended_at is None else pause.ended_at
            away_s += max(0.0, ended_at - max(since, pause.since))
        return now - since - away_s

    @property
    def can_integrate(self) -> bool:
        """Whether every task was run to its end, or the budget is used up: then the results can be put together."""
        return not self.is_aborting and (not self.queue or self.is_out_of_budget)

    def is_settled(self, slug: str) -> bool:
        """Whether a task has ended and nothing of its attempts may come yet."""
        state = self.tasks[slug]
        coming = any(task == slug for _, task in self.in_flight) or any(
            one.task == slug for one in self.hosts.late
        )
        return state.phase == TaskPhase.ENDED and not state.is_stray and not coming

    @property
    def used_slots(self) -> int:
        return sum(self.tasks[slug].phase in HOLDS_SLOT for slug in self.live)

    @property
    def active_slots(self) -> int:
        """The used slots whose agents do not wait for a limit."""
        return sum(
            self.tasks[slug].phase in HOLDS_SLOT and not self.tasks[slug].limited_at for slug in self.live
        )

    @property
    def allowed_slots(self) -> int:
        return self.slots.of(self.options.slots)

    def free_hosts(self, now: float) -> int | None:
        """How many more hosts may be made now; None where nothing bounds them."""
        if not self.options.max_hosts:
            return None
        late = sum(self._may_come(one, now) for one in self.hosts.late)
        return max(self.options.max_hosts - len(self.hosts.held) - late, 0)

    def _may_come(self, one: Held, now: float) -> bool:
        """A host whose step never answered counts for as long as a step may take twice more, and then no longer."""
        return self.counted_s(one.given_up_at, now) < 2 * deadline_s(self.options, one.maker)

    def refused_until(self, now: float) -> float:
        """Until when the provider is left alone; 0 when it may be asked now."""
        return self.capacity.until if now < self.capacity.until else 0.0

    def may_begin(self, now: float) -> int | None:
        """How many more steps that make hosts may begin now; None where nothing holds them back."""
        free = self.free_hosts(now)
        if not self.capacity.rounds:
            return free
        since = self.capacity.at
        tried = sum(one.at >= since for (step, _), one in self.in_flight.items() if step in MAKES_HOST)
        allowed = 0 if self.refused_until(now) else max(self.capacity.allowed - tried, 0)
        return allowed if free is None else min(allowed, free)

    @property
    def repeated_error(self) -> FinalError | None:
        """The error that has ended so many agents that launching more makes no sense."""
        return next((error for error in self.final_errors.values() if error.count >= _SAME_ERRORS), None)

    @property
    def due_retries(self) -> dict[str, Retry]:
        """The attempts that were lost with their hosts, and are still the last of their tasks."""
        return {
            slug: retry
            for slug, retry in self.retries.due.items()
            if (task := self.tasks[slug]).attempt == retry.attempt and task.cause != "cancelled"
        }

    @property
    def is_over(self) -> bool:
        """Nothing is left to do; after a second interrupt that means: no agent is left to stop."""
        if self.is_aborting:
            return not (self.live or self.strays)
        waiting = self.live or self.to_verify or self.strays or self.in_flight
        return not waiting and not ((self.queue or self.due_retries) and self.may_launch)

    def apply_poll(self, poll: Poll) -> None:
        """Takes in one poll of the agents."""
        self.last_at = max(self.last_at, poll.at)
        self.is_memory_short = poll.is_memory_short
        self._end_pause(poll)
        for slug in self.live:
            state = self.tasks[slug]
            if state.phase != TaskPhase.WORKING or poll.at < state.launched_at:
                continue
            agent = state.agent
            observation = follow(self.observations.get(agent), poll.agents.get(agent), poll)
            if observation is not None:
                self.observations[agent] = observation

    def _end_pause(self, poll: Poll) -> None:
        """Ends the pause if this poll came after it and is complete: no host that an agent of ours is on is missing."""
        if not self._pauses or self._pauses[-1].ended_at is not None:
            return
        *ended, pause = self._pauses
        agents = [self.tasks[slug] for slug in self.live if self.tasks[slug].phase != TaskPhase.LAUNCHING]
        shown = (poll.agents.get(state.agent) for state in agents)
        is_complete = poll.is_whole or all(
            status is not None and status.activity != "unknown" for status in shown
        )
        if is_complete and poll.at >= pause.noticed_at:
            self._pauses = (*ended, replace(pause, ended_at=poll.at))

    def _begin_pause(self, since: float, noticed_at: float) -> None:
        """One that has not ended is prolonged, so that no time is left out twice."""
        last = self._pauses[-1] if self._pauses else Pause(0.0, 0.0, ended_at=0.0)
        if last.ended_at is None:
            self._pauses = (*self._pauses[:-1], replace(last, noticed_at=noticed_at))
        else:
            self._pauses = (*self._pauses, Pause(max(since, last.ended_at), noticed_at))

    def apply(self, entry: Entry) -> tuple[str, ...]:
        """Takes in one journal entry; names the tasks that it is about."""
        if entry.step == "integrate":
            if isinstance(entry.fact, IntegrationRepeated):
                self.away_s += max(entry.at - self.last_at, 0.0)
            self.integration, self.last_at = self.integration.after(entry), max(self.last_at, entry.at)
            return ()
        parts, hosts = self._parts(entry), len(self.hosts.held)
        self.hosts.apply(entry)
        self.steering, self.retries = self.steering.after(entry), self.retries.after(entry)
        self.budget, self.breaker = self.budget.after(entry), self.breaker.after(entry)
        self.slots = self.slots.after(entry)
        if isinstance(entry.fact, RunResumed):
            self.away_s += max(entry.at - self.last_at, 0.0)
            self.integration = IntegrationState()
        self.last_at = max(self.last_at, entry.at)
        if entry.kind == "intended":
            self.in_flight[entry.step, entry.task] = entry
        elif entry.kind in ("done", "failed", "later"):
            self._land(entry)
            if len(self.hosts.held) < hosts and entry.kind == "done":
                self.capacity = self.capacity.relieved(entry.at)
        if isinstance(entry.fact, AgentLaunched) and entry.fact.id:
            self.addresses[agent_of(self.spec.id, entry.task, entry.attempt)] = entry.fact.address
        if isinstance(entry.fact, WorkFailed) and (kind := entry.fact.error):
            before_it = self.final_errors.get(kind, FinalError(0, ""))
            self.final_errors[kind] = FinalError(before_it.count + 1, entry.message)
        for part in parts:
            before = self.tasks[part.task]
            self._place(before, task_after(before, part))
        if (entry.step, entry.kind) == ("launch", "later") and entry.task in self.queue:
            self.queue = {entry.task: None, **self.queue}  # it keeps its turn
        if not entry.task or isinstance(entry.fact, RunSteered | TaskRetried):
            self._apply_run(entry)
        return tuple(part.task for part in parts)

    def _parts(self, entry: Entry) -> list[Entry]:
        """The entry for each task that it is about: a verification may be shared by tasks with equal trees."""
        if not entry.task:
            return []
        if entry.step != "verify" or entry.kind == "noted":
            return [entry]
        intention = entry if entry.kind == "intended" else self.in_flight.get(("verify", entry.task))
        also = shared_with(intention) if intention and intention.attempt == entry.attempt else {}
        if not also:
            return [entry]
        parts = [entry, *(replace(entry, task=slug, attempt=also[slug]) for slug in also)]
        is_for_all = entry.kind in ("intended", "later")
        return parts if is_for_all else [_own_part(entry, part) for part in parts]

    def _land(self, entry: Entry) -> None:
        """Takes the answer to a step: it is under way no longer, and the provider has refused it or not."""
        intention = self.in_flight.get((entry.step, entry.task))
        if intention is not None and intention.attempt == entry.attempt:
            del self.in_flight[entry.step, entry.task]
            if entry.kind == "later":
                self.capacity = self.capacity.refused(entry, intention.at)
            elif entry.kind == "done" and entry.step in MAKES_HOST:
                self.capacity = self.capacity.succeeded(intention.at)

    def _apply_run(self, entry: Entry) -> None:
        fact = entry.fact
        self.groups = self.groups.after(entry)
        if entry.step == "base" and entry.kind in ("done", "failed"):
            self.base = entry.kind
            self._run_skipped(fact.not_passed if isinstance(fact, BaseMeasured) else tuple(self.spec.skipped))
        elif isinstance(fact, RunPaused):
            self._begin_pause(fact.since, entry.at)
        elif isinstance(fact, RunResumed):
            # Whatever was waited for before is waited for anew.
            self._pauses = (Pause(0.0, entry.at),)
            self.may_launch, self.is_aborting = True, False
            self.stopped_why, self.final_errors, self.capacity = "", {}, CapacityState()
            self.options = convert({**to_builtins(self.options), **fact.options}, RunOptions)
            self.budget, self.is_out_of_budget = self.budget.with_options(self.options), False
            self._requeue(again=fact.again)
        elif isinstance(fact, TaskRetried):
            self._try_again(entry.task)
        elif isinstance(fact, RunSteered):
            if fact.options:
                self.options = changed_by_steering(self.options, fact.options)
                self.budget = self.budget.with_options(self.options)
            if entry.task and fact.action == "retry":
                self._try_again(entry.task)
        elif isinstance(fact, LaunchingStopped):
            self.may_launch, self.stopped_why = False, fact.reason
            self.is_out_of_budget = fact.cause == "budget"
        elif isinstance(fact, RunInterrupted):
            self.may_launch, self.is_aborting = False, fact.abort

    def _run_skipped(self, slugs: Iterable[str]) -> None:
        """Puts skipped tasks into the queue: nothing shows that these pass at the base."""
        for slug in slugs:
            state = self.tasks.get(slug)
            if state is not None and state.is_skipped:
                self._place(state, TaskState(slug, state.agent, since=self.last_at))

    def _requeue(self, again: Iterable[str]) -> None:
        """Gives tasks a new attempt: those that an interrupt cut off, and those that were asked for."""
        asked_for = set(again)
        for slug, state in self.tasks.items():
            if state.phase == TaskPhase.ENDED and (state.was_interrupted or slug in asked_for):
                self._try_again(slug)

    def _try_again(self, slug: str) -> None:
        before = self.tasks[slug]
        attempt = before.attempt + 1
        note = f"attempt {before.attempt}: {before.stage} failed: {before.message}"
        notes = (*before.notes, note) if before.has_failed else before.notes
        agent = agent_of(self.spec.id, slug, attempt)
        self._place(before, TaskState(slug, agent, attempt, since=self.last_at, notes=notes))

    def _place(self, before: TaskState, after: TaskState) -> None:
        slug, phase = after.slug, after.phase
        self.tasks[slug], self.groups = after, self.groups.moved(before, after)
        host = self.addresses.get(after.agent, "").partition("@")[2]
        self.breaker = self.breaker.moved(before, after, host, self.options.type)
        for phases, group in (
            ((TaskPhase.QUEUED,), self.queue),
            (HOLDS_SLOT, self.live),
            ((TaskPhase.TO_VERIFY, TaskPhase.VERIFYING), self.to_verify),
        ):
            if phase in phases:
                group.setdefault(slug)
            else:
                group.pop(slug, None)
        if after.is_stray:
            self.strays.setdefault(slug)
        else:
            self.strays.pop(slug, None)
        if before.agent != after.agent or phase not in HOLDS_SLOT:
            self.observations.pop(before.agent, None)


Observe = Callable[[RunState, tuple[Entry, ...]], None]
"""Called with the state and the entries that have just been recorded."""


def launch_order(tasks: Iterable[Task]) -> list[str]:
    """Longest first, as far as past runs tell: a long task that starts last is waited for at the end."""
    return [task.slug for task in sorted(tasks, key=lambda task: -task.expected_s)]


def deadline_s(options: RunOptions, step: Step) -> float:
    """Within how many seconds a step answers."""
    return {
        "launch": options.launch_deadline_s,
        "pull": options.pull_deadline_s,
        "verify": options.verify_deadline_s,
        "base": options.verify_deadline_s,
    }.get(step, options.stop_deadline_s)


def fold(spec: RunSpec, entries: Iterable[Entry]) -> RunState:
    """The state after all of these entries."""
    state = RunState(spec)
    for entry in entries:
        state.apply(entry)
    return state


def _own_part(entry: Entry, part: Entry) -> Entry:
    """What the outcome of a shared verification says of one task; one without a verdict is verified again, alone."""
    fact = entry.fact
    if isinstance(fact, VerdictsFound) and part.task in fact.verdicts:
        return replace(part, fact=VerdictsFound(fact.verdicts[part.task]))
    return replace(part, kind="failed", fact=VerifyAgain())


def shared_with(intention: Entry) -> dict[str, int]:
    """The other tasks of a verification that share its working copy, and their attempts."""
    return intention.fact.also if isinstance(intention.fact, VerifyRequest) else {}
