"""Waking: stopped hosts are started so that their agents can be acted on."""

from collections.abc import Sequence

from msgspec import Struct

from mngr.actions.filter import Filter
from mngr.actions.list import look_and_list
from mngr.actions.manager import Manager
from mngr.actions.targets import any_of
from mngr.errors import LostError, UsageError
from mngr.hosts.protocol import Startable
from mngr.model.agent import Agent
from mngr.model.host import HostRef, HostState


class Lost(Struct, frozen=True):
    """An agent that went with its host."""

    agent: Agent
    why: LostError


def wake_hosts(names: Sequence[str], filter: Filter, manager: Manager) -> list[Lost]:
    """Starts the stopped hosts of the agents that are meant; returns the agents whose hosts are gone for good."""
    if manager.used_providers() == ("local",):
        return []
    is_wanted = any_of(names, manager)
    listing, _ = look_and_list(filter, is_meant=is_wanted, manager=manager)
    meant = [agent for agent in listing.agents if is_wanted(agent)]
    lost: dict[HostRef, LostError] = {}
    for ref in dict.fromkeys(agent.host for agent in meant if agent.host.state == HostState.STOPPED):
        try:
            start_again(ref, manager)
        except LostError as error:
            lost[ref] = error
    return [Lost(agent, lost[agent.host]) for agent in meant if agent.host in lost]


def start_again(ref: HostRef, manager: Manager) -> None:
    """Starts a host; a machine that is only reached is not ours to start."""
    provider = manager.provider(ref.provider)
    if not isinstance(provider, Startable):
        raise UsageError(f'"{ref.name}" is not mngr\'s to start', hint="start its agents by name")
    provider.start(ref.name)
