"""What a run cost, what that was good for, what is left to look at, and what changed it while it went on."""

from typing import Any

import pytest
from msgspec.structs import replace
from tests.tmr.report.desk import (
    BASE,
    BLOCKED,
    CLEAN,
    ESCALATING,
    FIX,
    FIXED,
    NOT_RUN,
    QUEUED,
    T0,
    contents_of,
    measured,
    record,
)

from mngr_tmr.model.entry import Entry
from mngr_tmr.model.estimate import Estimate, Range, RunEstimate
from mngr_tmr.model.facts import AnyFact, LaunchingStopped, RunPaused, RunResumed, RunSteered, SlotsChanged
from mngr_tmr.model.integration import Fix, Gate, Integration, WeakenedAssertion
from mngr_tmr.model.money import Amount, Used
from mngr_tmr.model.record import TaskRecord
from mngr_tmr.model.usage import AgentUsage
from mngr_tmr.report.data.report_model import ReportModel, make_report_model
from mngr_tmr.report.data.run_marks import RunMark, run_marks
from mngr_tmr.report.out.page.balance import balance_of
from mngr_view.records import Balance, Figure, LeftOut, Meter

pytestmark = pytest.mark.accept("O2")
USED = AgentUsage(input_tokens=900, output_tokens=100, cost_usd=3.0)
TOTAL = Estimate("test", Range(500, 2000), Range(1.0, 4.0), Range(30, 90), 12)
BRANCH = Integration("tmr/r1/integrated", BASE, FIX.id)


def estimated(model: ReportModel, total: Estimate) -> ReportModel:
    tasks = {task.slug: total for task in model.spec.tasks}
    spec = replace(model.spec, estimate=RunEstimate(tasks, total))
    return make_report_model(replace(model.now, spec=spec))


def words(figures: tuple[Figure, ...]) -> list[str]:
    return [f"{one.value} {one.label}" for one in figures]


def test_what_was_used_stands_beside_its_estimate() -> None:
    model = estimated(contents_of(replace(CLEAN, usage=USED)), TOTAL)
    note = "estimated from 12 past tasks"
    assert balance_of(model).meters == (
        Meter("usd", 3.0, low=1.0, high=4.0, note=note),
        Meter("tokens", 1000, low=500, high=2000, note=note),
        Meter("seconds", 60.0, low=30, high=90, note=note),
    )


@pytest.mark.accept("O4")
def test_a_budget_is_in_its_own_unit_with_what_is_set_aside_while_agents_are_at_work() -> None:
    model = estimated(contents_of(replace(CLEAN, usage=USED), is_alive=True), TOTAL)
    money = replace(model.now, limit=Amount(usd=20.0), spent=Used(1500, 3.5), committed=Used(9000, 5.0))
    dollars, tokens, _ = balance_of(make_report_model(money)).meters
    assert (dollars.used, dollars.reserved, dollars.limit, dollars.high) == (3.5, 1.5, 20.0, 4.0)
    assert (tokens.used, tokens.reserved, tokens.limit) == (1000, 0.0, None)
    counted = replace(money, limit=Amount(tokens=10_000), is_alive=False)
    dollars, tokens, _ = balance_of(make_report_model(counted)).meters
    assert (dollars.used, dollars.limit) == (3.0, None)
    assert (tokens.used, tokens.reserved, tokens.limit) == (1500, 0.0, 10_000)


@pytest.mark.parametrize(
    ("usage", "total", "units"),
    [
        (USED, None, ["usd", "tokens"]),
        (AgentUsage(), None, []),
        (AgentUsage(), TOTAL, ["usd", "tokens", "seconds"]),
        (replace(USED, unpriced=("own-model",)), TOTAL, ["tokens", "seconds"]),
        (USED, Estimate("prior", Range(1, 2)), ["usd", "tokens"]),
    ],
)
def test_what_is_not_known_has_no_meter(usage: AgentUsage, total: Estimate | None, units: list[str]) -> None:
    model = contents_of(replace(CLEAN, usage=usage))
    model = estimated(model, total) if total else model
    assert [meter.unit for meter in balance_of(model).meters] == units


def test_a_run_without_anything_to_tell_has_an_empty_balance() -> None:
    assert balance_of(contents_of(CLEAN, QUEUED)) == Balance()
    assert balance_of(contents_of(replace(CLEAN, usage=USED), integration=BRANCH)).worth == ()


