"""What was lost with a host is tried again: at most twice, after growing waits. What an agent finished is kept."""

import random

from msgspec import Struct
from msgspec.structs import replace

from mngr_tmr.model.entry import Entry
from mngr_tmr.model.facts import HostFailed, TaskRetried, WorkFailed, WorkPulled

MOST_RETRIES = 2
_WAITS_S = (5.0, 30.0)
_LOST = ("disappeared", "host_lost")


class Retry(Struct, frozen=True):
    """The attempt that was lost, why, and when the next one may begin."""

    attempt: int
    why: str
    due_at: float


class RetriesState(Struct, frozen=True):
    """By task: how often it was tried again, and the attempt that is to be followed by another."""

    counts: dict[str, int] = {}
    due: dict[str, Retry] = {}

    def after(self, entry: Entry) -> "RetriesState":
        slug, fact = entry.task, entry.fact
        if isinstance(fact, TaskRetried):
            return RetriesState({**self.counts, slug: self.counts.get(slug, 0) + 1}, self._without(slug))
        if isinstance(fact, WorkPulled) and fact.verify:
            return replace(self, due=self._without(slug))
        count = self.counts.get(slug, 0)
        if not is_lost(entry) or count >= MOST_RETRIES:
            return self
        retry = Retry(entry.attempt, f"{entry.step} failed: {entry.message}", entry.at + wait_s(slug, count))
        return replace(self, due={**self.due, slug: retry})

    def _without(self, slug: str) -> dict[str, Retry]:
        return {name: retry for name, retry in self.due.items() if name != slug}


def is_lost(entry: Entry) -> bool:
    """Whether an agent was not launched, or ended without a result, because of its host."""
    if entry.kind != "failed":
        return False
    is_work_lost = isinstance(entry.fact, WorkFailed) and entry.fact.cause in _LOST
    return is_work_lost or (entry.step == "launch" and isinstance(entry.fact, HostFailed))


def wait_s(slug: str, count: int) -> float:
    """How long the next try waits after so many; tasks that failed together do not begin again together."""
    return _WAITS_S[min(count, MOST_RETRIES - 1)] * random.Random(f"{slug} {count}").uniform(0.75, 1.25)
