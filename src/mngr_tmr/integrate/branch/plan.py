"""The order in which changes are put on the branch: equal fixes once, the most needed first.

Tests, docs and tutorials come first, as one commit, then the fixes by rank. That commit can be merged as it is while
the fixes are still reviewed; every fix is seen with the tests it turns green, which are red at its parent; and
leaving a fix out never changes the commit below. Paths of the two kinds never meet, so reverts are as clean either way.
"""

from collections.abc import Iterable, Sequence

from msgspec import Struct
from msgspec.structs import replace

from mngr_tmr.integrate.split.change import TaskChange


class BranchPlan(Struct, frozen=True):
    """What to put on the branch. `absorbed` maps the ids of changes to those of the changes that contain them.

    `overlaps` maps a change to the earlier ones that contain a part of it.
    """

    others: tuple[TaskChange, ...] = ()
    fixes: tuple[TaskChange, ...] = ()
    absorbed: dict[str, tuple[str, ...]] = {}
    overlaps: dict[str, tuple[str, ...]] = {}

    def without(self, dropped: Iterable[str]) -> "BranchPlan":
        """The plan without some changes, and without those that need them."""
        gone = set(dropped)
        for change in self.fixes:
            if gone.intersection(change.needs):
                gone.add(change.id)
        return replace(
            self,
            others=tuple(change for change in self.others if change.id not in gone),
            fixes=tuple(change for change in self.fixes if change.id not in gone),
        )


def make_plan(changes: Sequence[TaskChange]) -> BranchPlan:
    """Joins equal fixes, ranks the rest and records overlaps."""
    joined, duplicates = _joined([change for change in changes if change.is_implementation])
    kept: dict[str, TaskChange] = {}
    holders: dict[str, str] = {}
    absorbed, overlaps = dict(duplicates), dict[str, tuple[str, ...]]()
    for change in _in_order(joined):
        owners = tuple(dict.fromkeys(holders[mark] for mark in sorted(change.marks) if mark in holders))
        is_held = bool(owners) and all(mark in holders for mark in change.marks)
        for owner in owners:
            if is_held or kept[owner].marks <= change.marks:
                kept[owner] = replace(kept[owner], sources=(*kept[owner].sources, *change.sources))
        if owners:
            (absorbed if is_held else overlaps)[change.id] = owners
        if not is_held:
            kept[change.id] = change
            holders.update({mark: change.id for mark in change.marks if mark not in holders})
    others = tuple(change for change in changes if not change.is_implementation)
    return BranchPlan(
        others, tuple(_redirect(change, absorbed) for change in kept.values()), absorbed, overlaps
    )


def _joined(changes: Sequence[TaskChange]) -> tuple[list[TaskChange], dict[str, tuple[str, ...]]]:
    """Joins equal changes into one, attributed to all tasks that made it."""
    same: dict[frozenset[str], list[TaskChange]] = {}
    for change in sorted(changes, key=lambda change: len(change.needs)):
        same.setdefault(change.marks, []).append(change)
    duplicates: dict[str, tuple[str, ...]] = {
        duplicate.id: (first.id,) for first, *rest in same.values() for duplicate in rest
    }
    joined = [
        replace(
            first,
            sources=tuple(source for change in (first, *rest) for source in change.sources),
            importance=max(change.importance for change in (first, *rest)),
        )
        for first, *rest in same.values()
    ]
    return [_redirect(change, duplicates) for change in joined], duplicates


def _redirect(change: TaskChange, held_by: dict[str, tuple[str, ...]]) -> TaskChange:
    """The change with its needs replaced by the changes that contain them."""
    needs = (holder for need in change.needs for holder in held_by.get(need, (need,)))
    return replace(change, needs=tuple(dict.fromkeys(need for need in needs if need != change.id)))


def _in_order(changes: Sequence[TaskChange]) -> list[TaskChange]:
    """The changes by rank; those that a change needs come before it.

    More tests go first, then the greater importance, then the smaller and less spread change.
    """
    holding: dict[str, set[int]] = {}
    for number, change in enumerate(changes):
        for mark in change.marks:
            holding.setdefault(mark, set()).add(number)

    def rank(change: TaskChange) -> tuple[int, int, int, int, str]:
        """Counts the tasks that made this fix, alone or as a part of a larger one."""
        alike = set.intersection(*(holding[mark] for mark in change.marks)) if change.marks else set()
        tests = len({task for number in alike for task in changes[number].tasks})
        tests += sum(source.turned_green for source in change.sources)
        return -tests, -change.importance, len(change.files), change.lines, change.id

    by_id = {change.id: change for change in changes}
    placed: dict[str, TaskChange] = {}

    def place(change: TaskChange) -> None:
        if change.id in placed:
            return
        for need in change.needs:
            if need in by_id:
                place(by_id[need])
        placed[change.id] = change

    for change in sorted(changes, key=rank):
        place(change)
    return list(placed.values())


def rank_reason(change: TaskChange) -> str:
    """The reason for a rank in words, from what was counted to order the fixes."""
    agents = len(change.tasks)
    green = len({source.task for source in change.sources if source.turned_green})
    tests = "its test" if agents == 1 else f"{green} of their tests"
    lines, files = change.lines, len(change.files)
    return (
        f"{_count(agents, 'agent')} made it{f', {tests} failed before' if green else ''}; "
        f"importance {change.importance} of 5 by its agent; {_count(lines, 'line')} in {_count(files, 'file')}"
    )


def _count(number: int, one: str, many: str = "") -> str:
    return f"{number} {one if number == 1 else many or one + 's'}"
