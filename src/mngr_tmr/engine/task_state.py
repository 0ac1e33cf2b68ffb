"""One task of a run, and what each entry of the journal makes of it."""

import random
from enum import StrEnum
from typing import Literal

from msgspec import Struct
from msgspec.structs import replace

from mngr_tmr.engine.retries import MOST_RETRIES, wait_s
from mngr_tmr.model.entry import Entry
from mngr_tmr.model.facts import (
    AgentAsks,
    AgentLimited,
    AgentSilent,
    HostFailed,
    LimitEnded,
    RunSteered,
    TaskRetried,
    VerdictsFound,
    VerifyAgain,
    VerifyRequest,
    WorkFailed,
    WorkFailureCause,
    WorkPulled,
)

# Between tries of an agent that met a limit; after so long at work its limits in a row are forgotten.
_FIRST_LIMIT_S, _MOST_LIMIT_S, _FORGOTTEN_S = 10.0, 300.0, 300.0


class TaskPhase(StrEnum):
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


HOLDS_SLOT = frozenset(
    (TaskPhase.LAUNCHING, TaskPhase.WORKING, TaskPhase.ENDING, TaskPhase.PULLING, TaskPhase.STOPPING)
)


class TaskState(Struct, frozen=True):
    """One task. `stage` and `message` are set when a step of ours failed; pulling goes on, to save what there is.

    `silent_since` is set while its busy agent shows no sign of life. While its agent waits for a person, `asks` says
    for what ("permission" or "input") and `question` is its question. `tree` is that of the commit to verify; a task
    that is verified `alone` shares no working copy with others. A pull or verification that failed with its host was
    tried again so many `retries`, and is not before `retry_at`. `verdict` is that of its last verification.
    `fix` is the task whose fix is tried on it, or has fixed it; with the fixes in `tried` it did not pass.
    A task that `is_skipped` has ended without an agent.
    Since `limited_at` its agent waits for a limit of the model's provider, until `limited_until` at least; `limited_s`
    is how long it did before, and `limits` how often in a row.
    """

    slug: str
    agent: str
    attempt: int = 1
    phase: TaskPhase = TaskPhase.QUEUED
    since: float = 0.0
    launched_at: float = 0.0
    nudged_at: float | None = None
    nudge_failed: bool = False
    stage: str = ""
    message: str = ""
    needs_verdict: bool = False
    cause: WorkFailureCause | Literal[""] = ""
    is_stray: bool = False
    asks: str = ""
    question: str = ""
    asked_at: float = 0.0
    silent_since: float = 0.0
    tree: str = ""
    alone: bool = False
    retries: int = 0
    retry_at: float = 0.0
    verdict: str = ""
    fix: str = ""
    tried: tuple[str, ...] = ()
    is_skipped: bool = False
    limited_at: float = 0.0
    limited_until: float = 0.0
    limited_s: float = 0.0
    limits: int = 0
    limit_ended_at: float = 0.0
    notes: tuple[str, ...] = ()

    @property
    def was_interrupted(self) -> bool:
        return self.cause == "interrupted"

    @property
    def has_failed(self) -> bool:
        return bool(self.stage)

    @property
    def phase_since(self) -> float:
        """Since when it has been at what it is at, which may be waiting for a person, or nothing."""
        return self.asked_at if self.asks else self.silent_since or self.since


