"""The state of a run, folded from its journal one entry at a time."""

from collections.abc import Iterable
from enum import StrEnum

from msgspec import Struct, convert, to_builtins
from msgspec.structs import replace

from mngr_tmr.engine.sight import Look, Sight, follow
from mngr_tmr.model.entry import Entry, Step
from mngr_tmr.model.run import Knobs, RunSpec
from mngr_tmr.model.task import agent_of


class Phase(StrEnum):
    """Where a task is. An agent of ours may be alive in all but the first and the last two."""

    QUEUED = "queued"
    LAUNCHING = "launching"
    WORKING = "working"
    ENDING = "ending"
    PULLING = "pulling"
    STOPPING = "stopping"
    TO_VERIFY = "to_verify"
    VERIFYING = "verifying"
    ENDED = "ended"


HOLDS_SLOT = frozenset((Phase.LAUNCHING, Phase.WORKING, Phase.ENDING, Phase.PULLING, Phase.STOPPING))


class TaskState(Struct, frozen=True):
    """One task. `stage` and `message` are set when a step of ours failed; pulling goes on, to save what there is."""

    slug: str
    agent: str
    attempt: int = 1
    phase: Phase = Phase.QUEUED
    since: float = 0.0
    launched_at: float = 0.0
    nudged_at: float | None = None
    nudge_failed: bool = False
    stage: str = ""
    message: str = ""
    needs_verdict: bool = False
    was_interrupted: bool = False
    is_stray: bool = False
    notes: tuple[str, ...] = ()

    @property
    def has_failed(self) -> bool:
        return bool(self.stage)


