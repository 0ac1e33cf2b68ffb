"""`clone`: another agent like this one, with a copy of its files, commits and conversation; it goes on undisturbed."""

import msgspec

from mngr.actions.create.create import carry_out
from mngr.actions.create.plan import plan_from
from mngr.actions.create.request import CreateSpec
from mngr.actions.create.seed import (
    Begun,
    Heritage,
    Stored,
    copy_conversation,
    inherited_env,
    without_base,
)
from mngr.actions.creation_record import record_of, shown_command, unverified, verified_env, verified_spec
from mngr.actions.destroy import source_of
from mngr.actions.manager import Manager, default_manager
from mngr.actions.origin import worked_on
from mngr.actions.rows import Row
from mngr.actions.start import read_run_file
from mngr.actions.targets import resolve_one
from mngr.errors import RefusedError
from mngr.hosts.protocol import Host, shares_files
from mngr.model.address import Address
from mngr.model.agent import Agent, AgentSpec, Change
from mngr.store.paths import HostPaths
from mngr.transfer.fetch import NoRepositoryError, WorkDirReport, look
from mngr.transfer.host_to_host import copy_tree
from mngr.transfer.protocol import WorkSource
from mngr.transfer.view import checkout_of


def clone(agent: Agent | str, address: str = "", *, manager: Manager | None = None) -> Change:
    """Makes a copy of an agent and starts it, or leaves nothing behind; without a host in the address beside it.

    The copy works on a branch of its own that begins where the agent stands, with its uncommitted work. What it runs
    is what was asked for when the agent was created; RefusedError when that is not known here, or its host differs.
    """
    manager = default_manager(manager)
    row = resolve_one(manager, agent)
    if row.evidence.folded.started_at is None:
        raise RefusedError(
            f'"{row.agent.name}" is not there yet: {row.agent.why}', hint="clone it once it has started"
        )
    there = manager.address(address)
    if not there.host and not there.provider:
        there = msgspec.structs.replace(there, host=row.host.name, provider=row.host.provider)
    elif not there.provider:
        there = msgspec.structs.replace(there, provider=manager.provider_of(there.host))
    return carry_out(plan_from(_begin(row, there, manager), there, manager), manager)


def _begin(row: Row, address: Address, manager: Manager) -> Begun:
    spec, is_beside = _program(row, manager), _is_at(address, row.host)
    agent_type = manager.agent_type(spec.type)
    env = inherited_env(read_run_file(row), spec, row.host, agent_type, manager)
    record = None if shares_files(row.host) else record_of(row, manager)
    env = verified_env(record, env, row.host.name) if record else env
    begun = _begin_work(row, spec, is_here=is_beside or address.provider == "local")
    state = HostPaths(row.host.dir).agent(spec.id).dir
    heritage = msgspec.structs.replace(
        begun.heritage,
        base_commit=spec.base_commit,
        converse=lambda host, new: copy_conversation(agent_type, spec, (row.host, state), new, host),
        home=(row.host.provider, row.host.name) if spec.owns_host else ("", ""),
    )
    return msgspec.structs.replace(begun, env=env if is_beside else without_base(env), heritage=heritage)


def _program(row: Row, manager: Manager) -> AgentSpec:
    """What the agent was created with; a host's word alone makes nothing run."""
    spec = verified_spec(row, manager)
    if spec is None:
        name, argv = row.agent.id, shown_command(row.spec.argv)
        raise RefusedError(
            f"{unverified(row)}, and it says that it runs: {argv}",
            hint=f"if you want that: mngr snapshot create {name} S, then mngr create NEW --snapshot S -- {argv}",
        )
    return spec


def like(spec: AgentSpec) -> CreateSpec:
    """What to ask for to get another agent like this one."""
    return CreateSpec(
        type=spec.type,
        args=spec.argv,
        labels=spec.labels,
        project=spec.project,
        windows=spec.windows,
        record=spec.record,
        isolate=spec.isolate,
    )


def _begin_work(row: Row, spec: AgentSpec, *, is_here: bool) -> Begun:
    """Where the copy's files come from: the same repository, commits fetched from a host, or a tar."""
    if shares_files(row.host) and spec.transfer in ("worktree", "none"):
        found = worked_on(row.host, spec)
        if found and found.common_dir:
            source = msgspec.structs.replace(found, path=spec.source or found.top)
            return Begun(like(spec), source, "worktree" if is_here and shares_files(row.host) else "mirror")
    report = _report(row.host, spec)
    if report is None:
        unpack = Heritage(unpack=lambda host, folder: copy_tree(row.host, spec.work_dir, host, folder))
        return Begun(like(spec), home_or_nothing(spec), "copy", heritage=unpack)
    stored = Stored(row.host, spec.work_dir, report.head, report.snapshot or report.head)
    return Begun(like(spec), home_or_nothing(spec), "mirror", heritage=Heritage(stored=stored))


def home_or_nothing(spec: AgentSpec) -> WorkSource:
    """The source repository when it is on this machine, else a source without a place."""
    return source_of(spec) or WorkSource(path="")


def _report(host: Host, spec: AgentSpec) -> WorkDirReport | None:
    try:
        return look(checkout_of(host, spec.work_dir, spec.transfer, source_of(spec)), snapshot=True)
    except NoRepositoryError:
        return None


def _is_at(address: Address, host: Host) -> bool:
    return (address.provider in ("", host.provider)) and address.host == host.name


__all__ = ["clone", "home_or_nothing", "like"]
