"""What a run did not spend, because tests that fail alike need one agent."""

from collections.abc import Iterable

from msgspec import Struct

from mngr_tmr.model.estimate import Estimate, total_of
from mngr_tmr.model.money import dollars, tokens
from mngr_tmr.model.record import TaskRecord
from mngr_tmr.model.run import RunSpec


class SavedAgents(Struct, frozen=True, omit_defaults=True):
    """Agents that were not launched, and what they were expected to use; None for runs without an estimate."""

    agents: int
    estimate: Estimate | None = None

    @property
    def text(self) -> str:
        count = f"{self.agents} test{'s' * (self.agents > 1)} fixed by the work for another test"
        agents = f"{self.agents} agent{'s' * (self.agents > 1)} not launched"
        if self.estimate is None:
            return f"{count}: {agents}"
        used, usd = self.estimate.tokens, self.estimate.usd
        cost = f" ({dollars(usd.low)} to {dollars(usd.high)})" if usd else ""
        return f"{count}: {agents}, {tokens(used.low)} to {tokens(used.high)} tokens{cost} saved by estimate"


def saved_agents(spec: RunSpec, records: Iterable[TaskRecord]) -> SavedAgents | None:
    """None where every test had an agent, or is to get one."""
    fixed = [record.task.slug for record in records if record.fixed_by]
    if not fixed:
        return None
    estimates = spec.estimate.tasks if spec.estimate else {}
    known = [estimates[slug] for slug in fixed if slug in estimates]
    return SavedAgents(len(fixed), total_of(known, spec.options.slots) if known else None)
