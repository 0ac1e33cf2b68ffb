"""Ending the hosts that were made for agents of a run, once their work is home; others are stopped with their files."""

from collections.abc import Callable, Iterator
from functools import partial

import mngr
from mngr_lib.threads import run_all
from mngr_tmr.engine.state import RunState
from mngr_tmr.engine.task_state import HOLDS_SLOT, TaskPhase
from mngr_tmr.model.task import agent_of
from mngr_tmr.run.polling import RUN, find_known, list_safely
from mngr_tmr.run_folder.log import error_text

_AT_ONCE = 8


def end_host(agent: mngr.Agent | str, manager: mngr.Manager, *, keeps_files: bool) -> None:
    """Ends an agent and the host that was made for it, or stops both; NotFoundError where it is gone already."""
    if not keeps_files:
        mngr.destroy(agent, discard_unreadable=True, manager=manager)
        return
    host = mngr.find(agent, manager=manager).agent.host if isinstance(agent, str) else agent.host
    mngr.stop_host(f"@{host.name}.{host.provider}", manager=manager)


def end_idle_hosts(state: RunState, manager: mngr.Manager) -> list[str]:
    """Ends every host of the run that no task needs any more, where the run bounds its hosts; says what failed.

    One may be left because ending it failed, or because the process that was to end it was killed.
    """
    if not state.options.max_hosts:
        return []
    left = list(_idle(state, manager))
    ends = [
        partial(_try, partial(end_host, agent, manager, keeps_files=keeps_files))
        for agent, keeps_files in left
    ]
    tried = run_all(ends, _AT_ONCE)
    return [
        f"the host of {agent.name} could not be ended: {why}"
        for (agent, _), why in zip(left, tried, strict=True)
        if why
    ]


def _idle(state: RunState, manager: mngr.Manager) -> Iterator[tuple[mngr.Agent, bool]]:
    """Agents whose attempts are over, on running hosts of their own, and whether their work is there alone."""
    listings, _ = list_safely(manager)
    owners = {
        agent_of(state.spec.id, slug, attempt): (slug, attempt)
        for slug, task in state.tasks.items()
        for attempt in range(1, task.attempt + 1)
    }
    names = {address: name for name, address in state.addresses.items()}
    known = {agent.id: names[address] for address, agent in find_known(listings, names).items()}
    for agent in (agent for listing in listings for agent in listing.agents):
        owner = owners.get(known.get(agent.id, agent.name if agent.labels.get(RUN) == state.spec.id else ""))
        if owner is None or agent.host.state != "RUNNING" or not manager.makes_hosts(agent.host.provider):
            continue
        slug, attempt = owner
        task = state.tasks[slug]
        if attempt < task.attempt or (task.phase not in HOLDS_SLOT and task.phase != TaskPhase.QUEUED):
            yield agent, owner not in state.hosts.pulled or agent.id not in known


def _try(work: Callable[[], None]) -> str:
    """Why it failed; empty when it did not, or when there was nothing left to do."""
    try:
        work()
    except mngr.NotFoundError:
        return ""
    except Exception as error:
        return error_text(error)
    return ""