class RunState:
    """Everything that `decide` looks at. Changed only by `apply` and `see`."""

    def __init__(self, spec: RunSpec) -> None:
        self.spec = spec
        self.knobs: Knobs = spec.knobs
        self.tasks = {
            task.slug: TaskState(task.slug, agent_of(spec.id, task.slug), since=spec.created_at)
            for task in spec.tasks
        }
        self.names = {task.slug: task.node_id.rpartition("::")[2] for task in spec.tasks}
        self.queue: dict[str, None] = dict.fromkeys(_in_order(spec))
        self.live: dict[str, None] = {}
        self.to_verify: dict[str, None] = {}
        self.strays: dict[str, None] = {}
        self.sights: dict[str, Sight] = {}
        self.in_flight: dict[tuple[Step, str], Entry] = {}
        self.base: str = "unknown"
        self.may_launch = True
        self.is_aborting = False
        self.last_at = spec.created_at

    @property
    def used_slots(self) -> int:
        return sum(self.tasks[slug].phase in HOLDS_SLOT for slug in self.live)

    @property
    def is_over(self) -> bool:
        """Nothing is left to do; after a second interrupt that means: no agent is left to stop."""
        if self.is_aborting:
            return not (self.live or self.strays)
        waiting = self.live or self.to_verify or self.strays or self.in_flight
        return not waiting and not (self.queue and self.may_launch)

    def see(self, look: Look) -> None:
        """Takes in one look at the agents."""
        self.last_at = max(self.last_at, look.at)
        for slug in self.live:
            state = self.tasks[slug]
            if state.phase != Phase.WORKING or look.at < state.launched_at:
                continue
            agent = state.agent
            sight = follow(self.sights.get(agent), look.seen.get(agent), look)
            if sight is not None:
                self.sights[agent] = sight

    def apply(self, entry: Entry) -> None:
        """Takes in one journal entry."""
        self.last_at = max(self.last_at, entry.at)
        if entry.kind == "intended":
            self.in_flight[entry.step, entry.task] = entry
        elif entry.kind in ("done", "failed"):
            self._land(entry)
        if entry.task:
            before = self.tasks[entry.task]
            self._place(before, _task_after(before, entry))
        else:
            self._apply_run(entry)

    def _land(self, entry: Entry) -> None:
        intention = self.in_flight.get((entry.step, entry.task))
        if intention is not None and intention.attempt == entry.attempt:
            del self.in_flight[entry.step, entry.task]

    def _apply_run(self, entry: Entry) -> None:
        if entry.step == "base" and entry.kind != "intended":
            self.base = entry.kind
        elif entry.step == "run" and entry.message == "resumed":
            self.may_launch, self.is_aborting = True, False
            self.knobs = convert({**to_builtins(self.knobs), **entry.data.get("knobs", {})}, Knobs)
            self._requeue(again=entry.data.get("again", ()))
        elif entry.step == "run" and entry.message == "interrupted":
            self.may_launch = False
            self.is_aborting = bool(entry.data.get("abort"))

    def _requeue(self, again: Iterable[str]) -> None:
        """Gives tasks a new attempt: those that an interrupt cut off, and those that were asked for."""
        wanted = set(again)
        for slug, state in self.tasks.items():
            if state.phase == Phase.ENDED and (state.was_interrupted or slug in wanted):
                attempt = state.attempt + 1
                fresh = TaskState(slug, agent_of(self.spec.id, slug, attempt), attempt, since=self.last_at)
                self._place(state, fresh)

    def _place(self, before: TaskState, after: TaskState) -> None:
        slug, phase = after.slug, after.phase
        self.tasks[slug] = after
        for phases, group in (
            ((Phase.QUEUED,), self.queue),
            (HOLDS_SLOT, self.live),
            ((Phase.TO_VERIFY, Phase.VERIFYING), self.to_verify),
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
            self.sights.pop(before.agent, None)


def fold(spec: RunSpec, entries: Iterable[Entry]) -> RunState:
    """The state after all of these entries."""
    state = RunState(spec)
    for entry in entries:
        state.apply(entry)
    return state


def _in_order(spec: RunSpec) -> list[str]:
    """Longest first, as far as past runs tell: a long task that starts last is waited for by everyone."""
    return [task.slug for task in sorted(spec.tasks, key=lambda task: -task.expected_s)]


def _task_after(state: TaskState, entry: Entry) -> TaskState:
    if entry.attempt != state.attempt:
        return state
    if entry.kind == "noted":
        return _noted(state, entry)
    return _AFTER[entry.step](state, entry)


def _noted(state: TaskState, entry: Entry) -> TaskState:
    return replace(state, notes=(*state.notes, entry.message))


def _after_launch(state: TaskState, entry: Entry) -> TaskState:
    if state.phase == Phase.ENDED:
        # It came after we had given up on it: what it started must not run on.
        return replace(state, is_stray=entry.kind == "done")
    if entry.kind == "intended":
        return replace(state, phase=Phase.LAUNCHING, since=entry.at)
    if entry.kind == "done":
        return replace(state, phase=Phase.WORKING, since=entry.at, launched_at=entry.at)
    return _ended(_failed(state, entry), entry)


def _after_watch(state: TaskState, entry: Entry) -> TaskState:
    if state.phase != Phase.WORKING:
        return state
    if entry.kind == "failed":
        interrupted = bool(entry.data.get("interrupted"))
        state = replace(_failed(state, entry), was_interrupted=interrupted)
    return replace(state, phase=Phase.ENDING, since=entry.at)


def _after_nudge(state: TaskState, entry: Entry) -> TaskState:
    if entry.kind == "intended":
        return replace(state, nudged_at=entry.at)
    note = f"nudge: {entry.message}" if entry.message else "nudged"
    return replace(state, nudge_failed=entry.kind == "failed", notes=(*state.notes, note))


def _after_pull(state: TaskState, entry: Entry) -> TaskState:
    if state.phase not in (Phase.ENDING, Phase.PULLING):
        return state
    if entry.kind == "intended":
        return replace(state, phase=Phase.PULLING, since=entry.at)
    if entry.kind == "failed":
        state = _failed(state, entry)
    needs_verdict = entry.kind == "done" and bool(entry.data.get("verify")) and not state.has_failed
    return replace(state, phase=Phase.STOPPING, since=entry.at, needs_verdict=needs_verdict)


def _after_stop(state: TaskState, entry: Entry) -> TaskState:
    if entry.kind == "intended":
        return state
    if entry.kind == "failed":
        state = _noted(state, replace(entry, message=f"stop failed: {entry.message}"))
    if state.phase != Phase.STOPPING:
        return replace(state, is_stray=False)
    if state.needs_verdict:
        return replace(state, phase=Phase.TO_VERIFY, since=entry.at)
    return _ended(state, entry)


def _after_verify(state: TaskState, entry: Entry) -> TaskState:
    if state.phase not in (Phase.TO_VERIFY, Phase.VERIFYING):
        return state
    if entry.kind == "intended":
        return replace(state, phase=Phase.VERIFYING, since=entry.at)
    return _ended(_failed(state, entry) if entry.kind == "failed" else state, entry)


def _failed(state: TaskState, entry: Entry) -> TaskState:
    """The first failure is the one to tell; what fails after it is a note."""
    if state.has_failed:
        return replace(state, notes=(*state.notes, f"{entry.step} failed: {entry.message}"))
    return replace(state, stage=entry.step, message=entry.message)


def _ended(state: TaskState, entry: Entry) -> TaskState:
    return replace(state, phase=Phase.ENDED, since=entry.at)


_AFTER = {
    "launch": _after_launch,
    "watch": _after_watch,
    "nudge": _after_nudge,
    "pull": _after_pull,
    "stop": _after_stop,
    "verify": _after_verify,
}
