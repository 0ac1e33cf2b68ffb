"""The integration as the run's options say: by program, by an agent, or by program with agents for conflicts."""

from collections.abc import Sequence

import mngr
from mngr_tmr.integrate.agent.conflict_agents import resolve_as_before, resolve_by_agent
from mngr_tmr.integrate.agent.integrator import integrate_by_agent
from mngr_tmr.integrate.gates.runner import Runner
from mngr_tmr.integrate.integrate import integrate
from mngr_tmr.integrate.trust import AgentTrust
from mngr_tmr.model.integration import Integration
from mngr_tmr.model.record import TaskRecord
from mngr_tmr.model.run import RunSpec


def reduce(
    run: RunSpec,
    records: Sequence[TaskRecord],
    *,
    runner: Runner,
    before: Integration | None = None,
    trust: AgentTrust | None = None,
    manager: mngr.Manager | None = None,
) -> Integration:
    """Integrates as `options.integrator` says; what agents resolved `before` needs no agent again.

    `trust` holds the values of the variables that the integrator may see.
    """
    trust = trust or AgentTrust()
    if run.options.integrator == "agent":
        return integrate_by_agent(run, records, runner=runner, before=before, trust=trust, manager=manager)
    ask = resolve_by_agent(run, trust, manager) if run.options.integrator == "auto" else None
    resolve = resolve_as_before(before.conflicts if before else (), ask)
    return integrate(run, records, runner=runner, resolve=resolve, trust=trust)
