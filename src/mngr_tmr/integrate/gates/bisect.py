"""Finds the change that broke a check: changes are added task by task, and every build rules out half of them."""

from collections.abc import Sequence

from mngr_tmr.integrate.branch.builder import BranchBuilder
from mngr_tmr.integrate.branch.plan import BranchPlan
from mngr_tmr.integrate.gates.checks import BranchCheck
from mngr_tmr.integrate.split.change import TaskChange


def find_culprits(builder: BranchBuilder, base: str, plan: BranchPlan, check: BranchCheck) -> tuple[str, ...]:
    """The ids of the changes without which the check passes again; nothing when it fails on the base too.

    A check that its own task's work must turn green starts from that work. If it then breaks with another task's, the
    one of lower rank is the culprit.
    """
    search = _Search(builder, plan, check)
    ranked = list(dict.fromkeys(task for change in (*plan.fixes, *plan.others) for task in change.tasks))
    if not ranked:
        return ()
    if not check.is_red_at_base and not check.problem(base):
        return search.first_red((), ranked)
    if check.owner not in ranked:
        return ()
    own = search.changes_of([check.owner])
    if search.is_red(own):
        return tuple(change.id for change in own)
    others = [task for task in ranked if task != check.owner]
    culprits = search.first_red([check.owner], others)
    makers = {task for change in plan.fixes + plan.others if change.id in culprits for task in change.tasks}
    if any(ranked.index(task) < ranked.index(check.owner) for task in makers):
        return tuple(change.id for change in own if change.id not in culprits) or culprits
    return culprits


class _Search:
    """Builds parts of a plan and runs the check on them."""

    def __init__(self, builder: BranchBuilder, plan: BranchPlan, check: BranchCheck) -> None:
        self._builder, self._plan, self._check = builder, plan, check

    def first_red(self, before: Sequence[str], tasks: Sequence[str]) -> tuple[str, ...]:
        """The changes of the first task that make it fail; it passes with `before` alone and fails with all."""
        green, red = 0, len(tasks)
        while red - green > 1:
            middle = (green + red) // 2
            if self.is_red(self.changes_of([*before, *tasks[:middle]])):
                red = middle
            else:
                green = middle
        return self._within([*before, *tasks[:green]], [*before, *tasks[:red]])

    def _within(self, green: Sequence[str], red: Sequence[str]) -> tuple[str, ...]:
        """The first change of the last task that makes it fail, fixes before tests."""
        there = self.changes_of(green)
        known = {change.id for change in there}
        new = [change for change in self.changes_of(red) if change.id not in known]
        new.sort(key=lambda change: not change.is_implementation)
        for number in range(1, len(new)):
            if self.is_red([*there, *new[:number]]):
                return (new[number - 1].id,)
        return (new[-1].id,) if new else ()

    def changes_of(self, tasks: Sequence[str]) -> list[TaskChange]:
        chosen = set(tasks)
        return [
            change for change in (*self._plan.others, *self._plan.fixes) if chosen.intersection(change.tasks)
        ]

    def is_red(self, changes: Sequence[TaskChange]) -> bool:
        chosen = {change.id for change in changes}
        chosen |= {need for change in changes for need in change.needs}
        gone = [change.id for change in (*self._plan.others, *self._plan.fixes) if change.id not in chosen]
        return bool(self._check.problem(self._builder.build(self._plan.without(gone)).tip))
