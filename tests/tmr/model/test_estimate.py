"""What a run will use: from past runs of a test, of all tests, or from the prior."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mngr_tmr.model.estimate import (
    DayPlan,
    Estimate,
    PastTask,
    Range,
    RunEstimate,
    estimate_past,
    estimate_run,
    plan_day,
    prior_estimate,
    total_of,
)
from mngr_tmr.model.money import Amount

PRIOR = prior_estimate((20_000, 50_000), (3.0, 15.0))


@pytest.mark.accept("O2")
def test_without_a_past_the_prior_is_priced_at_the_cheapest_and_dearest_model() -> None:
    assert Estimate("prior", Range(20_000, 50_000), Range(0.06, 0.75)) == PRIOR
    assert prior_estimate((20_000, 50_000), ()).usd is None


@pytest.mark.accept("O2")
def test_twenty_past_tasks_give_median_and_95th_percentile() -> None:
    past = [PastTask(n * 1000, n / 10, n * 60) for n in range(1, 21)]
    found = estimate_past("test", past, PRIOR)
    assert found == Estimate("test", Range(10_000, 19_000), Range(1.0, 1.9), Range(600, 1140), 20)


@pytest.mark.accept("O2")
def test_few_past_tasks_give_twice_the_largest_as_upper_end() -> None:
    found = estimate_past("test", [PastTask(1000, 0.5, 60), PastTask(3000, 1.5, 120)], PRIOR)
    assert (found.tokens, found.usd, found.samples) == (Range(1000, 6000), Range(0.5, 3.0), 2)


@pytest.mark.accept("O2")
def test_a_new_test_is_estimated_by_the_others_and_an_unpriced_model_by_the_prior() -> None:
    past = {"old": [PastTask(1000, None, 60)]}
    run = estimate_run(("new", "old"), past, PRIOR, slots=2)
    assert run.tasks["old"] == Estimate("test", Range(1000, 2000), PRIOR.usd, Range(60, 120), 1)
    assert run.tasks["new"] == Estimate("suite", Range(1000, 2000), PRIOR.usd, Range(60, 120), 1)
    assert run.total.tokens == Range(2000, 4000)
    assert run.total.source == "suite"
    assert estimate_run(("new",), {}, PRIOR, slots=2).tasks["new"] == PRIOR


@pytest.mark.accept("O2")
def test_time_of_a_run_is_what_a_slot_has_to_do_and_at_least_the_longest_task() -> None:
    one = Estimate("test", Range(1, 1), seconds=Range(60, 100))
    long = Estimate("test", Range(1, 1), seconds=Range(500, 900))
    assert total_of([one] * 8, slots=4).seconds == Range(120, 200)
    assert total_of([*[one] * 8, long], slots=8).seconds == Range(500, 900)
    assert total_of([one, PRIOR], slots=2).seconds is None
    assert total_of([one, PRIOR], slots=2).usd is None


def run_of(*highs: float, seconds: float = 0.0) -> RunEstimate:
    """Tasks that may use from half of so many dollars up to them, each dollar a million tokens."""
    time = Range(seconds / 2, seconds) if seconds else None
    tasks = {
        str(n): Estimate("test", Range(high * 5e5, high * 1e6), Range(high / 2, high), time)
        for n, high in enumerate(highs)
    }
    return RunEstimate(tasks, total_of(tasks.values(), slots=1))


@pytest.mark.accept("O3")
def test_a_daily_budget_gives_agents_per_run_and_runs_per_day() -> None:
    order = ["0", "1", "2"]
    assert plan_day(run_of(1, 2, 3), order, Amount(usd=40)) == DayPlan(agents=3, runs=6, most_runs=13)
    assert plan_day(run_of(1, 2, 3), order, Amount(tokens=30_000_000)) == DayPlan(3, 5, 10)
    assert plan_day(run_of(1, 2, 3), order, Amount(usd=4.5)) == DayPlan(agents=2, runs=1, most_runs=3)
    assert plan_day(run_of(1, 9, 3), order, Amount(usd=4.5)) == DayPlan(2, 1, 2), (
        "what does not fit is passed"
    )
    assert plan_day(run_of(7, 9, 8), order, Amount(usd=4.5)) == DayPlan(0, 0, 0)
    unpriced = RunEstimate({"0": Estimate("prior", Range(1, 2))}, Estimate("prior", Range(1, 2)))
    assert plan_day(unpriced, ["0"], Amount(usd=4.5)) is None
    assert plan_day(unpriced, ["0"], Amount(tokens=5)) == DayPlan(1, 2, 5)


@pytest.mark.accept("O3")
def test_a_day_has_time_for_so_many_runs() -> None:
    half_a_day = run_of(1, 2, seconds=5 * 3600)
    assert plan_day(half_a_day, ["0", "1"], Amount(usd=100)) == DayPlan(2, runs=2, most_runs=4)


@given(
    st.lists(st.builds(PastTask, st.integers(0, 10**12), st.floats(0, 1e6), st.floats(0, 1e6)), min_size=1)
)
def test_a_range_has_its_ends_in_order(past: list[PastTask]) -> None:
    found = estimate_past("test", past, PRIOR)
    assert found.usd is not None
    assert 0 <= found.tokens.low <= found.tokens.high
    assert found.usd.low <= found.usd.high
