"""What the index answers: all tests, one test, two runs."""

import pytest
from tests.tmr.history.conftest import DAY, Past, cause, row
from tests.tmr.report.desk import T0, node

import mngr
from mngr_tmr.history.compare import compare_runs
from mngr_tmr.history.facts import CauseFacts, RunFacts
from mngr_tmr.history.one_test import find_test_history
from mngr_tmr.history.overview import day_of, find_overview
from mngr_tmr.model.estimate import Estimate, Range
from mngr_tmr.model.level import Level
from mngr_tmr.model.usage import AgentUsage

pytestmark = pytest.mark.accept("O14")


def test_every_test_has_its_outcomes_and_those_that_fail_come_first(past: Past) -> None:
    past.run("r1", T0, good="passed", bad="failed", shaky="flaky", left="passed")
    past.run("r2", T0 + 1, good="passed", bad="error", shaky="passed", left="")
    found = past.ask(find_overview)
    assert (found.runs, found.newest) == (2, "r2")
    trends = {one.test.rpartition("_")[2]: one for one in found.tests}
    assert list(trends) == ["bad", "shaky", "good", "left"]
    counts = {
        test: (one.runs, one.passed, one.failed, one.flaky, one.without_verdict)
        for test, one in trends.items()
    }
    assert counts == {
        "bad": (2, 0, 2, 0, 0),
        "shaky": (2, 1, 0, 1, 0),
        "good": (2, 2, 0, 0, 0),
        "left": (2, 1, 0, 0, 1),
    }
    assert [trends[test].last for test in ("bad", "left")] == ["error", "passed"]
    assert (trends["good"].seconds, trends["good"].tokens, trends["good"].usd) == (60.0, 1000.0, 1.0)


def test_what_runs_used_is_added_up_by_the_day_on_which_they_began(past: Past) -> None:
    past.run("r1", T0, a="passed", b="passed")
    past.run("r2", T0 + 1, a="passed")
    past.run("r3", T0 + 3 * DAY, a="passed")
    past.write(RunFacts("r4", "", T0 + 3 * DAY + 1, "finished", 1, (), usage=AgentUsage(output_tokens=7)))
    days = past.ask(find_overview).days
    assert [(one.day, one.runs, one.tokens, one.usd) for one in days] == [
        (day_of(T0 + 3 * DAY), 2, 1007, 1.0),
        (day_of(T0), 2, 3000, 3.0),
    ]


def test_causes_are_new_recurring_gone_or_not_run_again(past: Past) -> None:
    """The same cause has other numbers and paths in its message each time."""
    past.run(
        "r1", T0, (cause("no port 8001", "a"), cause("gone soon", "b"), cause("left out", "c")), a="failed"
    )
    past.run("r2", T0 + 1, (cause("no port 8002", "a"),), a="failed", b="failed", c="failed")
    past.run(
        "r1",
        T0,
        (cause("no port 8001", "a"), cause("gone soon", "b"), cause("left out", "c")),
        a="failed",
        b="failed",
        c="failed",
    )
    past.run("r2", T0 + 1, (cause("no port 8002", "a"),), a="failed", b="failed", c="failed")
    past.run(
        "r3",
        T0 + 2,
        (cause("no port 80", "a", "d", fixed=["a"]), cause("never seen", "e")),
        a="failed",
        b="passed",
        c="",
        d="failed",
        e="failed",
    )
    found = {one.title.partition(" 80")[0]: one for one in past.ask(find_overview).causes}
    assert {title: one.state for title, one in found.items()} == {
        "never seen": "new",
        "no port": "recurring",
        "gone soon": "gone",
        "left out": "not_run",
    }
    one = found["no port"]
    assert (one.runs, one.first_run, one.last_run, one.tests, one.fixed) == (3, "r1", "r3", 2, 1)
    assert found["gone soon"].last_run == "r1"


@pytest.mark.accept("O15")
def test_throughput_by_slots_is_measured_over_runs_and_the_best_number_named(past: Past) -> None:
    for number in range(2):
        past.write(
            RunFacts(
                f"r{number}",
                "",
                T0 + number,
                "finished",
                0,
                (),
                agent_type="claude",
                model="opus",
                levels=(Level(4, 1800.0, 20.0), Level(8, 1800.0, 40.0), Level(16, 1800.0, 41.0, 2.0)),
            )
        )
    past.run("r9", T0 + 9, a="passed")
    (one,) = past.ask(find_overview).throughput
    assert (one.agent_type, one.model, one.runs, one.sweet_spot) == ("claude", "opus", 2, 8)
    assert [level.tasks for level in one.levels] == [40.0, 80.0, 82.0]


