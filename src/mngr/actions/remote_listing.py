"""Looking at many hosts: all at once, each with its deadline, and what was last known of those that are silent."""

import threading
import time
from collections import deque
from collections.abc import Callable, Sequence
from functools import partial
from typing import TypeVar

import msgspec

from mngr.actions.host_notes import forget, remember, remembered, remembered_hosts
from mngr.actions.manager import Manager
from mngr.actions.rows import ACT_S, LIST_S, Look, agent_of_label, look_at, look_here
from mngr.errors import MngrError, UnreachableError
from mngr.hosts.labels import spec_of
from mngr.hosts.protocol import Labelled, ListsTags, Loads, RunsForOutput
from mngr.model.agent import Agent
from mngr.model.host import HostRef, HostState
from mngr.process import descriptor_limit
from mngr_lib.threads import Future, run_all

# So much later than its deadline a look that hangs is given up.
_SLACK_S = 0.3
# So many hosts are looked at at once: more would only wait for each other here, and miss their deadlines.
_AT_ONCE = 32
# A look that is late has longer while another answered so recently, up to so many times its deadline.
_PROGRESS_S, _PATIENCE = 1.0, 4
# Of more hosts than this, an agent that is named is looked for where it is known to be.
_MANY = 8

T = TypeVar("T")
IsMeant = Callable[[Agent], bool]


def look_at_all(
    manager: Manager,
    providers: Sequence[str],
    host: str,
    *,
    is_asked_for: bool,
    deadline_s: float = LIST_S,
    only: IsMeant | None = None,
) -> tuple[Look, ...]:
    """A look at every host of the providers, or at those of one name. This machine has all the time it needs.

    The list of a provider and every host have so long from their own start. A provider whose listing fails costs a
    warning, but for one that was asked for by name: then it is the answer. Of many hosts, only those are looked at
    that are known to have an agent that `only` is true of.
    """
    far = [name for name in providers if name != "local"]
    looking = [Future(partial(_looks, manager, name, host, deadline_s, only)) for name in far]
    here = (look_here(manager),) if "local" in providers and host in ("", "local") else ()
    found: list[Look] = []
    for name, future in zip(far, looking, strict=True):
        outcome = future.outcome()
        if isinstance(outcome, list):
            found += outcome
        elif isinstance(outcome, MngrError) and not is_asked_for:
            # It could not say which hosts it has: those we saw before, and a row for itself.
            seen = [HostRef(each, name, HostState.UNREACHABLE) for each in remembered_hosts(manager, name)]
            found += [Look(ref, known=remembered(manager, ref)) for ref in seen if host in ("", ref.name)]
            itself = HostRef(name, name, HostState.UNREACHABLE)
            found.append(Look(itself, warning=f"{name}: {outcome.message}"))
        else:
            raise outcome
    return (*here, *found)


def look_longer(looks: Sequence[Look], is_meant: IsMeant, manager: Manager) -> tuple[Look, ...]:
    """The same looks; a host that was silent and has an agent that is meant was asked again, for longer."""

    def again(look: Look) -> Look:
        if look.ref.state != HostState.UNREACHABLE or not any(map(is_meant, look.known)):
            return look
        ref = look.ref
        found = look_at_all(manager, (ref.provider,), ref.name, is_asked_for=False, deadline_s=ACT_S)
        return next((each for each in found if each.ref.name == ref.name), look)

    return tuple(run_all([partial(again, look) for look in looks]))


