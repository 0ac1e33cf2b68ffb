"""Waking: stopped hosts are started so that their agents can be acted on."""

from collections.abc import Sequence

import msgspec
from msgspec import Struct

from mngr.actions.filter import Filter
from mngr.actions.host_notes import forget_settled, remembered, settled
from mngr.actions.list import look_and_list
from mngr.actions.manager import Manager
from mngr.actions.targets import any_of
from mngr.errors import LostError, UsageError
from mngr.hosts.protocol import Startable, StartsAnew
from mngr.model.agent import Agent
from mngr.model.host import HostRef, HostState


class LostAgent(Struct, frozen=True):
    """An agent that went with its host, or can go with it as it is."""

    agent: Agent
    why: LostError
    note: str = "it had gone with its host"


def start_stopped_hosts(
    names: Sequence[str], filter: Filter, manager: Manager, *, is_destroying: bool = False
) -> list[LostAgent]:
    """Starts the stopped hosts of the agents that are meant; returns the agents whose hosts cannot be started again.

    To destroy them, a host that would have to be made anew is not, where nothing on it would be missed.
    """
    if manager.used_providers() == ("local",):
        return []
    is_meant = any_of(names, manager)
    listing, _ = look_and_list(filter, is_meant=is_meant, manager=manager)
    meant = [agent for agent in listing.agents if is_meant(agent)]
    lost: dict[HostRef, LostError] = {}
    settled_hosts: set[HostRef] = set()
    for ref in dict.fromkeys(agent.host for agent in meant if agent.host.state == HostState.STOPPED):
        if is_destroying:
            ids = {agent.id for agent in meant if agent.host == ref}
            there = {agent.id for agent in remembered(manager, ref)}
            provider = manager.provider(ref.provider)
            is_new = isinstance(provider, StartsAnew) and provider.starts_anew
            # All agents of it are meant, and had no commit of their own when it was stopped.
            if is_new and there and there <= ids and there <= settled(manager, ref):
                lost[ref] = LostError(f'host "{ref.name}" need not be started')
                settled_hosts.add(ref)
                continue
        try:
            start_again(ref, manager)
        except LostError as error:
            lost[ref] = error
    found = [LostAgent(agent, lost[agent.host]) for agent in meant if agent.host in lost]
    stayed = "its host was stopped, and no commit was only there"
    return [
        msgspec.structs.replace(each, note=stayed) if each.agent.host in settled_hosts else each
        for each in found
    ]


def start_again(ref: HostRef, manager: Manager) -> None:
    """Starts a host; a machine that is only reached is not ours to start."""
    provider = manager.provider(ref.provider)
    if not isinstance(provider, Startable):
        raise UsageError(f'"{ref.name}" is not mngr\'s to start', hint="start its agents by name")
    forget_settled(manager, ref)
    provider.start(ref.name)
