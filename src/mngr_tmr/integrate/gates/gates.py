"""Checks the branch before it is offered. A change that breaks a check is found, dropped and named."""

from typing import Any

from msgspec import Struct

from mngr_tmr.agent_text import one_line
from mngr_tmr.integrate.branch.builder import BranchBuilder, BuiltBranch
from mngr_tmr.integrate.branch.plan import BranchPlan
from mngr_tmr.integrate.gates.bisect import find_culprits
from mngr_tmr.integrate.gates.branch_checks import BranchChecks
from mngr_tmr.model.integration import Gate
from mngr_tmr.model.measured import MeasuredOutcomes


class GateOutcome(Struct, frozen=True):
    """The branch that is left, what was dropped from it and why, what each gate says of it, and how its tests do."""

    built: BuiltBranch
    dropped: dict[str, str] = {}
    gates: tuple[Gate, ...] = ()
    added: tuple[dict[str, Any], ...] = ()
    notes: tuple[str, ...] = ()
    measured: tuple[MeasuredOutcomes, ...] = ()


def run_gates(builder: BranchBuilder, base: str, plan: BranchPlan, trials: BranchChecks) -> GateOutcome:
    """Builds the branch, checks it, drops culprits and builds again, until all passes or no change broke what fails."""
    dropped: dict[str, str] = {}
    while True:
        left = plan.without(dropped)
        built = builder.build(left, may_resolve=True)
        failed = next(trials.reds(built), None)
        if failed is None:
            measured = trials.measured(built)
            if not built.changes:
                return GateOutcome(built, dropped, measured=measured)
            notes = [
                f"{subject} fails, and no change of this run broke it: {one_line(problem)}"
                for subject, problem in trials.excused.items()
            ]
            notes += [f"{test} is flaky on the integrated branch" for test in trials.flaky]
            outcomes = {row.test: row.tip.outcome for row in measured}
            rows = tuple(test.as_row(outcomes[test.node_id]) for test in trials.added(built))
            return GateOutcome(built, dropped, trials.gates(built, measured), rows, tuple(notes), measured)
        trials.begin(f"gate {failed.gate} failed: looking for the change that broke it")
        culprits = failed.culprits or (
            find_culprits(builder, base, left, failed.check) if failed.check else ()
        )
        if any(change.id in culprits for change in (*left.others, *left.fixes)):
            # A change is dropped as a culprit, or because it depends on one.
            why = one_line(f"dropped at the gate {failed.gate}: {failed.problem}", 600)
            found = dict.fromkeys(culprits, why)
            kept = {change.id for change in left.without(found).fixes}
            for change in left.fixes:
                if change.id not in kept and change.id not in found:
                    dropped[change.id] = f"it depends on {change.needs[0]}, {why}"
            dropped |= found
        else:
            trials.excused[failed.subject] = failed.problem
