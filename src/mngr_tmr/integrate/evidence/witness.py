"""Evidence for each fix: old and new test against old and new code."""

from collections.abc import Sequence

from mngr_tmr.integrate.branch.builder import PlacedFix
from mngr_tmr.integrate.branch.plan import BranchPlan
from mngr_tmr.integrate.gates.runner import Runner
from mngr_tmr.model.integration import FixWitness
from mngr_tmr.model.record import TaskRecord
from mngr_tmr.model.verdict import Verified


def witness(
    placed: PlacedFix, plan: BranchPlan, records: Sequence[TaskRecord], runner: Runner
) -> FixWitness | None:
    """The four results for the test of the fix's first task; what was verified already is not run again.

    The changes themselves are the trees: a fix on the base is new code under old tests, a task's other changes on the
    base are new tests over old code.
    """
    slug = placed.change.tasks[0]
    record = next((record for record in records if record.task.slug == slug), None)
    if record is None:
        return None
    fixes = [change for change in plan.fixes if slug in change.tasks]
    tests = [change for change in plan.others if slug in change.tasks]
    old_old, new_new = _passed(record.before), _passed(record.after)
    node_id = record.task.node_id
    is_whole = len(fixes) == 1 and not tests and len(placed.change.sources) == 1
    return FixWitness(
        old_test_old_code=old_old,
        old_test_new_code=new_new if is_whole else _run(runner, placed.change.after, node_id),
        new_test_old_code=_run(runner, tests[0].after, node_id) if tests else old_old,
        new_test_new_code=new_new,
    )


def judgement(seen: FixWitness) -> str:
    """What the four results say against the fix; empty when they speak for it."""
    if seen.old_test_old_code is False and seen.new_test_old_code is True:
        return "its changed test passes without it: the test was made easier, or the fix is not needed"
    if seen.old_test_old_code is True and seen.old_test_new_code is False:
        return "the test as it was fails with it"
    if seen.old_test_old_code is True and seen.new_test_old_code is True:
        return "no test of its task needs it"
    return ""


def _run(runner: Runner, commit: str, node_id: str) -> bool | None:
    outcome = runner.run_tests(commit, (node_id,))[0].outcome
    return None if outcome in ("missing", "skipped") else outcome == "passed"


def _passed(verified: Verified | None) -> bool | None:
    return None if verified is None else verified.verdict == "passed"
