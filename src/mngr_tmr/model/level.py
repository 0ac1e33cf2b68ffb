"""How much gets done at each number of agents at once. Pure."""

from collections.abc import Iterable, Sequence
from itertools import pairwise

from msgspec import Struct

_ENOUGH_TASKS, _ENOUGH_S = 5.0, 300.0
_AS_GOOD = 0.95


class Level(Struct, frozen=True):
    """What happened while this many slots were in use.

    A task counts at each level by the share of its time that it spent there. `waited_s` is the time of these tasks
    before their agents were at work, in the queue and in the launch.
    """

    slots: int
    seconds: float = 0.0
    tasks: float = 0.0
    failures: float = 0.0
    waited_s: float = 0.0

    @property
    def tasks_per_hour(self) -> float:
        """Tasks with a result."""
        return (self.tasks - self.failures) * 3600 / self.seconds if self.seconds else 0.0

    @property
    def wait_s(self) -> float:
        """Of one task."""
        return self.waited_s / self.tasks if self.tasks else 0.0


class Occupied(Struct, frozen=True):
    """A task in a slot, from its launch until its agent is stopped; whether it ended without a result."""

    start: float
    end: float
    waited_s: float = 0.0
    has_failed: bool = False


def measure_levels(tasks: Iterable[Occupied]) -> tuple[Level, ...]:
    """One level for each number of slots that was in use at some time."""
    tasks = [task for task in tasks if task.end > task.start]
    marks = sorted({at for task in tasks for at in (task.start, task.end)})
    waiting, open_ = sorted(tasks, key=lambda task: -task.start), list[Occupied]()
    found: dict[int, Level] = {}
    for start, end in pairwise(marks):
        while waiting and waiting[-1].start <= start:
            open_.append(waiting.pop())
        open_ = [task for task in open_ if task.end > start]
        if not open_:
            continue
        shares = [(task, (end - start) / (task.end - task.start)) for task in open_]
        here = Level(
            len(open_),
            end - start,
            sum(share for _, share in shares),
            sum(share for task, share in shares if task.has_failed),
            sum(share * task.waited_s for task, share in shares),
        )
        found[here.slots] = _both(found.get(here.slots, Level(here.slots)), here)
    return tuple(found[slots] for slots in sorted(found))


def add_levels(runs: Iterable[Iterable[Level]]) -> tuple[Level, ...]:
    """The levels of several runs as one."""
    found: dict[int, Level] = {}
    for levels in runs:
        for level in levels:
            found[level.slots] = _both(found.get(level.slots, Level(level.slots)), level)
    return tuple(found[slots] for slots in sorted(found))


def sweet_spot(levels: Sequence[Level]) -> Level | None:
    """The fewest slots that get nearly as much done as the best; None until two levels were seen for long enough."""
    known = [level for level in levels if level.tasks >= _ENOUGH_TASKS and level.seconds >= _ENOUGH_S]
    if len(known) < 2:
        return None
    best = max(level.tasks_per_hour for level in known)
    return next(level for level in known if level.tasks_per_hour >= _AS_GOOD * best)


def _both(one: Level, other: Level) -> Level:
    return Level(
        one.slots,
        one.seconds + other.seconds,
        one.tasks + other.tasks,
        one.failures + other.failures,
        one.waited_s + other.waited_s,
    )
