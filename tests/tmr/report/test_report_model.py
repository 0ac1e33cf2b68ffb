"""What the rows add up to: exit codes, states, matters raised, usage."""

import pytest
from tests.tmr.report.desk import (
    BASE,
    BLOCKED,
    CLEAN,
    ESCALATING,
    FIX,
    FIXED,
    LOST,
    MALFORMED,
    NOT_RUN,
    QUEUED,
    RUNNING,
    SKIPPED,
    blocked,
    contents_of,
    escalation,
    node,
    record,
    result,
    task,
)

from mngr_tmr.model.integration import Gate, Integration, WeakenedAssertion
from mngr_tmr.model.record import TaskRecord
from mngr_tmr.model.usage import AgentUsage
from mngr_tmr.report.data.escalations import SHARED


@pytest.mark.accept("J6")
@pytest.mark.parametrize(
    ("code", "records"),
    [
        (0, [CLEAN]),
        (0, [CLEAN, SKIPPED]),
        (8, [CLEAN, FIXED]),
        (8, [CLEAN, BLOCKED]),
        (8, [CLEAN, MALFORMED]),
        (8, [CLEAN, ESCALATING]),
        (3, [CLEAN, LOST]),
        (3, [FIXED, BLOCKED, LOST]),
        (3, [CLEAN, QUEUED]),
        (3, [CLEAN, NOT_RUN]),
        (3, [CLEAN, RUNNING]),
        (1, [LOST]),
        (1, [LOST, LOST, MALFORMED]),
        (1, [QUEUED, NOT_RUN]),
        (1, []),
    ],
)
def test_exit_codes_tell_clean_findings_lost_and_nothing_apart(code: int, records: list[TaskRecord]) -> None:
    assert contents_of(*records).exit_code == code


@pytest.mark.accept("J6", "R17")
@pytest.mark.parametrize(
    "integration",
    [
        Integration(BASE, "b", FIX.id),
        Integration(BASE, "b", BASE, gates=(Gate("lint", False, "unused"),)),
        Integration(BASE, "b", BASE, weakenings=(WeakenedAssertion("removed", "tests/a.py", "test_a"),)),
        Integration(BASE, "b", BASE, conflicts=({"unit": "1"},)),
    ],
)
def test_what_the_integrator_found_is_a_finding(integration: Integration) -> None:
    assert contents_of(CLEAN, integration=integration).exit_code == 8
    assert contents_of(CLEAN, integration=Integration(BASE, "b", BASE)).exit_code == 0


@pytest.mark.parametrize(
    ("state", "is_alive", "records"),
    [
        ("running", True, [CLEAN, QUEUED]),
        ("running", True, [CLEAN]),
        ("interrupted", False, [CLEAN, QUEUED]),
        ("interrupted", False, [CLEAN, RUNNING]),
        ("finished", False, [CLEAN, LOST]),
    ],
)
def test_a_run_is_running_interrupted_or_finished(
    state: str, is_alive: bool, records: list[TaskRecord]
) -> None:
    assert contents_of(*records, is_alive=is_alive).state == state


@pytest.mark.accept("M16")
def test_escalations_are_grouped_and_counted_whatever_the_outcome() -> None:
    slow = escalation("Login takes 3 seconds.", detail="seen in a")
    records = [
        record("a", result("a", escalations=(slow,))),
        record("b", blocked("b")),
        record(
            "c",
            result("c", "failed", passed_after=False, escalations=(escalation("login takes 14 seconds"),)),
            after="failed",
        ),
        record("d", result("d", escalations=(escalation("the docs name a flag that is gone", "docs"),))),
    ]
    first, second = contents_of(*records).raised
    assert (first.kind, set(first.tests)) == ("bug", {node("a"), node("c")})
    assert first.title in ("Login takes 3 seconds.", "login takes 14 seconds")
    assert first.details == ("seen in a",)
    assert (second.kind, second.tests) == ("docs", (node("d"),))


@pytest.mark.accept("R9", "M16")
def test_a_problem_that_the_integrator_saw_in_many_branches_is_a_matter_too() -> None:
    shared = {
        "title": "-retry",
        "count": 3,
        "example": "-retry\n+wait",
        "tasks": [task("clean").slug, "unknown"],
        "files": ["a.py"],
    }
    (one,) = contents_of(CLEAN, integration=Integration(BASE, "b", BASE, shared_problems=(shared,))).raised
    assert (one.kind, one.tests, one.locations) == (SHARED, (node("clean"), "unknown"), ("a.py",))
    assert (one.title, one.details) == ("3 similar edits: -retry", ("-retry\n+wait",))


@pytest.mark.accept("O1")
def test_usage_of_all_agents_is_added_up() -> None:
    usages = (
        AgentUsage(10, cost_usd=0.5, models=("m",)),
        AgentUsage(cost_usd=0.25),
        AgentUsage(problem="damaged"),
    )
    records = [record(str(n), result(str(n)), usage=usage) for n, usage in enumerate(usages)]
    total = AgentUsage(10, cost_usd=0.75, models=("m",), problem="damaged")
    assert contents_of(*records).usage == total