def test_estimates_are_counted_by_whether_they_held(past: Past) -> None:
    tight, wide = Estimate("test", Range(1, 2)), Estimate("test", Range(1, 5000))
    rows = (
        row("a", estimate=tight),
        row("b", estimate=wide),
        row("c", estimate=wide, usage=AgentUsage()),
        row("d"),
    )
    past.write(RunFacts("r1", "", T0, "finished", 4, rows))
    found = past.ask(find_overview)
    assert (found.inside, found.estimated) == (1, 2)


def test_one_test_has_its_every_run_and_what_it_usually_uses(past: Past) -> None:
    for number in range(20):
        usage = AgentUsage(input_tokens=100 * (number + 1), cost_usd=0.5)
        rows = (row("a", usage=usage, worked_s=number + 1.0, attempt=2),)
        past.write(RunFacts(f"r{number:02}", "", T0 + number, "finished", 1, rows))
    past.run("r20", T0 + 20, (cause("no port", "a"),), a="failed")
    past.write(RunFacts("r21", "", T0 + 21, "finished", 1, (row("a", usage=AgentUsage(), worked_s=0.0),)))
    found = past.ask(lambda index: find_test_history(index, "test_a"))
    assert found.test == node("a")
    assert [one.run for one in found.results[:3]] == ["r21", "r20", "r19"]
    newest, failed, before = found.results[:3]
    assert (newest.tokens, newest.usd, newest.seconds) == (None, None, None)
    assert (failed.outcome, failed.cause) == ("failed", "no port")
    assert (before.tokens, before.usd, before.seconds, before.attempts) == (2000, 0.5, 20.0, 2)
    assert found.tokens == Range(1000, 1900)
    assert found.seconds == Range(11, 20)


def test_a_part_of_a_name_is_enough_unless_others_have_it(past: Past) -> None:
    past.run("r1", buy="passed", buy_two="passed", sell="passed")
    assert past.ask(lambda index: find_test_history(index, "sell")).test == node("sell")
    assert past.ask(lambda index: find_test_history(index, "test_buy")).test == node("buy")
    with pytest.raises(mngr.UsageError, match="2 tests"):
        past.ask(lambda index: find_test_history(index, "buy"))
    with pytest.raises(mngr.NotFoundError) as caught:
        past.ask(lambda index: find_test_history(index, "test_shop.py::test_sel1"))
    assert past.lines == [], "a wrong question is no reason to make the index again"
    assert caught.value.hint


def test_two_runs_differ_in_these_tests_and_causes(past: Past) -> None:
    old, both, new = cause("old one", "fixed"), cause("both", "same"), cause("new one", "broken")
    past.run(
        "r1",
        T0,
        (old, both),
        fixed="failed",
        lost="passed",
        same="failed",
        broken="passed",
        odd="skipped",
        removed="passed",
    )
    past.run(
        "r2",
        T0 + 1,
        (both, new),
        fixed="passed",
        lost="",
        same="failed",
        broken="error",
        odd="",
        added="passed",
    )
    found = past.ask(lambda index: compare_runs(index, "r1", "r2"))
    assert [(one.test.rpartition("_")[2], one.change, one.before, one.after) for one in found.tests] == [
        ("broken", "broken", "passed", "error"),
        ("fixed", "fixed", "failed", "passed"),
        ("lost", "other", "passed", ""),
        ("odd", "other", "skipped", ""),
        ("added", "added", "", "passed"),
        ("removed", "removed", "passed", ""),
    ]
    assert found.tests[0].cause == "new one"
    assert found.same == 1
    assert [(one.title, one.state) for one in found.causes] == [
        ("new one", "new"),
        ("both", "recurring"),
        ("old one", "gone"),
    ]
    assert (found.first.run, found.second.run, found.second.usd) == ("r1", "r2", 6.0)
    with pytest.raises(mngr.NotFoundError, match="no run"):
        past.ask(lambda index: compare_runs(index, "r1", "r3"))


def test_causes_that_differ_in_accidents_only_are_one(past: Past) -> None:
    twice = (cause("no port 1", "a"), cause("no port 2", "b"))
    past.run("r1", T0, twice, a="failed", b="failed")
    (one,) = past.ask(find_overview).causes
    assert one.tests == 2


def test_a_cause_has_one_key_in_all_runs() -> None:
    one, other = (
        CauseFacts("test", "no file /tmp/a1/x in 3 s"),
        CauseFacts("test", "no file /tmp/b2/x in 4 s"),
    )
    assert one.key == other.key
    assert one.key != CauseFacts("launch", one.title).key
