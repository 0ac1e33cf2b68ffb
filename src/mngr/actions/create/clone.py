"""`clone`: another agent like this one, with a copy of its files, commits and conversation; it goes on undisturbed."""

from functools import partial

import msgspec

from mngr.actions.agent_source import worked_on
from mngr.actions.create.inherit import (
    StoredCommits,
    copy_conversation,
    fetched_commits,
    inherited_env,
    request_like,
    send_files,
    source_or_blank,
    without_base,
)
from mngr.actions.create.plan import finish_plan
from mngr.actions.create.seed import Seed
from mngr.actions.create.steps import carry_out
from mngr.actions.creation_record import record_of, shown_command, unverified, verified_env, verified_spec
from mngr.actions.destroy import source_of
from mngr.actions.manager import Manager, default_manager
from mngr.actions.rows import Row
from mngr.actions.start import read_run_file
from mngr.actions.targets import resolve_one
from mngr.errors import RefusedError
from mngr.hosts.protocol import shares_files
from mngr.model.address import Address
from mngr.model.agent import Agent, AgentSpec, Change
from mngr.store.paths import HostPaths
from mngr.transfer.fetch import NoRepositoryError, look
from mngr.transfer.host_to_host import copy_tree
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
    place = manager.address(address)
    if not place.host and not place.provider:
        place = msgspec.structs.replace(place, host=row.host.name, provider=row.host.provider)
    elif not place.provider:
        place = msgspec.structs.replace(place, provider=manager.provider_of(place.host))
    spec = verified_spec(row, manager)
    if spec is None:
        name, argv = row.agent.id, shown_command(row.spec.argv)
        raise RefusedError(
            f"{unverified(row)}, and it says that it runs: {argv}",
            hint=f"if you want that: mngr snapshot create {name} S, then mngr create NEW --snapshot S -- {argv}",
        )
    seed = _seed_from_agent(row, spec, place, manager)
    return carry_out(finish_plan(request_like(spec), seed, place, manager), manager)


def _seed_from_agent(row: Row, spec: AgentSpec, place: Address, manager: Manager) -> Seed:
    """What the copy begins with; `spec` is what the agent was created with."""
    is_beside = place.provider in ("", row.host.provider) and place.host == row.host.name
    agent_type = manager.agent_type(spec.type)
    env = inherited_env(read_run_file(row), spec, row.host, agent_type, manager)
    record = None if shares_files(row.host) else record_of(row, manager)
    env = verified_env(record, env, row.host.name) if record else env
    state = HostPaths(row.host.dir).agent(spec.id).dir
    return msgspec.structs.replace(
        _seed_files(row, spec, manager, is_here=is_beside or place.provider == "local"),
        env=env if is_beside else without_base(env),
        base_commit=spec.base_commit,
        copy_conversation=lambda host, new: copy_conversation(agent_type, spec, (row.host, state), new, host),
        home=(row.host.provider, row.host.name) if spec.owns_host else ("", ""),
    )


def _seed_files(row: Row, spec: AgentSpec, manager: Manager, *, is_here: bool) -> Seed:
    """Where the copy's files come from: the same repository, commits fetched from a host, or a tar."""
    if shares_files(row.host) and spec.transfer in ("worktree", "none"):
        found = worked_on(row.host, spec)
        if found and found.common_dir:
            source = msgspec.structs.replace(found, path=spec.source or found.top)
            return Seed(source=source, transfer="worktree" if is_here else "mirror")
    source = source_or_blank(spec)
    try:
        place = checkout_of(row.host, spec.work_dir, spec.transfer, source_of(spec))
        report = look(place, snapshot=True)
    except NoRepositoryError:
        unpack = partial(copy_tree, row.host, spec.work_dir)
        return Seed(source=source, transfer="copy", send_files=partial(send_files, unpack))
    tree = report.snapshot or report.head
    commits = StoredCommits(row.host, spec.work_dir, head=report.head, tree=tree)
    fetch = partial(fetched_commits, commits, source, manager.host_dir)
    return Seed(source=source, transfer="mirror", fetch_commits=fetch)
