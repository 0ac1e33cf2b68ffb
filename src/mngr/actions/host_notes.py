"""What this machine notes about other hosts: their agents when last seen, and hosts that are being made."""

import os
import time
from collections.abc import Sequence

import msgspec

from mngr.actions.manager import Manager
from mngr.errors import MngrError
from mngr.model.agent import Agent, AgentState, Creator
from mngr.model.host import HostRef, HostState
from mngr.store.untrusted import read_creator, read_remembered

_HERE = "local"
_SEEN, _CREATING, _SETTLED = ".last-seen.json", ".creating.json", ".settled.json"
# An answer that says nothing new is written down again only so often.
_FRESH_S = 20.0


def remember(manager: Manager, ref: HostRef, agents: tuple[Agent, ...]) -> None:
    """Notes the agents of a host that answered."""
    seen_at, before = _read(manager, ref)
    if before != agents or time.time() - seen_at > _FRESH_S:
        manager.local.write(_path(manager, ref, _SEEN), msgspec.json.encode((time.time(), agents)))


def remember_created(manager: Manager, agent: Agent) -> None:
    """Notes one more agent of its host, so that it is known also if the host falls silent before it is listed."""
    if agent.host.provider == _HERE:
        return
    _, before = _read(manager, agent.host)
    others = tuple(each for each in before if each.id != agent.id)
    remember(manager, agent.host, (*others, agent))


def forget_agents(manager: Manager, ref: HostRef, ids: set[str]) -> None:
    """Notes that agents are no more; a host without a note stays without."""
    _, before = _read(manager, ref)
    if before:
        remember(manager, ref, tuple(each for each in before if each.id not in ids))


def remembered(manager: Manager, ref: HostRef) -> tuple[Agent, ...]:
    """The agents of a host that does not answer, as they were, with how long ago that was."""
    seen_at, agents = _read(manager, ref)
    age_s = max(0, int(time.time() - seen_at))
    return tuple(_as_of(agent, ref, age_s) for agent in agents)


def remembered_hosts(manager: Manager, provider: str) -> list[str]:
    """The hosts of a provider that there is a note of."""
    names = _names(f"{manager.host_dir}/providers/{provider}")
    return [name.removesuffix(_SEEN) for name in names if name.endswith(_SEEN)]


def forget(manager: Manager, ref: HostRef) -> None:
    for ending in (_SEEN, _SETTLED):
        _unlink(_path(manager, ref, ending))


def note_settled(manager: Manager, ref: HostRef, ids: Sequence[str]) -> None:
    """Notes which agents had no commit that was nowhere else, when their host was stopped from here."""
    manager.local.write(_path(manager, ref, _SETTLED), msgspec.json.encode(list(ids)))


def forget_settled(manager: Manager, ref: HostRef) -> None:
    """The host is started: its agents may work again."""
    _unlink(_path(manager, ref, _SETTLED))


def settled(manager: Manager, ref: HostRef) -> set[str]:
    """The agents of a stopped host that can go without being looked at."""
    try:
        return set(msgspec.json.decode(manager.local.read(_path(manager, ref, _SETTLED)), type=list[str]))
    except (OSError, MngrError, msgspec.DecodeError):
        return set()


def note_creation(manager: Manager, ref: HostRef, creator: Creator) -> None:
    """Says who is making a host, before it is made."""
    manager.local.write(_path(manager, ref, _CREATING), msgspec.json.encode(creator))


def forget_creation(manager: Manager, ref: HostRef) -> None:
    _unlink(_path(manager, ref, _CREATING))


def creator_of(manager: Manager, ref: HostRef) -> Creator | None:
    """The process that was making the host from here; None when it was finished or never begun."""
    try:
        return read_creator(manager.local.read(_path(manager, ref, _CREATING)))
    except (OSError, MngrError):
        return None


def noted_creations(manager: Manager) -> list[HostRef]:
    """The hosts that are being made from here, or were when their maker died."""
    folder = f"{manager.host_dir}/providers"
    return [
        HostRef(name.removesuffix(_CREATING), provider)
        for provider in _names(folder)
        for name in _names(f"{folder}/{provider}")
        if name.endswith(_CREATING)
    ]


def _names(folder: str) -> list[str]:
    try:
        return sorted(os.listdir(folder))
    except OSError:
        return []


def _path(manager: Manager, ref: HostRef, ending: str) -> str:
    return f"{manager.host_dir}/providers/{ref.provider}/{ref.name}{ending}"


def _read(manager: Manager, ref: HostRef) -> tuple[float, tuple[Agent, ...]]:
    try:
        return read_remembered(manager.local.read(_path(manager, ref, _SEEN)))
    except (OSError, MngrError):
        return 0.0, ()


def _as_of(agent: Agent, ref: HostRef, age_s: int) -> Agent:
    if agent.state in (AgentState.DONE, AgentState.STOPPED):
        return msgspec.structs.replace(agent, host=ref)
    if ref.state == HostState.STOPPED:
        return msgspec.structs.replace(agent, host=ref, state=AgentState.STOPPED, why=ref.stopped_agent)
    why = f"host {ref.state.lower()}; was {agent.state} {age_s} s ago"
    return msgspec.structs.replace(agent, host=ref, state=AgentState.UNKNOWN, why=why)


def _unlink(path: str) -> None:
    try:
        os.unlink(path)
    except FileNotFoundError:
        pass
