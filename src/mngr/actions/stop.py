"""`stop`: ends whole process trees and keeps the work; one round trip a host, however many agents."""

from collections.abc import Sequence

from mngr.actions.manager import Manager, default_manager
from mngr.actions.rows import Row, key_of, look_at
from mngr.actions.targets import resolve_one
from mngr.errors import MngrError
from mngr.hosts.protocol import Host
from mngr.model import event as kinds
from mngr.model.agent import Agent, AgentState, Change
from mngr.model.event import Event
from mngr.sh.lines import append, ring
from mngr.sh.program import READ_AND_RUN, encode
from mngr.store.paths import HostPaths
from mngr.tmux.session import kill_script
from mngr.tmux.tree import end_trees_script

GRACE_S = 10.0
_LIVE = (AgentState.RUNNING, AgentState.WAITING, AgentState.CREATING, AgentState.UNKNOWN)


def stop(
    agents: Agent | str | Sequence[Agent | str], *, grace_s: float = GRACE_S, manager: Manager | None = None
) -> list[Change]:
    """Ends these agents' processes, all within the same grace; an agent that had ended already is left as it is."""
    manager = default_manager(manager)
    chosen = [agents] if isinstance(agents, Agent | str) else agents
    return stop_rows([resolve_one(manager, agent) for agent in chosen], grace_s=grace_s, manager=manager)


def stop_rows(rows: Sequence[Row], *, grace_s: float = GRACE_S, manager: Manager) -> list[Change]:
    """The same for agents already looked at."""
    changes: dict[tuple[str, ...], Change] = {}
    for host, group in by_host(rows):
        # Whatever an agent's files say, its process or its pane may say otherwise.
        live = [
            row
            for row in group
            if row.agent.state in _LIVE
            or row.evidence.alive
            or (row.evidence.pane and not row.evidence.pane.dead)
        ]
        live_ids = {row.agent.id for row in live}
        ended = [row for row in group if row.agent.id not in live_ids and row.evidence.pane]
        if live or ended:
            _end(host, live, ended, grace_s, manager)
        # Alone it is looked at alone: the other agents of its host may be hundreds.
        glob = group[0].agent.id if len(group) == 1 else "agent-*"
        now = {row.agent.id: row.agent for row in look_at(host, manager, agent_glob=glob)}
        for row in group:
            agent = now.get(row.agent.id, row.agent)
            changes[key_of(agent)] = Change(agent, changed=agent.id in live_ids)
            if agent.id in live_ids:
                manager.hook("after_stop", agent=agent)
    return [changes[key_of(row.agent)] for row in rows]


def by_host(rows: Sequence[Row]) -> list[tuple[Host, list[Row]]]:
    """Rows grouped by the host they are on."""
    groups: dict[tuple[str, str], tuple[Host, list[Row]]] = {}
    for row in rows:
        key = (row.host.provider, row.host.name)
        groups.setdefault(key, (row.host, []))[1].append(row)
    return list(groups.values())


def _end(host: Host, live: list[Row], ended: list[Row], grace_s: float, manager: Manager) -> None:
    paths, now = HostPaths(host.dir), manager.time_on(host)
    logs = [paths.agent(row.agent.id).events for row in live]
    sessions = [
        (row.agent.session, paths.agent(row.agent.id)) for row in [*live, *ended] if row.evidence.pane
    ]
    lines = [append(log, Event(now, kinds.STOPPING)) for log in logs]
    if live:
        lines.append(end_trees_script(paths, [row.agent.id for row in live], grace_s))
    lines.append(kill_script(paths, sessions))
    stopped = Event(now, kinds.STOPPED)
    lines += [f"{append(log, stopped, is_last_whole=True)} || unwritten=yes" for log in logs]
    lines += [ring(paths.bell), 'echo "${left-}"', 'echo "${unwritten-}"']
    done = host.run(READ_AND_RUN, stdin=encode("\n".join(lines)), timeout_s=grace_s + 60)
    survivors, _, unwritten = done.check("stopping").text.partition("\n")
    if unwritten.strip():
        manager.warn(
            f"could not write to {host.dir} on {host.name} that agents were stopped: is its disk full?"
        )
    if survivors:
        raise MngrError(
            f"processes {survivors} on {host.name} could not be ended", hint="are they yours to end?"
        )
