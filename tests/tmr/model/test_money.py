"""Dollars and tokens as people write them; a wrong unit is an error that says what is meant."""

import pytest

import mngr
from mngr_tmr.model.money import Amount, dollars, parse_amount, tokens


@pytest.mark.accept("O3")
@pytest.mark.parametrize(
    ("text", "amount"),
    [
        ("25usd", Amount(usd=25)),
        ("$1.50", Amount(usd=1.5)),
        (" 40 USD ", Amount(usd=40)),
        ("1.2kusd", Amount(usd=1200)),
        ("3Mtok", Amount(tokens=3_000_000)),
        ("800k tokens", Amount(tokens=800_000)),
        ("1 token", Amount(tokens=1)),
    ],
)
def test_amounts_have_a_unit(text: str, amount: Amount) -> None:
    assert parse_amount(text, "--budget") == amount


@pytest.mark.accept("O3")
def test_a_flag_with_a_unit_of_its_own_needs_none_and_takes_no_other() -> None:
    assert parse_amount("30M", "--daily-tokens", "tok") == Amount(tokens=30_000_000)
    assert parse_amount("40", "--daily-budget", "usd") == Amount(usd=40)
    with pytest.raises(mngr.UsageError, match='--daily-tokens takes tokens, found "30usd"'):
        parse_amount("30usd", "--daily-tokens", "tok")


@pytest.mark.accept("O3", "O4")
@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("25", "dollars or tokens"),
        ("25eur", "cannot be"),
        ("-3usd", "cannot be"),
        ("$3tok", "two units"),
        ("0usd", "out of range"),
        ("0.1tok", "out of range"),
        ("9999999usd", "out of range"),
        ("1e9usd", "cannot be"),
        ("9" * 400 + "usd", "cannot be"),
        ("nanusd", "cannot be"),
        ("", "cannot be"),
    ],
)
def test_a_wrong_unit_or_number_is_refused(text: str, problem: str) -> None:
    with pytest.raises(mngr.UsageError, match=problem) as refused:
        parse_amount(text, "--budget")
    assert "3Mtok" in refused.value.hint


def test_amounts_are_short() -> None:
    assert list(map(dollars, (0, 0.0042, 0.31, 12.5, 1204.4))) == [
        "$0.00",
        "$0.0042",
        "$0.31",
        "$12.50",
        "$1,204",
    ]
    assert list(map(tokens, (0, 950, 20_000, 1_240_000, 3e9, 999_960))) == [
        "0",
        "950",
        "20k",
        "1.2M",
        "3G",
        "1M",
    ]
