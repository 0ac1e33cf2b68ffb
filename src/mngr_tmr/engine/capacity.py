"""How a run waits when its provider refuses for now: longer each time, then one step at a time until one succeeds."""

import random

from msgspec import Struct
from msgspec.structs import replace

from mngr_tmr.model.entry import Entry
from mngr_tmr.model.facts import ProviderRefusal

_FIRST_S, _MOST_S = 2.0, 60.0
# With so many at once allowed again, the refusals are over.
_PLENTY = 16


class CapacityState(Struct, frozen=True):
    """The refusals that have not been followed by success: how many rounds of them, the last at `at`.

    Nothing that needs the provider begins before `until`, and then no more than `allowed` steps that make hosts. Until
    `asked_until` the provider itself asked to be left alone. `began_with` is the entry that began the last round:
    its step and task.
    """

    rounds: int = 0
    at: float = 0.0
    until: float = 0.0
    asked_until: float = 0.0
    allowed: int = 0
    message: str = ""
    began_with: tuple[str, str] = ("", "")

    def refused(self, entry: Entry, asked_at: float) -> "CapacityState":
        """After a refusal of what was begun at `asked_at`; what was begun before the last one is of the same round."""
        refusal = entry.fact if isinstance(entry.fact, ProviderRefusal) else ProviderRefusal()
        if self.rounds and asked_at < self.at:
            asked_until = max(self.asked_until, entry.at + refusal.retry_after_s)
            return replace(self, until=max(self.until, asked_until), asked_until=asked_until)
        wait_s = min(_FIRST_S * 2.0**self.rounds, _MOST_S) * random.Random(refusal.seed).uniform(0.75, 1.25)
        return CapacityState(
            self.rounds + 1,
            entry.at,
            entry.at + max(wait_s, refusal.retry_after_s),
            entry.at + refusal.retry_after_s,
            1,
            entry.message,
            (entry.step, entry.task),
        )

    def succeeded(self, asked_at: float) -> "CapacityState":
        """After a success: waits begin anew, twice as many may be tried at once, and in the end any number."""
        if not self.rounds or asked_at < self.at:
            return self
        return (
            replace(self, rounds=1, allowed=2 * self.allowed) if self.allowed < _PLENTY else CapacityState()
        )

    def relieved(self, at: float) -> "CapacityState":
        """After a host of ours has ended: there may be room for one now, unless the provider asked for more time."""
        return replace(self, until=max(min(self.until, at), self.asked_until))
