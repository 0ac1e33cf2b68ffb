"""Which tests need a fix: those that pass on the branch and fail when it is built without the fix."""

from collections.abc import Collection, Sequence

from mngr_tmr.integrate.branch.builder import BranchBuilder, BuiltBranch, PlacedFix
from mngr_tmr.integrate.branch.plan import BranchPlan
from mngr_tmr.integrate.gates.checks import run_with_retries
from mngr_tmr.integrate.gates.runner import Runner
from mngr_tmr.model.measured import MeasuredOutcomes
from mngr_tmr.model.record import TaskRecord


class FixNeeds:
    """Tries the branch without each of its fixes."""

    def __init__(
        self,
        builder: BranchBuilder,
        plan: BranchPlan,
        built: BuiltBranch,
        records: Sequence[TaskRecord],
        measured: Sequence[MeasuredOutcomes],
    ) -> None:
        self._builder, self._plan, self._built = builder, plan, built
        owners = {record.task.node_id: record.task.slug for record in records}
        self._passing = {
            test.test: owners.get(test.test, test.added_by)
            for test in measured
            if test.tip.outcome == "passed"
        }
        credited = {task for placed in built.fixes for task in placed.change.tasks}
        self._unclaimed = {
            test.test
            for test in measured
            if (test.failed_before or test.is_added) and self._passing.get(test.test, "") not in credited
        }

    def of(self, placed: PlacedFix, tasks: Collection[str], runner: Runner) -> tuple[str, ...]:
        """The tests that fail without the fix, which `tasks` and those that depend on it are credited with.

        A test whose own agent made a fix passed with that one alone. All others that pass on the branch, and did not
        at the base, are tried without every fix.
        """
        tests = [test for test, task in self._passing.items() if task in tasks or test in self._unclaimed]
        if not tests:
            return ()
        without = self._builder.without(self._plan, self._built, placed)
        ran = run_with_retries(runner, without, tests, retries=1)
        red = {run.node_id for run in ran.red}
        return tuple(test for test in tests if test in red)
