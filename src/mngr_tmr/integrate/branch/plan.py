"""Pieces in the order in which they are put on the branch: the same fix once, the most needed first.

Tests, docs and tutorials come first, as one commit, then the fixes by rank. That commit can be merged as it is while
the fixes are still reviewed; every fix is seen with the tests it turns green, which are red at its parent; and
leaving a fix out never changes the commit below. Paths of the two kinds never meet, so reverts are as clean either way.
"""

from collections.abc import Iterable, Sequence

from msgspec import Struct
from msgspec.structs import replace

from mngr_tmr.integrate.split.change import Unit


class Plan(Struct, frozen=True):
    """What to put on the branch. `absorbed` maps pieces that others hold whole to those others' ids.

    `overlaps` maps a piece to the earlier ones that hold a part of it.
    """

    others: tuple[Unit, ...] = ()
    fixes: tuple[Unit, ...] = ()
    absorbed: dict[str, tuple[str, ...]] = {}
    overlaps: dict[str, tuple[str, ...]] = {}

    def without(self, dropped: Iterable[str]) -> "Plan":
        """The plan less some pieces, and less those that stand on them."""
        gone = set(dropped)
        for unit in self.fixes:
            if gone.intersection(unit.needs):
                gone.add(unit.id)
        return replace(
            self,
            others=tuple(unit for unit in self.others if unit.id not in gone),
            fixes=tuple(unit for unit in self.fixes if unit.id not in gone),
        )


def make_plan(units: Sequence[Unit]) -> Plan:
    """Equal fixes joined, the rest ranked, overlaps named."""
    joined, twins = _joined([unit for unit in units if unit.is_implementation])
    kept: dict[str, Unit] = {}
    holders: dict[str, str] = {}
    absorbed, overlaps = dict(twins), dict[str, tuple[str, ...]]()
    for unit in _in_order(joined):
        owners = tuple(dict.fromkeys(holders[mark] for mark in sorted(unit.marks) if mark in holders))
        is_held = bool(owners) and all(mark in holders for mark in unit.marks)
        for owner in owners:
            if is_held or kept[owner].marks <= unit.marks:
                kept[owner] = replace(kept[owner], sources=(*kept[owner].sources, *unit.sources))
        if owners:
            (absorbed if is_held else overlaps)[unit.id] = owners
        if not is_held:
            kept[unit.id] = unit
            holders.update({mark: unit.id for mark in unit.marks if mark not in holders})
    others = tuple(unit for unit in units if not unit.is_implementation)
    return Plan(others, tuple(_redirect(unit, absorbed) for unit in kept.values()), absorbed, overlaps)


def _joined(units: Sequence[Unit]) -> tuple[list[Unit], dict[str, tuple[str, ...]]]:
    """Pieces that change the same thing in the same way become one, credited to all who made it."""
    same: dict[frozenset[str], list[Unit]] = {}
    for unit in sorted(units, key=lambda unit: len(unit.needs)):
        same.setdefault(unit.marks, []).append(unit)
    twins: dict[str, tuple[str, ...]] = {
        twin.id: (first.id,) for first, *rest in same.values() for twin in rest
    }
    joined = [
        replace(
            first,
            sources=tuple(source for unit in (first, *rest) for source in unit.sources),
            importance=max(unit.importance for unit in (first, *rest)),
        )
        for first, *rest in same.values()
    ]
    return [_redirect(unit, twins) for unit in joined], twins


def _redirect(unit: Unit, held_by: dict[str, tuple[str, ...]]) -> Unit:
    """The piece, standing on those that hold what it stood on."""
    needs = (holder for need in unit.needs for holder in held_by.get(need, (need,)))
    return replace(unit, needs=tuple(dict.fromkeys(need for need in needs if need != unit.id)))


def _in_order(units: Sequence[Unit]) -> list[Unit]:
    """By rank, what a piece stands on always before it."""
    needed = _needed_by(units)
    by_id = {unit.id: unit for unit in units}
    placed: dict[str, Unit] = {}

    def place(unit: Unit) -> None:
        if unit.id in placed:
            return
        for need in unit.needs:
            if need in by_id:
                place(by_id[need])
        placed[unit.id] = unit

    for unit in sorted(units, key=lambda unit: _rank_key(unit, needed[unit.id])):
        place(unit)
    return list(placed.values())


def _rank_key(unit: Unit, needed: int) -> tuple[int, int, int, int, str]:
    """More tests first, then the greater importance, then the smaller and less spread change."""
    green = sum(source.turned_green for source in unit.sources)
    return -(needed + green), -unit.importance, len(unit.files), unit.lines, unit.id


def _needed_by(units: Sequence[Unit]) -> dict[str, int]:
    """How many tasks made this fix, alone or as a part of a larger one."""
    holding: dict[str, set[int]] = {}
    for number, unit in enumerate(units):
        for mark in unit.marks:
            holding.setdefault(mark, set()).add(number)
    counts = {}
    for unit in units:
        alike = set.intersection(*(holding[mark] for mark in unit.marks)) if unit.marks else set()
        counts[unit.id] = len({task for number in alike for task in units[number].tasks})
    return counts


def why_ranked(unit: Unit) -> str:
    """The reason for a rank in words: what was counted when the fixes were put in order."""
    agents = len(unit.tasks)
    green = len({source.task for source in unit.sources if source.turned_green})
    tests = "its test" if agents == 1 else f"{green} of their tests"
    lines, files = unit.lines, len(unit.files)
    return (
        f"{_count(agents, 'agent')} made it{f', {tests} failed before' if green else ''}; "
        f"importance {unit.importance} of 5 by its agent; {_count(lines, 'line')} in {_count(files, 'file')}"
    )


def _count(number: int, one: str, many: str = "") -> str:
    return f"{number} {one if number == 1 else many or one + 's'}"
