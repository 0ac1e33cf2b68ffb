"""What tests ask about agents that are somewhere else."""

import mngr
from mngr.model.host import HostState
from mngr.process import wait_until
from mngr.testing.waiting import PATIENCE_S


def row(manager: mngr.Manager, name: str = "foo") -> mngr.Agent:
    """The agent, once every host has answered: a busy one may take longer than a list waits."""
    listing = wait_until(lambda: _whole(manager), PATIENCE_S)
    assert listing, mngr.list_agents(manager=manager).warnings
    return next(agent for agent in listing.agents if agent.name == name)


def _whole(manager: mngr.Manager) -> mngr.Listing | None:
    listing = mngr.list_agents(manager=manager)
    return None if any(host.state == HostState.UNREACHABLE for host in listing.hosts) else listing


def said(manager: mngr.Manager, *argv: str, name: str = "foo") -> str:
    """What a command prints in the agent's place."""
    heard: list[bytes] = []
    assert mngr.exec_in(name, argv, on_output=lambda _, data: heard.append(data), manager=manager) == 0
    return b"".join(heard).decode()
