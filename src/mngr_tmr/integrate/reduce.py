"""The integration that a run asked for: by program, by an agent, or by program with agents for what conflicts."""

from collections.abc import Mapping, Sequence

import mngr
from mngr_tmr.integrate.integrate import integrate
from mngr_tmr.integrate.integrator import integrate_by_agent
from mngr_tmr.integrate.runner import Runner
from mngr_tmr.integrate.settle import by_agent, remembered
from mngr_tmr.model.integration import Integration
from mngr_tmr.model.record import TaskRecord
from mngr_tmr.model.run import RunSpec


def reduce(
    run: RunSpec,
    records: Sequence[TaskRecord],
    *,
    runner: Runner,
    before: Integration | None = None,
    env: Mapping[str, str] | None = None,
    manager: mngr.Manager | None = None,
) -> Integration:
    """Integrates as `knobs.integrator` says; what agents settled `before` needs no agent again.

    `env` holds the values of the variables that the integrator may see.
    """
    if run.knobs.integrator == "agent":
        return integrate_by_agent(run, records, runner=runner, before=before, env=env, manager=manager)
    ask = by_agent(run, env, manager) if run.knobs.integrator == "auto" else None
    resolve = remembered(before.conflicts if before else (), ask)
    return integrate(run, records, runner=runner, resolve=resolve)
