"""Estimates in words: before a run, and beside what it used after it."""

from collections import Counter
from collections.abc import Iterable

from mngr_tmr.model.estimate import Calibration, Estimate, RunEstimate, is_inside
from mngr_tmr.model.money import dollars, tokens
from mngr_tmr.model.run import RunSpec, tasks_with_agents
from mngr_tmr.model.usage import AgentUsage, add_usages
from mngr_tmr.report.data.counts import plural
from mngr_tmr.report.out.progress import clock

_MOST_MODELS, _MOST_TASKS = 3, 10


def estimate_words(estimate: Estimate) -> str:
    """`20k to 50k tokens, $0.10 to $0.25, 2:00 to 4:00`."""
    parts = [f"{_between(tokens(estimate.tokens.low), tokens(estimate.tokens.high))} tokens"]
    parts += [_between(dollars(estimate.usd.low), dollars(estimate.usd.high))] if estimate.usd else []
    parts += [_between(clock(estimate.seconds.low), clock(estimate.seconds.high))] if estimate.seconds else []
    return ", ".join(parts)


def task_words(estimate: Estimate) -> str:
    """The estimate of one task and where it comes from."""
    if estimate.source == "prior":
        return f"{estimate_words(estimate)} (no past run)"
    of = "this test" if estimate.source == "test" else "other tests"
    return f"{estimate_words(estimate)} ({plural(estimate.samples, 'past task')} of {of})"


def total_lines(spec: RunSpec, estimate: RunEstimate) -> Iterable[str]:
    """The estimate of a run, then where its numbers come from."""
    yield f"estimate: {estimate_words(estimate.total)} at {plural(spec.options.slots, 'slot')}"
    left = [estimate.tasks[task.slug] for task in tasks_with_agents(spec)]
    if not left:
        return
    counts = Counter(one.source for one in left)
    parts = []
    if count := counts["test"]:
        parts.append(f"{plural(count, 'test')} by {plural(estimate.total.samples, 'past task')} of their own")
    suite = next((one.samples for one in left if one.source == "suite"), 0)
    if count := counts["suite"]:
        parts.append(f"{plural(count, 'test')} by {plural(suite, 'past task')} of other tests")
    if count := counts["prior"]:
        low, high = (tokens(one) for one in spec.options.limits.context_tokens)
        parts.append(f"{plural(count, 'test')} without a past run: {low} to {high} tokens an agent")
    at = f"; {_price_words(spec, estimate)}" if counts["prior"] or estimate.total.usd is None else ""
    past = " (median to 95th percentile)" if counts["test"] or counts["suite"] else ""
    yield f"  from {', '.join(parts)}{past}{at}"


def first_lines(spec: RunSpec) -> Iterable[str]:
    """What a run begins with: the tasks that may use most, a line each, the sum, and the tasks that are skipped."""
    estimate = spec.estimate
    if estimate is None:
        return
    ordered = sorted(tasks_with_agents(spec), key=lambda task: -estimate.tasks[task.slug].tokens.high)
    for task in ordered[:_MOST_TASKS]:
        yield f"  {task.node_id}: {task_words(estimate.tasks[task.slug])}"
    if len(ordered) > _MOST_TASKS:
        yield f"  … and {len(ordered) - _MOST_TASKS} more: mngr tmr plan"
    yield from total_lines(spec, estimate)
    tests = [task for task in spec.tasks if task.slug in spec.skipped]
    for task in tests[:_MOST_TASKS]:
        yield f"  {task.node_id}: skipped: {spec.skipped[task.slug].reason}"
    if len(tests) > _MOST_TASKS:
        yield f"  … and {len(tests) - _MOST_TASKS} more: mngr tmr plan"
    yield from skipped_lines(spec)


def skipped_lines(spec: RunSpec) -> Iterable[str]:
    """How many tests need no agent, and what agents used for them when they last had one."""
    skipped = spec.skipped.values()
    if not skipped:
        return
    usage = add_usages(one.usage for one in skipped)
    saved = [f"{tokens(usage.tokens)} tokens"] if usage.tokens else []
    saved += [dollars(usage.cost_usd)] if usage.cost_usd else []
    saved += [f"{clock(sum(one.worked_s for one in skipped))} of work"]
    which, had = ("it reads", "its last agent") if len(skipped) == 1 else ("they read", "their last agents")
    yield (
        f"{plural(len(skipped), 'test')} skipped: nothing {which} changed since the last verified pass (--all for "
        f"agents all the same); {had} used {', '.join(saved)}"
    )


def used_line(estimate: Estimate, usage: AgentUsage, took_s: float) -> str:
    """What a run used, beside what it was expected to use."""
    cost = None if usage.unpriced else usage.cost_usd
    used = [f"{tokens(usage.tokens)} tokens"]
    used += [dollars(cost)] if cost is not None else []
    used += [clock(took_s)]
    verdict = "within it" if is_inside(estimate, usage.tokens, cost) else "more than that"
    return f"used {', '.join(used)}; the estimate was {estimate_words(estimate)}: {verdict}"


def calibration_line(calibration: Calibration) -> str:
    where = f"{plural(calibration.tasks, 'task')} of {plural(calibration.runs, 'run')}"
    return f"estimates so far: {calibration.inside} of {where} used no more than the upper end"


def _price_words(spec: RunSpec, estimate: RunEstimate) -> str:
    asked, models = spec.options.model, estimate.models
    if not models:
        which = f'the price of "{asked}" is not known' if asked else "no model is named"
        return f"{which}, so there are no dollars"
    if len(models) <= _MOST_MODELS:
        return f"input price of {', '.join(models)}"
    return f"from the cheapest to the dearest of {len(models)} models"


def _between(low: str, high: str) -> str:
    return low if low == high else f"{low} to {high}"
