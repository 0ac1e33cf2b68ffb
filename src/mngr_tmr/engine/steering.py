"""A run is steered while it runs: what persons asked for."""

from typing import Any

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from mngr_tmr.model.entry import Entry
from mngr_tmr.model.facts import RunResumed, RunSteered
from mngr_tmr.model.limits import RunLimits
from mngr_tmr.model.money import parse_amount
from mngr_tmr.model.run import RunOptions

# What may change while a run goes on: everything else was used when its agents were launched.
STEERABLE = ("slots", "verifiers", "timeout_s")
STEERABLE_LIMITS = ("budget", "agent_budget")
_MOST_AT_ONCE = 10_000
_MOST_S = 30 * 86_400.0


class SteeringState(Struct, frozen=True):
    """The requests that the journal has, and since when and by whom the run is paused; 0 when it is not."""

    taken: frozenset[str] = frozenset()
    paused_at: float = 0.0
    paused_by: str = ""

    def after(self, entry: Entry) -> "SteeringState":
        fact = entry.fact
        if isinstance(fact, RunResumed):
            return replace(self, paused_at=0.0, paused_by="")
        if not isinstance(fact, RunSteered):
            return self
        state = replace(self, taken=self.taken | {fact.request})
        if fact.refused or fact.action not in ("pause", "resume"):
            return state
        is_pause = fact.action == "pause"
        return replace(state, paused_at=entry.at if is_pause else 0.0, paused_by=fact.by if is_pause else "")


def changed_by_steering(options: RunOptions, changes: dict[str, Any]) -> RunOptions:
    """The options with these changes; a ValueError or UsageError says which of them cannot be."""
    for name in changes:
        if name not in (*STEERABLE, *STEERABLE_LIMITS):
            raise ValueError(f"{name} cannot change while a run goes on")
    new = {name: value for name, value in changes.items() if name in STEERABLE}
    budgets = {name: value for name, value in changes.items() if name in STEERABLE_LIMITS}
    limits = msgspec.convert({**msgspec.to_builtins(options.limits), **budgets}, RunLimits)
    for name, amount in budgets.items():
        parse_amount(amount, name.replace("_", " "))
    changed = msgspec.convert({**msgspec.to_builtins(replace(options, limits=limits)), **new}, RunOptions)
    if not (0 < changed.slots <= _MOST_AT_ONCE and 0 < changed.verifiers <= _MOST_AT_ONCE):
        raise ValueError(f"slots and verifiers are 1 to {_MOST_AT_ONCE}")
    if not 0 < changed.timeout_s <= _MOST_S:
        raise ValueError(f"a timeout is more than 0 s and at most {_MOST_S:g} s")
    return changed