def task_after(state: TaskState, entry: Entry) -> TaskState:
    """The task after an entry about it; one about another attempt changes nothing."""
    if entry.attempt != state.attempt:
        return state
    if entry.kind == "noted":
        if isinstance(entry.fact, RunSteered | TaskRetried):
            is_cancel = isinstance(entry.fact, RunSteered) and entry.fact.action == "cancel"
            return _cancelled(state, entry) if is_cancel else state
        if isinstance(entry.fact, AgentSilent):
            return replace(state, silent_since=entry.fact.silent_since)
        if isinstance(entry.fact, AgentLimited):
            return _limited(state, entry, entry.fact)
        if isinstance(entry.fact, LimitEnded):
            return _limit_ended(state, entry)
        if isinstance(entry.fact, AgentAsks):
            return replace(state, asks=entry.fact.asks, question=entry.message, asked_at=entry.at)
        return replace(state, notes=(*state.notes, entry.message))
    if entry.kind == "later":
        # A step that was refused for now: the task is where it was before it, at the same attempt.
        if entry.step == "nudge":
            return replace(state, nudged_at=None)
        if entry.step == "verify" and state.fix:
            return replace(state, phase=TaskPhase.QUEUED, since=entry.at, fix="")
        back = _BEFORE.get((entry.step, state.phase))
        return replace(state, phase=back, since=entry.at) if back else state
    return _AFTER[entry.step](state, entry)


def _cancelled(state: TaskState, entry: Entry) -> TaskState:
    """What an agent at work has is pulled; one that is being launched is stopped when it is there."""
    if state.phase not in (TaskPhase.QUEUED, TaskPhase.LAUNCHING, TaskPhase.WORKING):
        return state
    state = replace(_failed(state, entry), cause="cancelled", asks="", question="", silent_since=0.0)
    phase = TaskPhase.ENDING if state.phase == TaskPhase.WORKING else TaskPhase.ENDED
    return replace(state, phase=phase, since=entry.at)


def _after_launch(state: TaskState, entry: Entry) -> TaskState:
    if state.phase == TaskPhase.ENDED:
        # It came after we had given up on it: what it started must not run on.
        return replace(state, is_stray=entry.kind == "done")
    if entry.kind == "intended":
        return replace(state, phase=TaskPhase.LAUNCHING, since=entry.at)
    if entry.kind == "done":
        return replace(state, phase=TaskPhase.WORKING, since=entry.at, launched_at=entry.at)
    return _ended(_failed(state, entry), entry)


def _after_watch(state: TaskState, entry: Entry) -> TaskState:
    if state.phase != TaskPhase.WORKING:
        return state
    if entry.kind == "failed":
        cause = entry.fact.cause if isinstance(entry.fact, WorkFailed) else "unknown"
        state = replace(_failed(state, entry), cause=cause)
    return replace(state, phase=TaskPhase.ENDING, since=entry.at, asks="", question="", silent_since=0.0)


def _after_nudge(state: TaskState, entry: Entry) -> TaskState:
    if isinstance(entry.fact, LimitEnded):
        return _limit_ended(state, entry) if entry.kind == "intended" else state
    if entry.kind == "intended":
        return replace(state, nudged_at=entry.at)
    note = f"nudge: {entry.message}" if entry.message else "nudged"
    return replace(state, nudge_failed=entry.kind == "failed", notes=(*state.notes, note))


def _limited(state: TaskState, entry: Entry, fact: AgentLimited) -> TaskState:
    """It waits as long as the provider asks, else longer each time, and not all agents go on at the same moment."""
    limits = 1 if entry.at - state.limit_ended_at >= _FORGOTTEN_S else state.limits + 1
    chance = random.Random(f"{state.slug} {entry.at}")
    if fact.until:
        until = fact.until + chance.uniform(0.0, _FIRST_LIMIT_S)
    else:
        until = entry.at + min(_FIRST_LIMIT_S * 2.0 ** (limits - 1), _MOST_LIMIT_S) * chance.uniform(
            0.75, 1.25
        )
    return replace(state, limited_at=entry.at, limited_until=until, limits=limits)


def _limit_ended(state: TaskState, entry: Entry) -> TaskState:
    if not state.limited_at:
        return state
    limited_s = state.limited_s + entry.at - state.limited_at
    return replace(state, limited_at=0.0, limited_s=limited_s, limit_ended_at=entry.at)


