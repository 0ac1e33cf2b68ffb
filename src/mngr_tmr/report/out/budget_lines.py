"""Budgets in words: before the first launch, while a run goes on, and at its end."""

from collections.abc import Iterable

from mngr_tmr.engine.budget import BudgetRules, make_budget
from mngr_tmr.engine.state import launch_order
from mngr_tmr.model.estimate import RunEstimate, plan_day
from mngr_tmr.model.money import Used, dollars
from mngr_tmr.model.run import RunSpec, tasks_with_agents
from mngr_tmr.report.data.counts import plural


def budget_lines(spec: RunSpec) -> Iterable[str]:
    """What a run with a budget says first: the limits, the worst overshoot, and what they rest on."""
    rules = make_budget(spec).rules
    main = rules.total or rules.daily or rules.agent
    if main is None:
        return
    agents = min(spec.options.slots, len(tasks_with_agents(spec))) if main != rules.agent else 1
    more = main.words(rules.overshoot(agents).value(main))
    rate = main.words(rules.most_in(60).value(main))
    amounts = ((rules.total, ""), (rules.agent, " an agent"), (rules.daily, " a day"))
    limits = ", ".join(f"{amount.words()}{of}" for amount, of in amounts if amount)
    yield f"budget: {limits}; at most {more} more may be used"
    yield f"  {plural(agents, 'agent')} at once, each until it is stopped, {rules.window_s:g} s at {rate} a minute"
    if spec.estimate:
        yield from _warnings(spec, spec.estimate, rules)


def day_line(spec: RunSpec) -> str:
    """How many agents and runs the daily budget is enough for; empty where there is none."""
    daily, estimate = make_budget(spec).rules.daily, spec.estimate
    if daily is None or estimate is None:
        return ""
    plan = plan_day(estimate, launch_order(tasks_with_agents(spec)), daily)
    if plan is None:
        return f"{daily.words()} a day: the price is not known, so this cannot be told; --daily-tokens can"
    tests = plural(len(tasks_with_agents(spec)), "test")
    if plan.agents < len(tasks_with_agents(spec)):
        return f"{daily.words()} a day: 1 run with {plural(plan.agents, 'agent')}, for {tests}"
    runs = plural(plan.runs, "run")
    runs += f", up to {plan.most_runs} if agents use little" if plan.most_runs > plan.runs else ""
    return f"{daily.words()} a day: {runs}, each with {plural(plan.agents, 'agent')} for {tests}"


def budget_words(rules: BudgetRules, spent: Used) -> str:
    """`$3.10 of $25.00`; empty where the whole run has no budget."""
    total = rules.total
    return f"{total.words(spent.value(total))} of {total.words()}" if total else ""


def budget_end(spec: RunSpec, spent: Used) -> str:
    """What became of the budget of a run; empty where it had none."""
    rules = make_budget(spec).rules
    if rules.total is None:
        return ""
    over = spent.value(rules.total) - rules.total.value
    if over <= 0:
        return f"budget: {budget_words(rules, spent)} used"
    agents = min(spec.options.slots, len(tasks_with_agents(spec)))
    bound = rules.overshoot(agents).value(rules.total)
    words = f"at most {rules.total.words(bound)} more was expected"
    words += "" if over <= bound else ": an agent was faster than agent_rate"
    return f"budget: {budget_words(rules, spent)} used, {rules.total.words(over)} more than it ({words})"


def _warnings(spec: RunSpec, estimate: RunEstimate, rules: BudgetRules) -> Iterable[str]:
    budgets = [amount for amount in (rules.total, rules.agent, rules.daily) if amount]
    if any(amount.usd is not None for amount in budgets) and estimate.total.usd is None:
        asked = spec.options.model
        which = f'no price is known for "{asked}"' if asked else "no model with a known price is named"
        price, name = dollars(estimate.unpriced_usd), asked or "NAME"
        yield f'  {which}: tokens without a price count at {price} a million, the dearest known; see [prices."{name}"]'
    high = Used(round(estimate.total.tokens.high), estimate.total.usd.high if estimate.total.usd else 0.0)
    if rules.total and high.value(rules.total) > rules.total.value:
        words = rules.total.words(high.value(rules.total))
        yield f"  the estimate goes up to {words}: some tests may not be run"
