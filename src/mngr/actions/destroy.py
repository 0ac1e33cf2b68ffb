"""`destroy`: ends an agent and removes exactly its own things; commits that live nowhere else are kept."""

import os
from collections.abc import Sequence

import msgspec

from mngr.actions.claim import drop_name
from mngr.actions.filter import Filter
from mngr.actions.host_notes import forget, forget_agents
from mngr.actions.manager import Manager, default_manager
from mngr.actions.many import run_many
from mngr.actions.rows import Row, look_at
from mngr.actions.stop import by_host, stop_rows
from mngr.actions.targets import resolve_one
from mngr.actions.wake import wake_hosts
from mngr.errors import MngrError, UnreachableError, UsageError
from mngr.model.agent import Agent, AgentSpec, AgentState, Change
from mngr.model.host import HostRef
from mngr.store.paths import HostPaths
from mngr.store.script import READ_AND_RUN, encode, quote, ring
from mngr.transfer.discard import discard
from mngr.transfer.protocol import Sent, Source
from mngr.transfer.source import find_source

_GRACE_S = 2.0
_JOBS = 4


def destroy(agents: Agent | str | Sequence[Agent | str], *, manager: Manager | None = None) -> list[Change]:
    """Removes agents: processes, session, work dir, branch (unless it has commits of its own), state.

    A stopped host is started for that; one that was made for its last agent goes with it, and so does one that is gone.
    """
    manager = default_manager(manager)
    wanted = [agents] if isinstance(agents, Agent | str) else agents
    rows, gone = list[Row](), list[Agent]()
    for agent in wanted:
        try:
            rows.append(resolve_one(manager, agent))
        except UnreachableError:
            key = agent if isinstance(agent, str) else agent.id
            lost = wake_hosts([key], Filter(), manager)
            gone += [each.agent for each in lost]
            rows += [] if lost else [resolve_one(manager, agent)]
    results = [*destroy_rows(rows, manager=manager), *drop_lost(gone, manager=manager)]
    failed = [result for result in results if isinstance(result, MngrError)]
    if failed:
        raise failed[0]
    return [result for result in results if isinstance(result, Change)]


def drop_lost(agents: Sequence[Agent], *, manager: Manager) -> list[Change]:
    """Forgets agents that went with their hosts, and those hosts."""
    for ref in dict.fromkeys(agent.host for agent in agents):
        manager.provider(ref.provider).destroy(ref.name)
        forget(manager, ref)
    return [Change(agent, changed=True, notes=("it had gone with its host",)) for agent in agents]


def destroy_rows(rows: Sequence[Row], *, manager: Manager) -> list[Change | MngrError]:
    """The same for agents already looked at, each with its own result. One whose work cannot be removed stays."""
    last = {change.agent.id: change.agent for change in stop_rows(rows, grace_s=_GRACE_S, manager=manager)}
    results: dict[str, Change | MngrError] = {}
    for row, outcome in run_many(rows, discard_work, _JOBS):
        agent = msgspec.structs.replace(last[row.agent.id], attach=(), session="")
        done = Change(agent, changed=True, notes=() if isinstance(outcome, MngrError) else outcome)
        results[row.agent.id] = outcome if isinstance(outcome, MngrError) else done
    _forget([row for row in rows if isinstance(results[row.agent.id], Change)], manager)
    for result in results.values():
        if isinstance(result, Change):
            manager.hook("after_destroy", agent=result.agent)
    return [results[row.agent.id] for row in rows]


def discard_work(row: Row) -> tuple[str, ...]:
    """Removes what the agent's transfer made; says what was kept."""
    spec = row.evidence.spec
    if spec is None:
        return ("its record was unreadable: a work dir or branch of it may be left; see mngr gc",)
    sent = Sent(spec.work_dir, spec.branch, spec.base_commit, spec.owns_work_dir, spec.owns_branch)
    return discard(row.host, sent, source_of(spec), spec.transfer)


def source_of(spec: AgentSpec) -> Source | None:
    """The source repository, when it is on this machine and still there."""
    if not spec.source or spec.source_machine != os.uname().nodename or not os.path.isdir(spec.source):
        return None
    try:
        return find_source(spec.source)
    except UsageError:
        return None


def _forget(rows: Sequence[Row], manager: Manager) -> None:
    for host, group in by_host(rows):
        paths = HostPaths(host.dir)
        lines = [drop_name(paths, row.agent.name, row.agent.id) for row in group]
        lines += [f"rm -rf {quote(paths.agent(row.agent.id).dir)} || exit 1" for row in group]
        lines += [ring(paths.bell)]
        host.run(READ_AND_RUN, stdin=encode("\n".join(lines))).check("removing agents")
        ref = HostRef(host.name, host.provider)
        forget_agents(manager, ref, {row.agent.id for row in group})
        if any(row.evidence.spec and row.evidence.spec.owns_host for row in group) and not look_at(
            host, manager
        ):
            manager.provider(host.provider).destroy(host.name)
            forget(manager, ref)


def is_live(agent: Agent) -> bool:
    return agent.state in (AgentState.RUNNING, AgentState.WAITING, AgentState.CREATING)
