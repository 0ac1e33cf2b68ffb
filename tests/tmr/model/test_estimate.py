"""What a run will use: from past runs of a test, of all tests, or from the prior."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mngr_tmr.model.estimate import (
    Estimate,
    PastTask,
    Range,
    estimate_past,
    estimate_run,
    prior_estimate,
    total_of,
)

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


@given(
    st.lists(st.builds(PastTask, st.integers(0, 10**12), st.floats(0, 1e6), st.floats(0, 1e6)), min_size=1)
)
def test_a_range_has_its_ends_in_order(past: list[PastTask]) -> None:
    found = estimate_past("test", past, PRIOR)
    assert found.usd is not None
    assert 0 <= found.tokens.low <= found.tokens.high
    assert found.usd.low <= found.usd.high
