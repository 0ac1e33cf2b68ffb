"""`events`: an agent's log."""

from collections.abc import Iterator

from mngr.actions.manager import Manager, default_manager
from mngr.actions.targets import resolve_one
from mngr.actions.watch import watch
from mngr.agents.shared.jsonl import read_tail
from mngr.model.agent import Agent
from mngr.model.event import Event
from mngr.store.paths import HostPaths
from mngr.store.untrusted import read_events

# So much of a log is read at once.
_LOG_LIMIT = 16 << 20
# $1 log, $2 first byte, $3 how many.
_READ = '[ ! -f "$1" ] || [ -L "$1" ] || tail -c "+$2" -- "$1" | head -c "$3"'


def events(agent: Agent | str, *, manager: Manager | None = None) -> list[Event]:
    """All events so far, of a log past 16 MB those at its end; a line that is no event is passed over."""
    row = resolve_one(default_manager(manager), agent)
    path = HostPaths(row.host.dir).agent(row.agent.id).events
    return read_events(b"\n".join(read_tail(row.host, path, _LOG_LIMIT).lines))


def follow(agent: Agent | str, *, manager: Manager | None = None) -> Iterator[Event]:
    """All events so far, then each new one as it comes, until the agent is destroyed."""
    manager = default_manager(manager)
    row = resolve_one(manager, agent)
    path, seen = HostPaths(row.host.dir).agent(row.agent.id).events, 0
    for rows in watch(row.host, manager):
        if all(other.agent.id != row.agent.id for other in rows):
            return
        argv = ("sh", "-c", _READ, "mngr-events", path)
        while data := row.host.run((*argv, str(seen + 1), str(_LOG_LIMIT))).stdout:
            # A line as long as all that is read at once never ends.
            whole = data.rfind(b"\n") + 1 or (len(data) if len(data) >= _LOG_LIMIT else 0)
            yield from read_events(data[:whole])
            seen += whole
            if len(data) < _LOG_LIMIT:
                break
