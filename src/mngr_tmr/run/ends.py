"""The two ends of a run's life: its hosts are started before it goes on, and nothing runs when it is over."""

import threading
import time
from collections.abc import Callable, Iterable, Sequence
from functools import partial

import mngr
from mngr_lib.threads import run_all
from mngr_tmr.copies.copy import destroy_copies, remove_garbage_of_copies
from mngr_tmr.copies.hosts import destroy_unfinished
from mngr_tmr.engine.state import RunState
from mngr_tmr.engine.task_state import TaskPhase
from mngr_tmr.model.run import RunSpec
from mngr_tmr.run.polling import RUN, find_known, list_safely
from mngr_tmr.run_folder.log import error_text

_LIVE = ("CREATING", "RUNNING", "WAITING", "UNKNOWN")
_HAS_WORK = (TaskPhase.WORKING, TaskPhase.ENDING, TaskPhase.PULLING)
_AT_ONCE = 8
_JOIN_S = 0.5


def start_hosts(state: RunState, manager: mngr.Manager) -> list[str]:
    """Starts the stopped hosts that have work of this run on them; says what failed.

    A host stops when no manager looked at it for its lease. The files of its agents are still there.
    """
    addresses = {state.addresses.get(task.agent) for task in state.tasks.values() if task.phase in _HAS_WORK}
    if not addresses:
        return []
    refs = [agent.host for agent in find_known(list_safely(manager)[0], addresses).values()]
    hosts = {f"@{ref.name}.{ref.provider}" for ref in refs if ref.state == "STOPPED"}
    starts = [partial(_try, partial(mngr.start_host, host, manager=manager)) for host in sorted(hosts)]
    tried = zip(sorted(hosts), run_all(starts, _AT_ONCE), strict=True)
    return [f"{host} could not be started: {why}" for host, why in tried if why]


def remove_leftovers(spec: RunSpec, manager: mngr.Manager, *, is_resumed: bool) -> list[str]:
    """Removes the run's working copies and, of a run that was killed, unfinished hosts; says what failed."""
    notes = []
    # What a killed life had asked its engine for may come late, so that this is done at both ends.
    if is_resumed and (why := _try(partial(destroy_unfinished, spec, manager))):
        notes.append(f"unfinished hosts could not be removed: {why}")
    if why := _try(partial(destroy_copies, spec.id, manager)):
        notes.append(f"working copies could not be removed: {why}")
    return notes


def end_steps(
    threads: Sequence[threading.Thread], spec: RunSpec, manager: mngr.Manager, timeout_s: float
) -> list[str]:
    """Ends the steps that an interrupt left running, and waits for them; says what failed.

    They work in copies, and end when these are removed. A copy that is being made is given time to be there first:
    removed in between it may leave a session without an agent, which is why garbage of the run is removed as well.
    """
    if not threads:
        return []
    started = time.monotonic()
    while left := [thread for thread in threads if thread.is_alive()]:
        waited_s = time.monotonic() - started
        if waited_s >= timeout_s:
            return [f"{thread.name} did not end within {timeout_s:g} s" for thread in left]
        _try(partial(destroy_copies, spec.id, manager, unfinished=waited_s >= timeout_s / 3))
        left[0].join(_JOIN_S)
    why = _try(partial(remove_garbage_of_copies, spec, manager))
    return [f"what is left of working copies could not be removed: {why}"] if why else []


def stop_all(state: RunState, manager: mngr.Manager) -> list[str]:
    """Stops every agent of the run that still runs, in whatever state; says what failed.

    An agent may run although its task has ended: a launch answered too late, a stop failed, its record was damaged.
    """
    if state.options.keep:
        return []
    listings, problem = list_safely(manager)
    notes = [f"not all agents could be listed: {problem}"] if problem else []
    known = find_known(listings, set(state.addresses.values())).values()
    agents = [agent for listing in listings for agent in listing.agents if agent.state in _LIVE]
    left = [agent for agent in agents if agent in known or agent.labels.get(RUN) == state.spec.id]
    return notes + _stop(left, manager)


def _stop(agents: Iterable[mngr.Agent], manager: mngr.Manager) -> list[str]:
    """Stops them all at once; where that fails, one by one, so that one in the way keeps no other running."""
    agents = list(agents)
    if not agents or not _try(partial(mngr.stop, agents, manager=manager)):
        return []
    tried = [(agent, _try(partial(mngr.stop, agent, manager=manager))) for agent in agents]
    return [f"{agent.name} ({agent.id}) could not be stopped: {why}" for agent, why in tried if why]


def _try(work: Callable[[], object]) -> str:
    """Why it failed; empty when it did not."""
    try:
        work()
    except Exception as error:
        return error_text(error)
    return ""