def test_worth_is_what_is_on_the_branch_and_what_a_fixed_test_cost() -> None:
    fix = Fix(FIX.id, 1, "take", "needed", 3, ("fixed",), ("shop.py",))
    branch = replace(
        BRANCH,
        fixes=(fix,),
        squashed_tasks=("a", "b"),
        measured=(measured("fixed", "failed", "passed"), measured("clean", "passed", "passed")),
    )
    balance = balance_of(contents_of(replace(FIXED, usage=USED), CLEAN, integration=branch))
    assert words(balance.worth) == [
        "1 test fixed",
        "1 implementation fix",
        "2 tests and docs improved",
        "$3.00 for each fixed test",
    ]
    assert [one.place for one in balance.worth] == ["causes", "branch", "branch", ""]


@pytest.mark.accept("O19")
def test_an_agent_that_was_not_needed_is_worth_its_estimate_and_named_with_its_reason() -> None:
    saved = record("saved", None, before="failed", fixed_by="fixed")
    balance = balance_of(estimated(contents_of(FIXED, saved), TOTAL))
    assert words(balance.worth) == ["1 agent not needed ($1.00 to $4.00)"]
    (left_out,) = balance.left_out
    assert left_out == LeftOut("fixed by fixed: same failure, no agent was needed", (saved.task.node_id,))


def test_what_went_wrong_and_what_a_reviewer_must_not_miss_are_to_be_looked_at() -> None:
    branch = replace(
        BRANCH,
        fixes=(
            Fix(
                FIX.id,
                1,
                "take",
                "needed",
                3,
                ("fixed",),
                ("shop.py",),
                doubts=("no test failed without it",),
            ),
        ),
        weakenings=(
            WeakenedAssertion("removed", "t.py", "test_x"),
            WeakenedAssertion("removed", "t.py", "y"),
        ),
        gates=(Gate("suite", False, "1 fails"), Gate("lint", True)),
    )
    attention = balance_of(contents_of(FIXED, BLOCKED, ESCALATING, integration=branch)).attention
    assert words(attention) == [
        "1 blocked",
        "2 open causes",
        "1 fix to review with care",
        "2 weaker tests",
        "1 failed gate",
        "1 matter raised by agents",
    ]
    assert (attention[0].place, attention[0].section) == ("section", "blocked")


def test_tests_without_an_agent_are_grouped_by_the_reason() -> None:
    def held(name: str, why: str, base: TaskRecord) -> TaskRecord:
        return replace(record(name, None, after=None, end=base.end), message=why)

    rows = [held("a", "the budget is used up", NOT_RUN), held("b", "waits for fixed: same failure", QUEUED)]
    rows += [held("c", "the budget is used up", NOT_RUN), QUEUED]
    found = balance_of(contents_of(*rows)).left_out
    assert [(one.reason, len(one.tests)) for one in found] == [
        ("the budget is used up", 2),
        ("waits for fixed: same failure", 1),
    ]


@pytest.mark.accept("O5", "O20")
def test_what_changed_the_run_is_marked_with_its_reason() -> None:
    def entry(at: float, fact: AnyFact, message: str = "", **about: Any) -> Entry:
        return Entry(T0 + at, "run", "noted", message=message, fact=fact, **about)

    steered = RunSteered("q1", "set", "ann", {"slots": 2})
    marks = run_marks(
        (
            entry(5, steered, "slots 4 → 2, set by ann"),
            entry(6, replace(steered, refused="no"), "set refused: no"),
            entry(7, RunSteered("q2", "retry", "ann"), "tried again", task="a", attempt=1),
            entry(10, SlotsChanged(1, "rate_limit"), "slots 2 → 1: a rate limit of the model's provider"),
            entry(20, RunPaused(T0 + 8)),
            entry(30, LaunchingStopped("5 agents failed alike")),
            entry(40, RunResumed({"slots": 8})),
        )
    )
    assert marks == (
        RunMark(T0 + 5, "slots 4 → 2, set by ann"),
        RunMark(T0 + 10, "slots 2 → 1: a rate limit of the model's provider"),
        RunMark(T0 + 20, "stood still for 12 s"),
        RunMark(T0 + 30, "nothing more is launched: 5 agents failed alike"),
        RunMark(T0 + 40, "resumed with 8 slots"),
    )