def run_each(
    jobs: Sequence[Callable[[], T]], within_s: float, at_once: int = _AT_ONCE
) -> list[T | BaseException | None]:
    """Every job in a thread, so many at once: results and errors in order, None for one that took longer.

    Each has so long from its own start, so that a long queue costs no job its time, and longer while others still
    answer one after the other: then it is this machine that is slow.
    """
    outcomes: dict[int, T | BaseException] = {}
    changed = threading.Condition()

    def work(at: int) -> None:
        try:
            outcome: T | BaseException = jobs[at]()
        except BaseException as error:
            outcome = error
        with changed:
            outcomes[at] = outcome
            changed.notify()

    waiting, began, answered_at, answers = deque(range(len(jobs))), dict[int, float](), 0.0, 0
    with changed:
        while waiting or began:
            while waiting and len(began) < at_once:
                at = waiting.popleft()
                began[at] = time.monotonic()
                threading.Thread(target=work, args=(at,), daemon=True).start()
            latest = answered_at + min(_PROGRESS_S, within_s)
            ends = {
                at: min(max(start + within_s, latest), start + _PATIENCE * within_s)
                for at, start in began.items()
            }
            changed.wait(max(0.0, min(ends.values()) - time.monotonic()))
            now = time.monotonic()
            if len(outcomes) > answers:
                answered_at, answers = now, len(outcomes)
            began = {at: start for at, start in began.items() if at not in outcomes and ends[at] > now}
        return [outcomes.get(at) for at in range(len(jobs))]


def _looks(
    manager: Manager, name: str, host: str, deadline_s: float, only: IsMeant | None = None
) -> list[Look]:
    """The hosts of one provider, looked at."""
    descriptor_limit()  # a connection to each host needs more of them than many systems give at first
    provider = manager.provider(name)
    if isinstance(provider, Loads):
        provider.load()
    noted = set(remembered_hosts(manager, name))  # before its hosts: one made in between is not gone
    (listed,) = run_each([lambda: list(provider.hosts())], deadline_s)
    if isinstance(listed, BaseException):
        raise listed
    if listed is None:
        raise UnreachableError(f"no answer within {deadline_s:g} s")
    for gone in noted - {ref.name for ref in listed}:
        forget(manager, HostRef(gone, name))
    asked = [ref for ref in listed if host in ("", ref.name)]
    if only and len(asked) > _MANY:
        asked = [ref for ref in asked if any(map(only, _known(manager, ref)))]
    # A host that cannot be reached says so itself; what is cut off here hangs.
    outcomes = run_each([partial(_look, manager, ref, deadline_s) for ref in asked], deadline_s + _SLACK_S)
    looks = []
    for ref, outcome in zip(asked, outcomes, strict=True):
        if isinstance(outcome, BaseException):
            raise outcome
        looks.append(outcome or _silent(manager, ref, f"no answer within {deadline_s:g} s"))
    return looks


def _known(manager: Manager, ref: HostRef) -> tuple[Agent, ...]:
    """The agents of a host as far as they are known without asking it."""
    provider = manager.provider(ref.provider)
    spec = spec_of(provider.listed_tags().get(ref.name, {})) if isinstance(provider, ListsTags) else None
    return (*remembered(manager, ref), *((agent_of_label(spec, ref),) if spec else ()))


def _look(manager: Manager, ref: HostRef, deadline_s: float) -> Look:
    if ref.state != HostState.RUNNING:
        known = remembered(manager, ref)
        if not known:
            # The agent that it was made for, by its label, is all that another machine knows of a host that is stopped.
            provider = manager.provider(ref.provider)
            spec = spec_of(provider.tags(ref.name)) if isinstance(provider, Labelled) else None
            known = (agent_of_label(spec, ref),) if spec else ()
        return Look(ref, known=known)
    try:
        host = manager.provider(ref.provider).open(ref.name)
        # Many sandboxes are heard by one loop of this process: those it is late for are not given up for that.
        patience = _PATIENCE if isinstance(host, RunsForOutput) else 1
        rows = look_at(host, manager, deadline_s=deadline_s * patience)
    except MngrError as error:
        return _silent(manager, ref, error.message)
    remember(manager, ref, tuple(row.agent for row in rows))
    return Look(ref, rows, host=host)


def _silent(manager: Manager, ref: HostRef, why: str) -> Look:
    gone = msgspec.structs.replace(ref, state=HostState.UNREACHABLE)
    return Look(gone, known=remembered(manager, gone), warning=f"{ref.address}: {why}")
