"""Tests that fail alike get one agent first; its verified fix is tried on the others before they get one."""

from collections.abc import Iterator, Mapping

from msgspec import Struct
from msgspec.structs import replace

from mngr_tmr.engine.task_state import TaskPhase, TaskState
from mngr_tmr.model.entry import Entry
from mngr_tmr.model.facts import BaseFailures, BaseMeasured, VerifyRequest

# After so many agents for one failure every other test that has it gets one too.
MOST_AGENTS_FIRST = 2


class Group(Struct, frozen=True):
    """Tasks whose tests fail alike.

    `had` are those that had an agent, in order, `busy` those of them whose agent or its verification is not over.
    `fixes` are the attempts of the first of them that were verified.
    """

    title: str
    tasks: tuple[str, ...]
    had: tuple[str, ...] = ()
    busy: frozenset[str] = frozenset()
    fixes: tuple[tuple[str, int], ...] = ()

    def untried(self, task: TaskState) -> tuple[str, int] | None:
        """A fix that was not tried yet on a task without an agent; one that a person asked for again gets an agent."""
        if task.slug in self.had or task.attempt > 1:
            return None
        return next((fix for fix in self.fixes if fix[0] not in task.tried), None)


class GroupsState(Struct, frozen=True):
    """The groups of a run, and by task the number of its group; `is_known` once the base was run."""

    groups: tuple[Group, ...] = ()
    numbers: dict[str, int] = {}
    is_known: bool = False

    def after(self, entry: Entry) -> "GroupsState":
        """After what was measured at the base. What no longer counts as failed leaves its group."""
        if not isinstance(entry.fact, BaseFailures | BaseMeasured):
            return self
        if not self.is_known:
            groups = tuple(Group(one.title, one.tasks) for one in entry.fact.groups)
        else:
            failed = {slug for one in entry.fact.groups for slug in one.tasks}
            groups = tuple(
                replace(one, tasks=tuple(slug for slug in one.tasks if slug in failed or slug in one.had))
                for one in self.groups
            )
        numbers = {slug: number for number, one in enumerate(groups) for slug in one.tasks}
        return GroupsState(groups, numbers, True)

    def moved(self, before: TaskState, after: TaskState) -> "GroupsState":
        """After a task has changed."""
        number = self.numbers.get(after.slug)
        if number is None or after.fix or before.fix:
            return self
        slug, group = after.slug, self.groups[number]
        busy, had, fixes = group.busy - {slug}, group.had, group.fixes
        if after.phase == TaskPhase.QUEUED:
            # Refused for now, or cut off by an interrupt: it begins anew.
            if before.phase == TaskPhase.LAUNCHING or before.was_interrupted:
                had = tuple(one for one in had if one != slug)
        elif after.phase != TaskPhase.ENDED:
            busy, had = busy | {slug}, had if slug in had else (*had, slug)
        elif (
            after.verdict == "passed" and before.phase != TaskPhase.ENDED and slug in had[:MOST_AGENTS_FIRST]
        ):
            fixes = (*fixes, (slug, after.attempt))
        changed = replace(group, busy=busy, had=had, fixes=fixes)
        groups = (*self.groups[:number], changed, *self.groups[number + 1 :])
        return replace(self, groups=groups)

    def first_for(self, task: TaskState, tasks: Mapping[str, TaskState]) -> tuple[str, bool]:
        """The task that a queued one waits for, empty if for none, and whether the fix of that is there to be tried."""
        number = self.numbers.get(task.slug)
        if number is None or task.attempt > 1 or task.slug in self.groups[number].had:
            return "", False
        group = self.groups[number]
        if fix := group.untried(task):
            return fix[0], True
        if busy := [slug for slug in group.had[:MOST_AGENTS_FIRST] if slug in group.busy]:
            return busy[0], False
        if len(group.had) >= MOST_AGENTS_FIRST:
            return "", False
        waiting = (slug for slug in group.tasks if tasks[slug].phase == TaskPhase.QUEUED)
        first = next(slug for slug in waiting if slug not in group.had)
        return "" if first == task.slug else first, False

    def trials(self, tasks: Mapping[str, TaskState], now: float, most: int) -> Iterator[Entry]:
        """Verifications of queued tasks at the fix of another, at most so many in one working copy."""
        for group in self.groups:
            waiting: dict[tuple[str, int], list[TaskState]] = {}
            for slug in group.tasks if group.fixes else ():
                task = tasks[slug]
                is_due = task.phase == TaskPhase.QUEUED and now >= task.retry_at
                if is_due and (fix := group.untried(task)):
                    waiting.setdefault(fix, []).append(task)
            for fix, found in waiting.items():
                together = [task for task in found if not task.alone]
                batches = [together[start : start + most] for start in range(0, len(together), most)]
                for first, *others in (*batches, *([task] for task in found if task.alone)):
                    fact = VerifyRequest({task.slug: task.attempt for task in others}, *fix)
                    yield Entry(now, "verify", "intended", first.slug, first.attempt, fact=fact)
