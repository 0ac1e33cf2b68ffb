"""What a run is expected to use, by the summaries of past runs, and how good such estimates were."""

import os
from collections.abc import Iterable, Sequence

from msgspec.structs import replace

import mngr
from mngr_tmr.history.facts import RowFacts, RunFacts
from mngr_tmr.model.estimate import (
    Calibration,
    PastTask,
    RunEstimate,
    estimate_run,
    is_inside,
    prior_estimate,
    total_of,
)
from mngr_tmr.model.run import RunSpec
from mngr_tmr.run_folder.folder import RunFolder, read_json, run_names

_RUNS = 20
_WRITTEN_SHARE = 0.005


def read_past(runs: str) -> tuple[RunFacts, ...]:
    """The last runs that are over, oldest first; one whose summary cannot be read is left out."""
    found = []
    for name in run_names(runs)[-_RUNS:]:
        try:
            run = read_json(RunFolder(os.path.join(runs, name)).summary, RunFacts)
        except (OSError, mngr.MngrError):
            continue
        if run.is_over:
            found.append(run)
    return tuple(found)


def estimate_spec(spec: RunSpec, runs: str, manager: mngr.Manager) -> RunEstimate:
    """By the past runs with the same agent type and model, else by the prior at the price of the model."""
    options = spec.options
    past = [run for run in read_past(runs) if (run.agent_type, run.model) == (options.type, options.model)]
    used = sorted({model for run in past for model in run.usage.models})
    names = used if used and not options.model else [options.model]
    prices: dict[str, mngr.Price] = {}
    for name in names:
        prices |= mngr.model_prices(name, agent_type=options.type, manager=manager)
    prior = prior_estimate(options.limits.context_tokens, [price.input for price in prices.values()])
    slugs = {task.node_id: task.slug for task in spec.tasks}
    known: dict[str, list[PastTask]] = {}
    for row in (row for run in past for row in run.rows if row.usage.tokens or row.worked_s):
        one = PastTask(row.usage.tokens or None, _known_usd(row), row.worked_s or None)
        known.setdefault(slugs.get(row.test, f"gone {row.test}"), []).append(one)
    estimate = estimate_run(slugs.values(), known, prior, options.slots, tuple(sorted(prices)))
    to_run = [one for slug, one in estimate.tasks.items() if slug not in spec.skipped]
    total = total_of(to_run, options.slots) if spec.skipped else estimate.total
    dearest = max(price.input for price in mngr.model_prices(manager=manager).values())
    # Of a million tokens most are read from the cache, some written; in a long context if that costs more.
    rates = [price.long_context or price for price in prices.values()]
    reads = [one.input / 10 if one.cache_read is None else one.cache_read for one in rates]
    fast = max(
        (read + _WRITTEN_SHARE * one.output for read, one in zip(reads, rates, strict=True)), default=dearest
    )
    return replace(estimate, total=total, fast_usd=fast, unpriced_usd=dearest)


def calibrate(runs: Iterable[RunFacts]) -> Calibration | None:
    """None where no past task had both an estimate and records of what it used."""
    judged = [found for run in runs if (found := judge_rows(run.rows))]
    if not judged:
        return None
    outcomes = [is_in for found in judged for is_in in found]
    return Calibration(sum(outcomes), len(outcomes), len(judged))


def judge_rows(rows: Sequence[RowFacts]) -> list[bool]:
    """For each task with an estimate and records whether it stayed within its estimate."""
    return [
        is_inside(row.estimate, row.usage.tokens, _known_usd(row))
        for row in rows
        if row.estimate and row.usage.tokens
    ]


def _known_usd(row: RowFacts) -> float | None:
    """The cost, where all models that were used have a price."""
    return None if row.usage.unpriced else row.usage.cost_usd
