"""Waking: stopped hosts are started so that their agents can be acted on."""

from collections.abc import Sequence

from mngr.actions.filter import Filter
from mngr.actions.list import look_and_list
from mngr.actions.manager import Manager
from mngr.actions.targets import is_meant
from mngr.errors import UsageError
from mngr.hosts.protocol import Startable
from mngr.model.host import HostRef, HostState


def wake_hosts(names: Sequence[str], filter: Filter, manager: Manager) -> None:
    """Starts the stopped hosts of the agents that are meant, so that these can be acted on."""
    if manager.used_providers() == ("local",):
        return
    addresses = [manager.address(name) for name in names]
    listing, _ = look_and_list(filter, manager=manager)
    meant = [
        agent.host
        for agent in listing.agents
        if not addresses or any(is_meant(address, agent) for address in addresses)
    ]
    for ref in {ref.name: ref for ref in meant if ref.state == HostState.STOPPED}.values():
        start_again(ref, manager)


def start_again(ref: HostRef, manager: Manager) -> None:
    """Starts a host; a machine that is only reached is not ours to start."""
    provider = manager.provider(ref.provider)
    if not isinstance(provider, Startable):
        raise UsageError(f'"{ref.name}" is not mngr\'s to start', hint="start its agents by name")
    provider.start(ref.name)
