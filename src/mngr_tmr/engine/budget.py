"""What a run may use: each launch reserves what its agent may use, and readings of what agents used correct that."""

from collections.abc import Mapping

from msgspec import Struct
from msgspec.structs import replace

from mngr_tmr.model.entry import Entry
from mngr_tmr.model.facts import AgentsMetered, DaySpent, FinishRequest, HostFailed, StepOverdue, WorkPulled
from mngr_tmr.model.money import Amount, Used, parse_amount
from mngr_tmr.model.run import RunOptions, RunSpec

# A running agent gets this share of its first reservation on top when it has used that up, else half of it and so on.
_SHARES = (1.0, 0.5, 0.25, 0.125)
# How long a reading, a message and a stop may take beside the interval and the grace.
_LATE_S = 15.0
_ROUNDING = 1e-9


class BudgetRules(Struct, frozen=True):
    """The limits as amounts. `usd_per_token` is what the tokens of a fast agent cost."""

    total: Amount | None = None
    agent: Amount | None = None
    daily: Amount | None = None
    rate: Amount = Amount(tokens=2_000_000)
    usd_per_token: float = 0.0
    window_s: float = 0.0
    meter_s: float = 10.0

    @property
    def are_any(self) -> bool:
        return bool(self.total or self.agent or self.daily)

    def most_in(self, seconds: float) -> Used:
        """The most that one agent is expected to use in so many seconds."""
        minutes = seconds / 60
        if self.rate.usd is None:
            tokens = (self.rate.tokens or 0) * minutes
            return Used(round(tokens), tokens * self.usd_per_token)
        usd = self.rate.usd * minutes
        return Used(round(usd / self.usd_per_token) if self.usd_per_token else 0, usd)

    def overshoot(self, agents: int) -> Used:
        """The most that may be used beyond a budget while so many agents run.

        An agent is found to have used its part up at a reading, asked to finish, and stopped after the grace.
        """
        return self.most_in(self.window_s) * agents


class Reservation(Struct, frozen=True):
    """A running agent: what is set aside for it, and what it used by the last reading.

    `step` is what was set aside at first. With `is_final` it has handed its work over, and `spent` is all that it used.
    """

    attempt: int
    step: Used
    reserved: Used
    spent: Used = Used()
    asked_at: float | None = None
    is_final: bool = False

    @property
    def committed(self) -> Used:
        return self.spent if self.is_final else self.reserved.most(self.spent)


