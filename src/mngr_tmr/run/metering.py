"""Reads what the agents of a run used so far: one listing, then one process on each host."""

from collections.abc import Mapping

import mngr
from mngr_tmr.engine.state import RunState
from mngr_tmr.engine.task_state import TaskPhase
from mngr_tmr.model.facts import AgentsMetered
from mngr_tmr.model.money import Used
from mngr_tmr.model.usage import AgentUsage, make_usage
from mngr_tmr.run.polling import RUN


def read_spending(state: RunState, manager: mngr.Manager) -> AgentsMetered:
    """Of the agents that are at work; what a host says of an agent that is not known to be there is left out."""
    tasks = _tasks_by_address(state)
    chosen = mngr.Filter(labels=(f"{RUN}={state.spec.id}",))
    report = mngr.usage(by="agent", filter=chosen, manager=manager)
    return AgentsMetered(
        {
            tasks[one.group]: used_of(make_usage(one), unpriced_usd(state))
            for one in report.usage
            if one.group in tasks
        }
    )


def used_of(usage: AgentUsage, unpriced: float) -> Used:
    """As a budget counts it: where a price is not known, all tokens count at this price of a million."""
    usd = usage.cost_usd or 0.0
    if usage.unpriced or usage.cost_usd is None:
        usd = max(usd, usage.tokens * unpriced / 1e6)
    return Used(usage.tokens, usd)


def unpriced_usd(state: RunState) -> float:
    return state.spec.estimate.unpriced_usd if state.spec.estimate else 0.0


def _tasks_by_address(state: RunState) -> Mapping[str, str]:
    """The tasks whose agents are at work, by the address of the agent on the host on which it was launched."""
    found = {}
    for slug in tuple(state.live):
        task = state.tasks[slug]
        host = state.addresses.get(task.agent, "").partition("@")[2]
        if task.phase == TaskPhase.WORKING:
            is_here = host.rpartition(".")[2] in ("", "local")
            found[task.agent if is_here else f"{task.agent}@{host}"] = slug
    return found
