"""What tokens cost: a dated table in `prices.toml`, and the same with the user's own prices on top."""

import os
import tomllib
from collections.abc import Mapping, Sequence
from functools import cache
from typing import Any

import msgspec
from msgspec import Struct

from mngr.errors import UsageError
from mngr.model.message import Spending, Usage

_PER = 1_000_000


class _Rates(Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """US dollars for a million tokens. What is not said follows from `input` as the makers usually do it."""

    input: float
    output: float
    cache_read: float | None = None
    cache_write: float | None = None
    cache_write_1h: float | None = None

    def _sum(self, spent: Spending) -> float:
        read = self.input / 10 if self.cache_read is None else self.cache_read
        write = self.input * 1.25 if self.cache_write is None else self.cache_write
        write_1h = self.input * 2 if self.cache_write_1h is None else self.cache_write_1h
        return (
            spent.input_tokens * self.input
            + spent.output_tokens * self.output
            + spent.cache_read_tokens * read
            + spent.cache_write_tokens * write
            + spent.cache_write_1h_tokens * write_1h
        ) / _PER


class LongContext(_Rates, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """What all tokens of an answer cost when its prompt, cached tokens included, has more than `above` tokens."""

    above: int


class Price(_Rates, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """What a model costs; with `long_context` an answer to a long prompt costs more."""

    long_context: LongContext | None = None

    def cost(self, spent: Spending) -> float:
        prompt = spent.input_tokens + spent.cache_read_tokens
        prompt += spent.cache_write_tokens + spent.cache_write_1h_tokens
        tier = self.long_context
        return tier._sum(spent) if tier and prompt > tier.above else self._sum(spent)


Prices = Mapping[str, Price]


@cache
def shipped_prices() -> Prices:
    with open(os.path.join(os.path.dirname(__file__), "prices.toml"), "rb") as file:
        tables = tomllib.load(file)["models"]
    return {name: msgspec.convert(table, Price) for name, table in tables.items()}


@cache
def shipped_on() -> str:
    """The day on which the shipped table was right."""
    with open(os.path.join(os.path.dirname(__file__), "prices.toml"), "rb") as file:
        return str(tomllib.load(file)["as_of"])


def with_own(tables: Mapping[str, Any]) -> Prices:
    """The shipped prices with those of `[prices.MODEL]` in front."""
    own = {}
    for name, table in tables.items():
        try:
            own[name] = msgspec.convert(table, Price, strict=False)
        except msgspec.ValidationError as error:
            raise UsageError(
                f'[prices."{name}"] cannot be used: {error}',
                hint="input and output in US dollars for a million tokens; see docs/agents.md for what else there is",
            ) from None
    return {**shipped_prices(), **own}


def price_of(model: str, prices: Prices) -> Price | None:
    """The price under the longest name that begins the model's: `claude-opus-4-1-20250805` is `claude-opus-4-1`."""
    names = [name for name in prices if model == name or model.startswith((f"{name}-", f"{name}["))]
    return prices[max(names, key=len)] if names else None


def cost_usd(spent: Spending, prices: Prices | None = None) -> float | None:
    """By the table, or as the program itself reckoned; None when the price of that model is not known."""
    price = price_of(spent.model, shipped_prices() if prices is None else prices)
    return price.cost(spent) if price else spent.own_cost_usd


def total(spendings: Sequence[Spending], prices: Prices | None = None) -> Usage:
    """All of it as one record, by default at the prices that come with mngr; one unknown price leaves the sum open."""
    costs = [cost_usd(spending, prices) for spending in spendings]
    known = [cost for cost in costs if cost is not None]
    return Usage(
        input_tokens=sum(one.input_tokens for one in spendings),
        output_tokens=sum(one.output_tokens for one in spendings),
        cache_read_tokens=sum(one.cache_read_tokens for one in spendings),
        cache_write_tokens=sum(one.cache_write_tokens + one.cache_write_1h_tokens for one in spendings),
        cost_usd=sum(known) if len(known) == len(costs) else None,
        model=spendings[-1].model if spendings else "",
    )
