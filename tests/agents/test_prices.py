"""What tokens cost."""

import pytest

from mngr.agents.prices import cost_usd, price_of, shipped_on, shipped_prices, total, with_own
from mngr.errors import UsageError
from mngr.model.message import Spending

pytestmark = pytest.mark.accept("O1")


def test_the_longest_name_that_begins_the_models_has_its_price() -> None:
    prices = shipped_prices()
    assert price_of("claude-opus-4-1-20250805", prices) == prices["claude-opus-4"]
    assert price_of("claude-opus-4-8[1m]", prices) == prices["claude-opus-4-8"]
    assert price_of("claude-opus-40", prices) is None
    assert price_of("somebody-elses", prices) is None


def test_every_kind_of_token_has_its_price() -> None:
    spent = Spending(0, "claude-opus-4-8", 1_000_000, 1_000_000, 1_000_000, 1_000_000, 1_000_000)
    assert cost_usd(spent) == pytest.approx(5 + 25 + 0.5 + 6.25 + 10)


def test_the_users_prices_win_and_may_name_new_models() -> None:
    prices = with_own(
        {"claude-opus-4-8": {"input": 1, "output": 2, "cache_read": 0}, "mine": {"input": 3, "output": 4}}
    )
    million = Spending(0, "claude-opus-4-8", input_tokens=1_000_000, cache_read_tokens=1_000_000)
    assert cost_usd(million, prices) == pytest.approx(1)
    assert cost_usd(Spending(0, "mine-2", output_tokens=1_000_000), prices) == pytest.approx(4)


@pytest.mark.parametrize(
    "table", [{"input": 1}, {"input": "much", "output": 1}, {"input": 1, "output": 1, "in": 1}]
)
def test_a_price_that_cannot_be_read_is_named(table: dict[str, object]) -> None:
    with pytest.raises(UsageError, match="mine") as caught:
        with_own({"mine": table})
    assert "million tokens" in caught.value.hint


def test_a_sum_with_an_unknown_price_has_none() -> None:
    known, unknown = Spending(0, "claude-opus-4-8", output_tokens=1), Spending(0, "x", output_tokens=2)
    assert total([known, unknown]).cost_usd is None
    assert total([known, unknown]).output_tokens == 3
    assert total([]).cost_usd == 0


@pytest.mark.parametrize(
    ("tokens", "usd"),
    [
        ({"input_tokens": 272_000, "output_tokens": 1000}, 272_000 * 2.5 + 1000 * 15),
        ({"input_tokens": 272_001, "output_tokens": 1000}, 272_001 * 5 + 1000 * 22.5),
        ({"input_tokens": 1, "cache_read_tokens": 272_000}, 1 * 5 + 272_000 * 0.5),
        ({"cache_write_tokens": 200_000, "cache_write_1h_tokens": 80_000}, 200_000 * 6.25 + 80_000 * 10),
        ({"input_tokens": 1, "output_tokens": 300_000}, 1 * 2.5 + 300_000 * 15),
    ],
)
def test_all_tokens_of_an_answer_to_a_long_prompt_cost_more(tokens: dict[str, int], usd: float) -> None:
    assert cost_usd(Spending(0, "gpt-5.4-2026-03-05", **tokens)) == pytest.approx(usd / 1e6)


def test_answers_are_long_one_by_one_and_users_have_long_contexts_too() -> None:
    short = Spending(0, "gpt-5.4", input_tokens=200_000)
    assert total([short, short]).cost_usd == pytest.approx(1.0)
    own = {"input": 1, "output": 1, "long_context": {"above": 10, "input": 3, "output": 1}}
    prices = with_own({"mine": own})
    assert cost_usd(Spending(0, "mine", input_tokens=10), prices) == pytest.approx(10e-6)
    assert cost_usd(Spending(0, "mine", input_tokens=11), prices) == pytest.approx(33e-6)
    with pytest.raises(UsageError, match="above"):
        with_own({"mine": {**own, "long_context": {"input": 3, "output": 1}}})


def test_the_table_is_dated() -> None:
    assert len(shipped_on()) == 10
