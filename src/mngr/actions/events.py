"""`events`: an agent's log."""

from collections.abc import Iterator

from mngr.actions.manager import Manager, default_manager
from mngr.actions.targets import resolve_one
from mngr.actions.watch import watch
from mngr.model.agent import Agent
from mngr.model.event import Event, decode_event
from mngr.store.paths import HostPaths


def events(agent: Agent | str, *, manager: Manager | None = None) -> list[Event]:
    """All events so far; a torn line is passed over."""
    row = resolve_one(default_manager(manager), agent)
    return _decode(row.host.read(HostPaths(row.host.dir).agent(row.agent.id).events))


def follow(agent: Agent | str, *, manager: Manager | None = None) -> Iterator[Event]:
    """All events so far, then each new one as it comes, until the agent is destroyed."""
    manager = default_manager(manager)
    row = resolve_one(manager, agent)
    path, seen = HostPaths(row.host.dir).agent(row.agent.id).events, 0
    for rows in watch(row.host, manager):
        if all(other.agent.id != row.agent.id for other in rows):
            return
        data = row.host.read(path)
        whole = data.rfind(b"\n") + 1
        yield from _decode(data[seen:whole])
        seen = whole


def _decode(data: bytes) -> list[Event]:
    decoded = (decode_event(line) for line in data.split(b"\n") if line)
    return [event for event in decoded if event]
