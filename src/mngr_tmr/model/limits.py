"""The limits of a run, as they were asked for."""

from typing import Annotated, Literal

from msgspec import Meta, Struct

from mngr_tmr.model.money import parse_amount


class RunLimits(Struct, frozen=True):
    """What `resume` may change for what is left.

    `context_tokens` is what an agent is expected to use where no past run tells: the least and the most. The budgets
    are amounts of dollars or tokens as they were written, empty for none; `agent_rate` is the most that one agent is
    expected to use in a minute, and `meter_s` how often running agents are asked what they used.
    With `group`, tests that fail alike get one agent first, and its fix is tried on the others.
    When `breaker_after` tasks, and a quarter of the last 20, end with equal failures, an alert is given; `breaker` may
    also pause the launches then, or be off.
    """

    context_tokens: tuple[int, int] = (20_000, 50_000)
    group: bool = True
    breaker: Literal["alert", "pause", "off"] = "alert"
    breaker_after: Annotated[int, Meta(ge=2, le=20)] = 5
    budget: str = ""
    agent_budget: str = ""
    daily_budget: str = ""
    agent_rate: str = "2Mtok"
    meter_s: float = 10.0

    @property
    def in_dollars(self) -> bool:
        """Whether a budget is an amount of dollars."""
        budgets = (self.budget, self.agent_budget, self.daily_budget)
        return any(parse_amount(text, "budget").usd is not None for text in budgets if text)
