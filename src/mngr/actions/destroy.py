"""`destroy`: ends an agent and removes exactly its own things; commits that live nowhere else are kept."""

import os
from collections.abc import Sequence
from functools import partial

import msgspec
from msgspec import Struct

from mngr.actions.claim import drop_names_of, forget_script
from mngr.actions.creation_record import difference, record_of, remove_records, unverified
from mngr.actions.filter import Filter
from mngr.actions.gc.work_dirs import keep_commits
from mngr.actions.host_notes import forget, forget_agents
from mngr.actions.manager import Manager, default_manager
from mngr.actions.many import run_many
from mngr.actions.rows import Row, key_of, look_at
from mngr.actions.start_hosts import LostAgent, start_stopped_hosts
from mngr.actions.stop import by_host, stop_rows
from mngr.actions.targets import resolve_one
from mngr.errors import MngrError, UnreachableError, UsageError
from mngr.hosts.protocol import Host, shares_files
from mngr.model.agent import Agent, AgentSpec, AgentState, Change
from mngr.model.host import HostRef
from mngr.sh.program import READ_AND_RUN, encode
from mngr.store.paths import HostPaths
from mngr.transfer.discard import discard_work_dir, drop_branches, made_branch, unmerged_commits
from mngr.transfer.protocol import Sent, WorkSource
from mngr.transfer.safe_paths import show
from mngr.transfer.source import find_source
from mngr.transfer.view import Checkout
from mngr.transfer.work_dir import remove_work_dir

_GRACE_S = 2.0
_JOBS = 4

_Sources = dict[tuple[str, str], WorkSource | None]
"""Repositories by path and machine: the agents of one need not ask git again and again what it is."""


class _Discarded(Struct, frozen=True):
    """What was kept of an agent's work; its transfer and source where a branch is left to remove."""

    notes: tuple[str, ...]
    sent: Sent | None = None
    source: WorkSource | None = None


def destroy(
    agents: Agent | str | Sequence[Agent | str],
    *,
    discard_unreadable: bool = False,
    manager: Manager | None = None,
) -> list[Change]:
    """Removes agents: processes, session, work dir, branch (unless it has commits of its own), state.

    Commits that cannot be read or pulled keep the agent, unless `discard_unreadable`.
    A stopped host is started for that; one that was made for its last agent goes with it, and so does one that is gone.
    """
    manager = default_manager(manager)
    chosen = [agents] if isinstance(agents, Agent | str) else agents
    rows, gone = list[Row](), list[LostAgent]()
    for agent in chosen:
        try:
            rows.append(resolve_one(manager, agent))
        except UnreachableError:
            key = agent if isinstance(agent, str) else agent.id
            lost = start_stopped_hosts([key], Filter(), manager, is_destroying=True)
            gone += lost
            rows += [] if lost else [resolve_one(manager, agent)]
    done = destroy_rows(rows, discard_unreadable=discard_unreadable, manager=manager)
    results = [*done, *drop_lost(gone, manager=manager)]
    failed = [result for result in results if isinstance(result, MngrError)]
    if failed:
        raise failed[0]
    return [result for result in results if isinstance(result, Change)]


def drop_lost(lost: Sequence[LostAgent], *, manager: Manager) -> list[Change]:
    """Forgets agents that went with their hosts, or can go with them as they are, and those hosts."""
    agents = [each.agent for each in lost]
    for ref in dict.fromkeys(agent.host for agent in agents):
        manager.provider(ref.provider).destroy(ref.name)
        forget(manager, ref)
        remove_records(manager, ref, [agent.id for agent in agents if agent.host == ref])
    return [Change(each.agent, changed=True, notes=(each.note,)) for each in lost]


def is_settled(row: Row, manager: Manager) -> bool:
    """Whether an agent on another host has no commit that is only there; False where that cannot be known."""
    record, spec_there = record_of(row, manager), row.evidence.spec
    if record is None or spec_there is None or difference(record.spec, spec_there, row.host.name):
        return False
    spec = record.spec
    if spec.transfer == "none" or not spec.owns_work_dir:
        return True
    sent = Sent(spec.work_dir, spec.branch, spec.base_commit, spec.owns_work_dir, spec.owns_branch)
    try:
        return unmerged_commits(Checkout(row.host, spec.work_dir), sent, source_of(spec)) == 0
    except MngrError:
        return False


def destroy_rows(
    rows: Sequence[Row], *, discard_unreadable: bool = False, manager: Manager
) -> list[Change | MngrError]:
    """The same for agents already looked at, each with its own result. One whose work cannot be removed stays."""
    last = {
        key_of(change.agent): change.agent for change in stop_rows(rows, grace_s=_GRACE_S, manager=manager)
    }
    sources: _Sources = {}
    discarding = partial(
        _discard_work, manager=manager, sources=sources, discard_unreadable=discard_unreadable
    )
    results: dict[tuple[str, ...], Change | MngrError] = {}
    for row, outcome in _drop_branches(list(run_many(rows, discarding, _JOBS))):
        agent = msgspec.structs.replace(last[key_of(row.agent)], attach=(), session="")
        done = Change(agent, changed=True, notes=() if isinstance(outcome, MngrError) else outcome)
        results[key_of(row.agent)] = outcome if isinstance(outcome, MngrError) else done
    _forget([row for row in rows if isinstance(results[key_of(row.agent)], Change)], manager)
    for result in results.values():
        if isinstance(result, Change):
            manager.hook("after_destroy", agent=result.agent)
    return [results[key_of(row.agent)] for row in rows]


