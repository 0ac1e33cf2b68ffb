"""Tasks that fail at the same stage with the same cause: one alert, and if asked for no launches until one succeeds."""

import hashlib
from collections.abc import Iterator

from msgspec import Struct
from msgspec.structs import replace

from mngr_tmr.engine.task_state import TaskPhase, TaskState
from mngr_tmr.failures.fingerprint import fingerprint, telling_line
from mngr_tmr.failures.likely_cause import likely_cause
from mngr_tmr.model.entry import Entry
from mngr_tmr.model.facts import BreakerProbe, CauseRepeated, RunResumed, RunSteered

_WINDOW, _LEAST_SHARE = 20, 4
_PROBE_S, _PROBE_MOST_S, MOST_PROBES = 60.0, 900.0, 6
_NO_CAUSE = ("interrupted", "cancelled")
_SHOWN = 10


class TaskOutcome(Struct, frozen=True):
    """How an attempt at a task ended; `cause` is equal for failures that are alike, and empty for none."""

    task: str
    at: float
    cause: str = ""
    stage: str = ""
    message: str = ""
    host: str = ""
    agent_type: str = ""


class BreakerState(Struct, frozen=True):
    """The last outcomes, and the causes that an alert was given for.

    While `cause` is set nothing is launched but the `probe`, which comes `probe_at`, after so many that failed.
    """

    outcomes: tuple[TaskOutcome, ...] = ()
    alerted: frozenset[str] = frozenset()
    cause: str = ""
    title: str = ""
    probe: str = ""
    probe_at: float = 0.0
    failed_probes: int = 0

    def after(self, entry: Entry) -> "BreakerState":
        """After a cause was found, a probe was chosen, or a person resumed."""
        fact = entry.fact
        if isinstance(fact, CauseRepeated):
            state = replace(self, alerted=self.alerted | {fact.cause})
            if not fact.pauses:
                return state
            return replace(state, cause=fact.cause, title=fact.title, probe_at=entry.at + _PROBE_S)
        if isinstance(fact, BreakerProbe):
            return replace(self, probe=entry.task)
        is_resumed = isinstance(fact, RunSteered) and fact.action == "resume" and not fact.refused
        return self._closed() if is_resumed or isinstance(fact, RunResumed) else self

    def moved(self, before: TaskState, after: TaskState, host: str, agent_type: str) -> "BreakerState":
        """After a task has changed."""
        if after.has_failed and not before.has_failed and after.cause not in _NO_CAUSE:
            named = after.message.replace(after.agent, "AGENT").replace(after.slug, "TASK")
            mark = fingerprint(after.stage, named)
            words = (mark.stage, mark.exception, mark.frame, mark.message)
            cause = hashlib.sha256("\0".join(words).encode(errors="replace")).hexdigest()[:10]
            outcome = TaskOutcome(after.slug, after.since, cause, after.stage, named, host, agent_type)
        elif after.phase == TaskPhase.ENDED != before.phase and not (after.has_failed or after.fix):
            outcome = TaskOutcome(after.slug, after.since)
        else:
            is_launched = after.slug == self.probe and after.phase == TaskPhase.WORKING
            is_enough = is_launched and any(
                one.cause == self.cause and one.stage == "launch" for one in self.outcomes
            )
            return self._closed() if is_enough else self
        state = replace(self, outcomes=(*self.outcomes, outcome)[-_WINDOW:])
        if after.slug != self.probe:
            return state
        if outcome.cause != self.cause:
            return state._closed()
        wait_s = min(_PROBE_S * 2.0 ** (self.failed_probes + 1), _PROBE_MOST_S)
        return replace(state, probe="", probe_at=outcome.at + wait_s, failed_probes=self.failed_probes + 1)

    def _closed(self) -> "BreakerState":
        """Launches go on; what paused them is counted anew."""
        kept = tuple(one for one in self.outcomes if one.cause != self.cause or not self.cause)
        return BreakerState(kept, self.alerted)

    def due(self, now: float, least: int, *, pauses: bool) -> Iterator[Entry]:
        """The causes that so many of the last tasks share, once each; one that pauses does so again."""
        found: dict[str, dict[str, TaskOutcome]] = {}
        for one in self.outcomes:
            if one.cause:
                found.setdefault(one.cause, {})[one.task] = one
        for cause, members in found.items():
            is_new = cause not in self.alerted
            share = -(-len(self.outcomes) // _LEAST_SHARE)
            if len(members) >= max(least, share) and not self.cause and (is_new or pauses):
                fact, text = _repeated(cause, tuple(members.values()), pauses=pauses)
                step = "alert" if is_new else "run"
                kind = "intended" if is_new else "noted"
                yield Entry(now, step, kind, message=text, fact=fact)  # type: ignore[arg-type]


def _repeated(cause: str, members: tuple[TaskOutcome, ...], *, pauses: bool) -> tuple[CauseRepeated, str]:
    first = members[0]
    title = telling_line(first.message) or "no message"
    hosts, types = ({one.host for one in members} - {""}), {one.agent_type for one in members}
    likely = likely_cause(
        first.stage,
        [one.message for one in members],
        hosts=[one.host for one in members if one.host],
        times=[one.at for one in members],
    )
    where = f" on {next(iter(hosts))}" if len(hosts) == 1 else f" on {len(hosts)} hosts" if hosts else ""
    text = (
        f"{len(members)} tasks failed at {first.stage} with the same cause{where}: {title}. "
        f"Likely cause: {likely.kind} ({likely.evidence}). Next: {likely.next_step}"
    )
    if pauses:
        text += ". Launches are paused until one test that is tried succeeds, or: mngr tmr resume"
    tasks = tuple(one.task for one in members)[:_SHOWN]
    return (
        CauseRepeated(
            cause,
            first.stage,
            title,
            tasks,
            tuple(sorted(hosts))[:_SHOWN],
            tuple(sorted(types)),
            likely.kind,
            likely.evidence,
            pauses,
        ),
        text,
    )
