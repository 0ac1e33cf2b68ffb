"""`create`: a work dir, a host if asked for, and a running agent; or nothing at all."""

from typing import Unpack

from mngr.actions.create.plan import make_plan
from mngr.actions.create.request import CreateFields, CreateSpec, read_request
from mngr.actions.create.steps import carry_out
from mngr.actions.manager import Manager, default_manager
from mngr.errors import UsageError
from mngr.model.agent import AgentState, Change


def create(
    spec: CreateSpec | str = "", *, manager: Manager | None = None, **fields: Unpack[CreateFields]
) -> Change:
    """Makes an agent and starts it, or leaves nothing behind.

    Raises AgentDiedError when its program ends with a failure at once; every other error means that nothing is left.
    """
    manager = default_manager(manager)
    request = spec if isinstance(spec, CreateSpec) else read_request({"name": spec, **fields})
    plan = make_plan(request, manager)
    if not plan.spec.reuse:
        return carry_out(plan, manager)
    from mngr.actions import start, targets  # few creations reuse

    if not plan.address.name:
        raise UsageError("--reuse needs a name", hint="mngr create NAME --reuse …")
    found = targets.resolve(manager, [plan.address.name]).rows
    if not found:
        return carry_out(plan, manager)
    agent = found[0].agent
    if agent.state in (AgentState.STOPPED, AgentState.DONE):
        return start.start(agent, manager=manager)
    return Change(agent, changed=False, notes=("it was there already",))
