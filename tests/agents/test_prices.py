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


def test_the_table_is_dated() -> None:
    assert len(shipped_on()) == 10
