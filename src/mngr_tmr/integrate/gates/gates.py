"""The branch is tried before it is offered; what breaks it is found, dropped and named, and the rest goes on."""

from collections.abc import Iterable
from typing import Any

from msgspec import Struct

from mngr_tmr.agent_text import one_line
from mngr_tmr.integrate.branch.builder import Builder, Built
from mngr_tmr.integrate.branch.plan import Plan
from mngr_tmr.integrate.gates.bisect import blame
from mngr_tmr.integrate.gates.branch_checks import Red, Trials
from mngr_tmr.model.integration import Gate
from mngr_tmr.model.measured import MeasuredTest


class Judged(Struct, frozen=True):
    """The branch that is left, what was dropped from it and why, what each gate says of it, and how its tests do."""

    built: Built
    dropped: dict[str, str] = {}
    gates: tuple[Gate, ...] = ()
    added: tuple[dict[str, Any], ...] = ()
    notes: tuple[str, ...] = ()
    measured: tuple[MeasuredTest, ...] = ()


def judge(builder: Builder, base: str, plan: Plan, trials: Trials) -> Judged:
    """Builds, tries, drops the guilty and builds again, until all is green or nobody is to blame for what is red."""
    dropped: dict[str, str] = {}
    while True:
        left = plan.without(dropped)
        built = builder.build(left, may_resolve=True)
        red = next(trials.reds(built), None)
        if red is None:
            return _told(built, dropped, trials)
        trials.begin(f"gate {red.gate} is red: looking for the change that broke it")
        guilty = red.guilty or (blame(builder, base, left, red.check) if red.check else ())
        if any(unit.id in guilty for unit in (*left.others, *left.fixes)):
            dropped |= _reasons(left, guilty, red)
        else:
            trials.excused[red.subject] = red.problem


def _reasons(plan: Plan, guilty: Iterable[str], red: Red) -> dict[str, str]:
    """Why each is dropped: it is guilty, or it stands on one that is."""
    why = one_line(f"dropped at the gate {red.gate}: {red.problem}", 600)
    found = dict.fromkeys(guilty, why)
    left = {unit.id for unit in plan.without(found).fixes}
    standing = [unit for unit in plan.fixes if unit.id not in left and unit.id not in found]
    return {**found, **{unit.id: f"it stands on {unit.needs[0]}, {why}" for unit in standing}}


def _told(built: Built, dropped: dict[str, str], trials: Trials) -> Judged:
    measured = trials.measured(built)
    if not built.units:
        return Judged(built, dropped, measured=measured)
    notes = [
        f"{subject} is red, and by no change of this run: {one_line(problem)}"
        for subject, problem in trials.excused.items()
    ]
    notes += [f"{test} is flaky on the integrated branch" for test in trials.flaky]
    outcomes = {row.test: row.tip.outcome for row in measured}
    rows = tuple(test.as_row(outcomes[test.node_id]) for test in trials.added(built))
    return Judged(built, dropped, trials.gates(built, measured), rows, tuple(notes), measured)
