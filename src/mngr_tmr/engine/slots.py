"""How many agents are at work at once: fewer when a limit or the memory says so, more when all has been quiet."""

from msgspec import Struct
from msgspec.structs import replace

from mngr_tmr.model.entry import Entry
from mngr_tmr.model.facts import AgentLimited, RunResumed, RunSteered, SlotsChanged

QUIET_S = 15.0
_SHARE, _CALM_S = 0.8, 15.0
# Once it has been quiet, one more each time; the first one shows whether the limit still holds.
_GROW_EVERY_S = 5.0

SLOTS_WORDS = {
    "rate_limit": "agents met a limit of the model's provider",
    "memory": "this machine has little memory left",
    "quiet": "no limit was met for a while",
}


class SlotsState(Struct, frozen=True):
    """`allowed` of the configured slots, 0 for all of them.

    A limit was last met at `limited_at`, and the provider asked to wait until `asked_until`. The last cut was at
    `reduced_at`; no other is made before `calm_at`. Until `closed_until` a usage window is closed, as the task
    `closed_by` was the first to tell.
    """

    allowed: int = 0
    changed_at: float = 0.0
    limited_at: float = 0.0
    asked_until: float = 0.0
    reduced_at: float = 0.0
    calm_at: float = 0.0
    closed_until: float = 0.0
    closed_by: str = ""

    def after(self, entry: Entry) -> "SlotsState":
        fact = entry.fact
        if isinstance(fact, AgentLimited) and fact.is_window and fact.until:
            closed_by = entry.task if entry.at >= self.closed_until else self.closed_by
            return replace(self, closed_until=max(self.closed_until, fact.until), closed_by=closed_by)
        if isinstance(fact, AgentLimited):
            return replace(self, limited_at=entry.at, asked_until=max(self.asked_until, fact.until))
        if isinstance(fact, SlotsChanged):
            state = replace(self, allowed=fact.slots, changed_at=entry.at)
            calm_at = max(entry.at + _CALM_S, self.asked_until)
            return state if fact.reason == "quiet" else replace(state, reduced_at=entry.at, calm_at=calm_at)
        if isinstance(fact, RunResumed) or (isinstance(fact, RunSteered) and "slots" in fact.options):
            return SlotsState(closed_until=self.closed_until, closed_by=self.closed_by)
        return self

    def of(self, configured: int) -> int:
        return min(self.allowed or configured, configured)


class SlotsUse(Struct, frozen=True):
    """How many slots agents have, how many of them wait for no limit, and whether there is more to do."""

    used: int
    active: int
    has_more: bool = True
    is_memory_short: bool = False


def change_of_slots(state: SlotsState, configured: int, use: SlotsUse, now: float) -> SlotsChanged | None:
    """The change that is due: a fifth less after a limit or while memory is short, at most once until it had an effect.

    Then one more, when it was quiet, all slots are at work and there is more to do.
    """
    slots, is_short = state.of(configured), use.is_memory_short
    if (is_short or state.limited_at > state.calm_at) and now >= state.calm_at and use.used:
        fewer = max(1, int(_SHARE * min(slots, use.used)))
        if fewer < slots:
            return SlotsChanged(fewer, "memory" if is_short else "rate_limit")
    is_quiet = now - max(state.limited_at, state.reduced_at) >= QUIET_S and not is_short
    is_used = use.active >= slots and use.has_more and now - state.changed_at >= _GROW_EVERY_S
    return SlotsChanged(slots + 1, "quiet") if is_quiet and is_used and slots < configured else None
