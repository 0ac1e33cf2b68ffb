"""What changed a whole run while it went on, and why, from its journal. Pure."""

from collections.abc import Iterable

from msgspec import Struct

from mngr_tmr.model.entry import Entry
from mngr_tmr.model.facts import (
    LaunchingStopped,
    RunInterrupted,
    RunPaused,
    RunResumed,
    RunSteered,
    SlotsChanged,
)

_MOST = 500


class RunMark(Struct, frozen=True):
    """A moment and what happened at it."""

    at: float
    text: str


def run_marks(entries: Iterable[Entry]) -> tuple[RunMark, ...]:
    """In order; what was asked of a single test or refused is none."""
    marks = []
    for entry in entries:
        fact = entry.fact
        if entry.task:
            continue
        if isinstance(fact, SlotsChanged) or (isinstance(fact, RunSteered) and not fact.refused):
            marks.append(RunMark(entry.at, entry.message))
        elif isinstance(fact, RunResumed):
            slots = fact.options.get("slots")
            marks.append(RunMark(entry.at, f"resumed with {slots} slots" if slots else "resumed"))
        elif isinstance(fact, RunPaused):
            marks.append(RunMark(entry.at, f"stood still for {max(entry.at - fact.since, 0.0):,.0f} s"))
        elif isinstance(fact, LaunchingStopped):
            marks.append(RunMark(entry.at, f"nothing more is launched: {fact.reason}"))
        elif isinstance(fact, RunInterrupted):
            marks.append(RunMark(entry.at, "interrupted"))
    return tuple(marks[:_MOST])