class BudgetState(Struct, frozen=True):
    """`first` is what each task reserves. `day_before` is what was used today at the time of that entry, by all runs,
    and `day_from` what this run had used then, today or before.
    """

    rules: BudgetRules
    first: Mapping[str, Used]
    running: Mapping[str, Reservation] = {}
    ended: Used = Used()
    day_before: Used = Used()
    day_from: Used = Used()
    metered_at: float = 0.0

    @property
    def spent(self) -> Used:
        """By all agents so far, as far as it was read."""
        return sum((one.spent for one in self.running.values()), self.ended)

    @property
    def committed(self) -> Used:
        """What was used, or is set aside."""
        return sum((one.committed for one in self.running.values()), self.ended)

    def lacking(self, slug: str) -> str:
        """Why a task cannot be launched: what it needs and what is free, in words; empty when it can be."""
        need = self._need(slug)
        for amount, name, free in self._free():
            if need.value(amount) > free + _ROUNDING or free <= 0:
                asked, left = amount.words(need.value(amount)), amount.words(max(free, 0.0))
                return f"it may use {asked}, and {left} of the {name} of {amount.words()} is free"
        return ""

    def used_up(self, slug: str) -> str:
        """Which budget a running agent has used up, in words; empty while it may go on."""
        one, rules = self.running.get(slug), self.rules
        if one is None or one.is_final:
            return ""
        if rules.agent and one.spent.value(rules.agent) >= rules.agent.value:
            return f"the agent budget of {rules.agent.words()} is used up"
        for amount, name, _ in self._free():
            if one.spent.value(amount) > one.reserved.value(amount):
                return f"the {name} of {amount.words()} is used up"
        return ""

    def with_options(self, options: RunOptions) -> "BudgetState":
        """The same with other limits: agents that were not asked to finish may get more."""
        return replace(self, rules=_rules(options, self.rules.usd_per_token))._topped_up()

    def after(self, entry: Entry) -> "BudgetState":
        """The budget after an entry of the journal."""
        fact = entry.fact
        if isinstance(fact, DaySpent):
            return replace(self, day_before=fact.used, day_from=self.spent)
        if entry.step == "meter":
            if isinstance(fact, AgentsMetered):
                return self._metered(fact.used)
            return replace(self, metered_at=entry.at) if entry.kind == "intended" else self
        one = self.running.get(entry.task)
        if (entry.step, entry.kind) == ("launch", "intended"):
            need, left = self._need(entry.task), one.committed if one else Used()
            state = replace(self, ended=self.ended + left)  # of an attempt whose end was not heard of
            return state._with(entry.task, Reservation(entry.attempt, need, need))
        if one is None or one.attempt != entry.attempt:
            return self
        if entry.step == "launch" and entry.kind in ("failed", "later"):
            # What may come late, or runs unseen on a silent host, counts as it was set aside.
            may_run = isinstance(fact, StepOverdue | HostFailed)
            return self._without(entry.task, one.committed if may_run else Used())
        if isinstance(fact, FinishRequest):
            return self._with(entry.task, replace(one, asked_at=entry.at))
        if isinstance(fact, WorkPulled) and fact.used is not None:
            return self._with(entry.task, replace(one, spent=fact.used.most(one.spent), is_final=True))
        if entry.step == "stop" and entry.kind in ("done", "failed"):
            unread = Used() if one.is_final else self.rules.most_in(self.rules.meter_s)
            return self._without(entry.task, one.committed + unread)
        return self

    def _free(self) -> list[tuple[Amount, str, float]]:
        """Each budget of the run: its amount, its name, and how much of it is neither used nor set aside."""
        found = list[tuple[Amount, str, float]]()
        committed = self.committed if self.rules.total or self.rules.daily else Used()
        if amount := self.rules.total:
            found.append((amount, "budget", amount.value - committed.value(amount)))
        if amount := self.rules.daily:
            today = self.day_before.value(amount) + committed.value(amount) - self.day_from.value(amount)
            found.append((amount, "daily budget", amount.value - today))
        return found

    def _need(self, slug: str) -> Used:
        """What a launch reserves: no more than the agent's own budget."""
        need, most = self.first.get(slug, Used()), self.rules.agent
        if most is None:
            return need
        if most.usd is None:
            return replace(need, tokens=min(need.tokens, round(most.value)))
        return replace(need, usd=min(need.usd, most.value))

    def _metered(self, used: Mapping[str, Used]) -> "BudgetState":
        running = dict(self.running)
        for slug, spent in used.items():
            if (one := running.get(slug)) and not one.is_final:
                running[slug] = replace(one, spent=one.spent.most(spent))
        return replace(self, running=running)._topped_up()

    def _topped_up(self) -> "BudgetState":
        """Agents that have used up what was set aside for them get more while there is some."""
        state = self
        for slug, one in self.running.items():
            if one.asked_at is None and state.used_up(slug):
                base = one.committed
                grown = (state._with(slug, replace(one, reserved=base + one.step * x)) for x in _SHARES)
                fitting = (new for new in grown if all(free >= -_ROUNDING for *_, free in new._free()))
                state = next(fitting, state)
        return state

    def _with(self, slug: str, one: Reservation) -> "BudgetState":
        return replace(self, running={**self.running, slug: one})

    def _without(self, slug: str, spent: Used) -> "BudgetState":
        running = {other: one for other, one in self.running.items() if other != slug}
        return replace(self, running=running, ended=self.ended + spent)


def make_budget(spec: RunSpec) -> BudgetState:
    """The budget of a run that has not begun. An agent reserves the upper end of its estimate, or its own budget."""
    limits, estimate = spec.options.limits, spec.estimate
    unpriced = estimate.unpriced_usd / 1e6 if estimate else 0.0
    rules = _rules(spec.options, estimate.fast_usd / 1e6 if estimate else 0.0)
    first: dict[str, Used] = {}
    for task in spec.tasks:
        one = estimate.tasks.get(task.slug) if estimate else None
        tokens = one.tokens.high if one else limits.context_tokens[1]
        usd = one.usd.high if one and one.usd else tokens * unpriced
        first[task.slug] = Used(round(tokens), usd)
    return BudgetState(rules, first)


def _rules(options: RunOptions, usd_per_token: float) -> BudgetRules:
    limits = options.limits
    total, agent, daily = (
        parse_amount(text, "budget") if text else None
        for text in (limits.budget, limits.agent_budget, limits.daily_budget)
    )
    rate = parse_amount(limits.agent_rate, "agent_rate")
    window_s = limits.meter_s + options.grace_s + _LATE_S
    return BudgetRules(total, agent, daily, rate, usd_per_token, window_s, limits.meter_s)