def _discard_work(
    row: Row, manager: Manager, sources: "_Sources", *, discard_unreadable: bool = False
) -> _Discarded:
    """Removes what the agent's transfer made, but for a branch in the source; says what was kept.

    For an agent on another host this machine's repository is touched only where its host says what it was created with.
    """
    spec, left_alone = row.evidence.spec, ""
    if not shares_files(row.host):
        record = record_of(row, manager)
        if record is None:
            left_alone = unverified(row)
        elif spec is None:
            left_alone = f"{row.host.name} has no readable record of it: {record.spec.source} was left alone"
        elif why := difference(record.spec, spec, row.host.name):
            left_alone = f"{why}: {record.spec.source} was left alone"
        spec = record.spec if record else spec
    if spec is None:
        return _Discarded((f"{row.agent.why}: a work dir or branch of it may be left; see mngr gc",))
    sent = Sent(spec.work_dir, spec.branch, spec.base_commit, spec.owns_work_dir, spec.owns_branch)
    if left_alone:
        return _Discarded((left_alone, *_discard_there(row.host, sent)))
    key = (spec.source, spec.source_machine)
    if key not in sources:
        sources[key] = source_of(spec)
    source = sources[key]
    notes = discard_work_dir(row.host, sent, source, spec.transfer, discard_unreadable=discard_unreadable)
    if source and made_branch(row.host, sent, source, spec.transfer):
        return _Discarded(notes, sent, source)
    return _Discarded(notes)


def _drop_branches(
    discarded: Sequence[tuple[Row, _Discarded | MngrError]],
) -> list[tuple[Row, tuple[str, ...] | MngrError]]:
    """Removes the branches that are left, all of one repository at once; each row with its notes or its error."""
    groups: dict[str, list[tuple[Row, _Discarded]]] = {}
    results: list[tuple[Row, tuple[str, ...] | MngrError]] = []
    for row, outcome in discarded:
        if isinstance(outcome, _Discarded) and outcome.source:
            groups.setdefault(outcome.source.common_dir, []).append((row, outcome))
        else:
            results.append((row, outcome if isinstance(outcome, MngrError) else outcome.notes))
    for group in groups.values():
        source = group[0][1].source
        assert source
        try:
            kept = drop_branches([one.sent for _, one in group if one.sent], source)
        except MngrError as error:
            results += [(row, error) for row, _ in group]
        else:
            results += [(row, one.notes + notes) for (row, one), notes in zip(group, kept, strict=True)]
    return results


def _discard_there(host: Host, sent: Sent) -> tuple[str, ...]:
    """Removes a work dir of another host and nothing here; commits that it added are kept in that host's store."""
    if not sent.owns_work_dir:
        return ()
    try:
        kept = (
            keep_commits(host, sent.work_dir)
            if unmerged_commits(Checkout(host, sent.work_dir), sent, None)
            else ()
        )
    except UnreachableError:
        raise
    except MngrError as error:
        kept = (f"its commits could not be kept: {show(error.message)}",)
    return kept + remove_work_dir(host, sent.work_dir)


def source_of(spec: AgentSpec) -> WorkSource | None:
    """The source repository, when it is on this machine and still there."""
    if not spec.source or spec.source_machine != os.uname().nodename or not os.path.isdir(spec.source):
        return None
    try:
        return find_source(spec.source)
    except UsageError:
        return None


def _forget(rows: Sequence[Row], manager: Manager) -> None:
    for host, group in by_host(rows):
        paths, names = HostPaths(host.dir), {row.agent.id: row.agent.name for row in group}
        nameless = [drop_names_of(paths, row.agent.id) for row in group if row.evidence.spec is None]
        script = "\n".join((*nameless, forget_script(paths, names)))
        done = host.run(READ_AND_RUN, stdin=encode(script), timeout_s=600).check("removing agents")
        if done.stdout:
            manager.warn(f"could not be removed whole, mngr gc tries again: {done.complaint}")
        ref = HostRef(host.name, host.provider)
        # Whether it was made for one of them: by what was asked for here, or else by what the host says.
        records = [None if shares_files(host) else record_of(row, manager) for row in group]
        specs = [
            record.spec if record else row.evidence.spec for record, row in zip(records, group, strict=True)
        ]
        is_owned = any(spec and spec.owns_host for spec in specs)
        forget_agents(manager, ref, {row.agent.id for row in group})
        remove_records(manager, ref, [row.agent.id for row in group])
        if is_owned and not look_at(host, manager):
            manager.provider(host.provider).destroy(host.name)
            forget(manager, ref)


def is_live(agent: Agent) -> bool:
    return agent.state in (AgentState.RUNNING, AgentState.WAITING, AgentState.CREATING)