def _after_pull(state: TaskState, entry: Entry) -> TaskState:
    if state.phase not in (TaskPhase.ENDING, TaskPhase.PULLING):
        return state
    if entry.kind == "intended":
        return replace(state, phase=TaskPhase.PULLING, since=entry.at)
    if _may_retry(state, entry):
        return _retried(state, entry, TaskPhase.ENDING)
    if entry.kind == "failed":
        state = _failed(state, entry)
    pulled = entry.fact if isinstance(entry.fact, WorkPulled) else WorkPulled()
    needs_verdict = entry.kind == "done" and pulled.verify and not state.has_failed
    return replace(
        state, phase=TaskPhase.STOPPING, since=entry.at, needs_verdict=needs_verdict, tree=pulled.tree
    )


def _after_stop(state: TaskState, entry: Entry) -> TaskState:
    if entry.kind == "intended":
        return state
    if entry.kind == "failed":
        state = replace(state, notes=(*state.notes, f"stop failed: {entry.message}"))
    if state.phase != TaskPhase.STOPPING:
        return replace(state, is_stray=False)
    if state.needs_verdict:
        return replace(state, phase=TaskPhase.TO_VERIFY, since=entry.at)
    return _ended(state, entry)


def _after_verify(state: TaskState, entry: Entry) -> TaskState:
    if state.phase == TaskPhase.QUEUED and isinstance(entry.fact, VerifyRequest) and entry.fact.fix:
        return replace(state, phase=TaskPhase.VERIFYING, since=entry.at, fix=entry.fact.fix)
    if state.phase not in (TaskPhase.TO_VERIFY, TaskPhase.VERIFYING):
        return state
    if entry.kind == "intended":
        return replace(state, phase=TaskPhase.VERIFYING, since=entry.at)
    if isinstance(entry.fact, VerifyAgain):
        phase = TaskPhase.QUEUED if state.fix else TaskPhase.TO_VERIFY
        return replace(state, phase=phase, since=entry.at, fix="", alone=True)
    if _may_retry(state, entry):
        return replace(_retried(state, entry, TaskPhase.QUEUED if state.fix else TaskPhase.TO_VERIFY), fix="")
    verdict = entry.fact.verdict if isinstance(entry.fact, VerdictsFound) else ""
    if state.fix and verdict != "passed":
        note = f"with the fix of {state.fix} too: {verdict or entry.message}"
        tried, notes = (*state.tried, state.fix), (*state.notes, note)
        return replace(
            state, phase=TaskPhase.QUEUED, since=entry.at, fix="", tried=tried, notes=notes, alone=False
        )
    return _ended(_failed(state, entry) if entry.kind == "failed" else replace(state, verdict=verdict), entry)


def _may_retry(state: TaskState, entry: Entry) -> bool:
    """Whether a step failed with a host, and what the agent finished may still be had: it is not run again for that."""
    is_host = entry.kind == "failed" and isinstance(entry.fact, HostFailed)
    return is_host and not state.has_failed and state.retries < MOST_RETRIES


def _retried(state: TaskState, entry: Entry, phase: TaskPhase) -> TaskState:
    """The same step of the same attempt once more, after a wait."""
    return replace(
        state,
        phase=phase,
        since=entry.at,
        retries=state.retries + 1,
        retry_at=entry.at + wait_s(state.slug, state.retries),
        notes=(*state.notes, f"{entry.step} tried again after: {entry.message}"),
    )


def _failed(state: TaskState, entry: Entry) -> TaskState:
    """The first failure is the one to tell; what fails after it is a note."""
    if state.has_failed:
        return replace(state, notes=(*state.notes, f"{entry.step} failed: {entry.message}"))
    return replace(state, stage=entry.step, message=entry.message)


def _ended(state: TaskState, entry: Entry) -> TaskState:
    return replace(state, phase=TaskPhase.ENDED, since=entry.at)


_BEFORE = {
    ("launch", TaskPhase.LAUNCHING): TaskPhase.QUEUED,
    ("pull", TaskPhase.PULLING): TaskPhase.ENDING,
    ("verify", TaskPhase.VERIFYING): TaskPhase.TO_VERIFY,
}
_AFTER = {
    "launch": _after_launch,
    "watch": _after_watch,
    "nudge": _after_nudge,
    "pull": _after_pull,
    "stop": _after_stop,
    "verify": _after_verify,
}
