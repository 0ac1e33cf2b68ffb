"""What a task or a whole run is expected to use before it starts. Pure."""

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import Literal

from msgspec import Struct
from msgspec.structs import replace

from mngr_tmr.model.money import Amount

Source = Literal["test", "suite", "prior"]
_FEW = 5
_DAY_S = 86_400.0
_MOST_RUNS = 1000
_CAUTION = 2.0
_MEDIAN, _P95 = 0.5, 0.95


class Range(Struct, frozen=True):
    low: float
    high: float


class Estimate(Struct, frozen=True, omit_defaults=True):
    """From past runs of the test, of all tests, or from the prior; `samples` counts the past tasks it rests on.

    A range from past runs goes from the median to the 95th percentile; with fewer than five samples its upper end is
    twice the largest. A range is None where nothing tells: dollars of a model without a price, time without a past.
    """

    source: Source
    tokens: Range
    usd: Range | None = None
    seconds: Range | None = None
    samples: int = 0


class RunEstimate(Struct, frozen=True, omit_defaults=True):
    """Of every task by its slug, and of the run at its slots. `models` are those that price the prior.

    For a budget: `fast_usd` is what a million tokens of a fast agent cost, most of them read from the cache, and
    `unpriced_usd` what a million tokens of a model without a known price count as.
    """

    tasks: dict[str, Estimate]
    total: Estimate
    models: tuple[str, ...] = ()
    fast_usd: float = 0.0
    unpriced_usd: float = 0.0


class Calibration(Struct, frozen=True):
    """How good estimates were: of so many past tasks, those that used no more than the upper end of theirs."""

    inside: int
    tasks: int
    runs: int


class DayPlan(Struct, frozen=True):
    """What a day's budget is enough for: so many agents in a run, and so many runs if agents use the upper ends of
    their estimates; `most_runs` if they use the lower ends.
    """

    agents: int
    runs: int
    most_runs: int


class PastTask(Struct, frozen=True):
    """What a test of a past run used; a number that is not known is None."""

    tokens: int | None
    usd: float | None
    seconds: float | None


def estimate_run(
    slugs: Iterable[str],
    past: Mapping[str, Sequence[PastTask]],
    prior: Estimate,
    slots: int,
    models: tuple[str, ...] = (),
) -> RunEstimate:
    """`past` are the tasks of past runs by slug; a test without a past is estimated by those of all others."""
    everything = [one for tasks in past.values() for one in tasks]
    suite = estimate_past("suite", everything, prior)
    tasks = {
        slug: estimate_past("test", past[slug], suite) if past.get(slug) else suite for slug in sorted(slugs)
    }
    return RunEstimate(tasks, total_of(tasks.values(), slots), models)


def estimate_past(source: Source, past: Sequence[PastTask], otherwise: Estimate) -> Estimate:
    """What the numbers of past tasks say; a quantity that none of them has is taken from another estimate."""
    tokens = _range([one.tokens for one in past if one.tokens is not None])
    seconds = _range([one.seconds for one in past if one.seconds is not None]) or otherwise.seconds
    if tokens is None:
        return replace(otherwise, seconds=seconds)
    usd = _range([one.usd for one in past if one.usd is not None]) or otherwise.usd
    return Estimate(source, tokens, usd, seconds, len(past))


def prior_estimate(context_tokens: tuple[int, int], input_prices: Sequence[float]) -> Estimate:
    """The configured tokens of an agent, at these prices of a million input tokens: the cheapest and the dearest."""
    low, high = context_tokens
    usd = None
    if input_prices:
        usd = Range(low * min(input_prices) / 1e6, high * max(input_prices) / 1e6)
    return Estimate("prior", Range(low, high), usd)


def total_of(estimates: Iterable[Estimate], slots: int) -> Estimate:
    """The sum; its dollars or its time are None as soon as one of them is. Tasks share `slots` places."""
    estimates = tuple(estimates)
    sources = {one.source for one in estimates}
    seconds = [one.seconds for one in estimates if one.seconds]
    usd = [one.usd for one in estimates if one.usd]
    is_timed, is_priced = len(seconds) == len(estimates), len(usd) == len(estimates)
    # Tasks take together as long as the longest of them, or as a slot is busy on average.
    lows, highs = [one.low for one in seconds], [one.high for one in seconds]
    low_s, high_s = (max(max(each, default=0), sum(each) / max(slots, 1)) for each in (lows, highs))
    return Estimate(
        next((source for source in ("prior", "suite", "test") if source in sources), "prior"),
        _sum(one.tokens for one in estimates),
        _sum(usd) if is_priced else None,
        Range(low_s, high_s) if is_timed else None,
        sum(one.samples for one in estimates if one.source == "test"),
    )


def plan_day(estimate: RunEstimate, order: Iterable[str], daily: Amount) -> DayPlan | None:
    """Tasks are launched in this order, each that fits; None where the estimate has no dollars to count.

    Runs come one after the other, and no more of them than the day has time for.
    """
    tasks = (estimate.tasks[slug] for slug in order)
    ranges = [task.tokens if daily.usd is None else task.usd for task in tasks]
    known = [one for one in ranges if one]
    if not known or len(known) < len(ranges):
        return None
    agents, high, low = 0, 0.0, 0.0
    for one in known:
        if high + one.high <= daily.value:
            agents, high, low = agents + 1, high + one.high, low + one.low
    if not agents:
        return DayPlan(0, 0, 0)
    seconds = estimate.total.seconds
    in_time = int(_DAY_S // seconds.high) if seconds and seconds.high > 0 else _MOST_RUNS
    in_short_time = int(_DAY_S // seconds.low) if seconds and seconds.low > 0 else _MOST_RUNS
    runs, most = (min(int(daily.value // one), _MOST_RUNS) if one else _MOST_RUNS for one in (high, low))
    return DayPlan(agents, max(min(runs, in_time), 1), max(min(most, in_short_time), 1))


def is_inside(estimate: Estimate, tokens: int, usd: float | None) -> bool:
    """Whether no more was used than the upper end, in dollars where both are known, else in tokens."""
    if estimate.usd is not None and usd is not None:
        return usd <= estimate.usd.high
    return tokens <= estimate.tokens.high


def _sum(ranges: Iterable[Range]) -> Range:
    ranges = tuple(ranges)
    return Range(sum(one.low for one in ranges), sum(one.high for one in ranges))


def _range(values: Sequence[float]) -> Range | None:
    if not values:
        return None
    ordered = sorted(values)
    high = quantile(ordered, _P95) if len(ordered) >= _FEW else ordered[-1] * _CAUTION
    return Range(quantile(ordered, _MEDIAN), high)


def quantile(ordered: Sequence[float], share: float) -> float:
    """The smallest value that at least this share of the sorted values does not exceed."""
    return ordered[max(math.ceil(share * len(ordered)) - 1, 0)]
