"""Looking at many hosts: all at once, each with its deadline, and what was last known of those that are silent."""

import threading
import time
from collections.abc import Callable, Sequence
from functools import partial
from typing import TypeVar

import msgspec

from mngr.actions.host_notes import forget, remember, remembered, remembered_hosts
from mngr.actions.manager import Manager
from mngr.actions.rows import ACT_S, LIST_S, Look, agent_of_label, in_parallel, look_at, look_here
from mngr.errors import MngrError
from mngr.hosts.labels import spec_of
from mngr.hosts.protocol import Labelled
from mngr.model.agent import Agent
from mngr.model.host import HostRef, HostState

# So much longer than its hosts a provider may take, which waits for them.
_SLACK_S = 0.3

T = TypeVar("T")


def look_at_all(
    manager: Manager, providers: Sequence[str], host: str, *, is_asked_for: bool, deadline_s: float = LIST_S
) -> tuple[Look, ...]:
    """A look at every host of the providers, or at those of one name. This machine has all the time it needs.

    A provider whose listing fails costs a warning, but for one that was asked for by name: then it is the answer.
    """
    deadline = time.monotonic() + deadline_s
    far = [name for name in providers if name != "local"]
    finish = start_all([partial(_looks, manager, name, host, deadline_s, deadline) for name in far])
    here = (look_here(manager),) if "local" in providers and host in ("", "local") else ()
    found: list[Look] = []
    for name, outcome in zip(far, finish(deadline + _SLACK_S), strict=True):
        if isinstance(outcome, list):
            found += outcome
        elif isinstance(outcome, MngrError) and not is_asked_for:
            found += _silent_provider(manager, name, host, outcome.message)
        elif isinstance(outcome, BaseException):
            raise outcome
        else:
            found += _silent_provider(manager, name, host, f"no answer within {deadline_s:g} s")
    return (*here, *found)


def look_longer(
    looks: Sequence[Look], is_meant: Callable[[Agent], bool], manager: Manager
) -> tuple[Look, ...]:
    """The same looks; a host that was silent and has an agent that is meant was asked again, for longer."""

    def again(look: Look) -> Look:
        if look.ref.state != HostState.UNREACHABLE or not any(map(is_meant, look.known)):
            return look
        ref = look.ref
        found = look_at_all(manager, (ref.provider,), ref.name, is_asked_for=False, deadline_s=ACT_S)
        return next((each for each in found if each.ref.name == ref.name), look)

    return tuple(in_parallel([partial(again, look) for look in looks]))


def start_all(
    jobs: Sequence[Callable[[], T]],
) -> Callable[[float], list[T | BaseException | None]]:
    """Starts every job in a thread. What is returned waits until a deadline and gives results, errors, or None."""
    outcomes: dict[int, T | BaseException] = {}

    def work(index: int) -> None:
        try:
            outcomes[index] = jobs[index]()
        except BaseException as error:
            outcomes[index] = error

    threads = [threading.Thread(target=work, args=(index,), daemon=True) for index in range(len(jobs))]
    for thread in threads:
        thread.start()

    def finish(deadline: float) -> list[T | BaseException | None]:
        for thread in threads:
            thread.join(max(0.0, deadline - time.monotonic()))
        return [outcomes.get(index) for index in range(len(jobs))]

    return finish


def _looks(manager: Manager, name: str, host: str, deadline_s: float, deadline: float) -> list[Look]:
    """The hosts of one provider, looked at."""
    noted = set(remembered_hosts(manager, name))  # before its hosts: one made in between is not gone
    refs = list(manager.provider(name).hosts())
    for gone in noted - {ref.name for ref in refs}:
        forget(manager, HostRef(gone, name))
    wanted = [ref for ref in refs if host in ("", ref.name)]
    outcomes = start_all([partial(_look, manager, ref, deadline_s) for ref in wanted])(deadline)
    looks = []
    for ref, outcome in zip(wanted, outcomes, strict=True):
        if isinstance(outcome, BaseException):
            raise outcome
        looks.append(outcome or _silent(manager, ref, f"no answer within {deadline_s:g} s"))
    return looks


def _look(manager: Manager, ref: HostRef, deadline_s: float) -> Look:
    if ref.state != HostState.RUNNING:
        return Look(ref, known=remembered(manager, ref) or _labelled(manager, ref))
    try:
        host = manager.provider(ref.provider).open(ref.name)
        rows = look_at(host, manager, deadline_s=deadline_s)
    except MngrError as error:
        return _silent(manager, ref, error.message)
    remember(manager, ref, tuple(row.agent for row in rows))
    return Look(ref, rows)


def _labelled(manager: Manager, ref: HostRef) -> tuple[Agent, ...]:
    """The agent that a host was made for, by its label: all that another machine knows of a host that is stopped."""
    provider = manager.provider(ref.provider)
    spec = spec_of(provider.tags(ref.name)) if isinstance(provider, Labelled) else None
    return (agent_of_label(spec, ref),) if spec else ()


def _silent(manager: Manager, ref: HostRef, why: str) -> Look:
    gone = msgspec.structs.replace(ref, state=HostState.UNREACHABLE)
    return Look(gone, known=remembered(manager, gone), warning=f"{ref.name}.{ref.provider}: {why}")


def _silent_provider(manager: Manager, name: str, host: str, why: str) -> list[Look]:
    """A provider that could not say which hosts it has: those we saw before, and a row for itself."""
    known = [HostRef(each, name, HostState.UNREACHABLE) for each in remembered_hosts(manager, name)]
    looks = [Look(ref, known=remembered(manager, ref)) for ref in known if host in ("", ref.name)]
    return [*looks, Look(HostRef(name, name, HostState.UNREACHABLE), warning=f"{name}: {why}")]
