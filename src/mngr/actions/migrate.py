"""`migrate`: moves an agent to another host, with its files, commits, outbox and conversation."""

import msgspec

from mngr.actions.create.clone import clone
from mngr.actions.create.steps import AgentDiedError
from mngr.actions.destroy import destroy, destroy_rows, is_live
from mngr.actions.manager import Manager, default_manager
from mngr.actions.rows import Row
from mngr.actions.start import start
from mngr.actions.stop import stop_rows
from mngr.actions.targets import resolve_one
from mngr.errors import MngrError, RefusedError, UsageError
from mngr.model.address import Address
from mngr.model.agent import Agent, Change
from mngr.store.paths import HostPaths
from mngr.transfer.host_to_host import copy_tree


def migrate(agent: Agent | str, target: str, *, manager: Manager | None = None) -> Change:
    """Moves an agent to another host, where it is started under its own name or the one in the address.

    It is stopped first, so that nothing it does is lost. On failure it is where it was, started again if it ran.
    """
    manager = default_manager(manager)
    there = destination(target, manager)
    row = resolve_one(manager, agent)
    if (there.provider, there.host) == (row.host.provider, row.host.name):
        raise RefusedError(
            f'"{row.agent.name}" is on {there.host} already',
            hint="another name: mngr rename; a copy: mngr clone",
        )
    was_live = is_live(row.agent)
    stop_rows([row], manager=manager)
    try:
        moved = _move(row, there, manager)
    except BaseException:
        if was_live:
            start(row.agent.id, manager=manager)
        raise
    try:
        (gone,) = destroy_rows([row], manager=manager)
    except MngrError as error:
        gone = error
    left: tuple[str, ...] = ()
    if isinstance(gone, Change):
        left = gone.notes
    else:  # it stays there, stopped
        left = (f"the old one could not be removed: {gone.message}; later: mngr destroy {row.agent.id}",)
    return msgspec.structs.replace(moved, notes=(*moved.notes, *left))


def destination(target: str, manager: Manager) -> Address:
    """Where to: an address that names a host or a provider."""
    there = manager.address(target)
    if not there.host and not there.provider:
        raise UsageError(
            f'"{target}" names no host',
            hint=f"mngr migrate AGENT @HOST, or a new one: @.docker; here: {target}@local",
        )
    return (
        there if there.provider else msgspec.structs.replace(there, provider=manager.provider_of(there.host))
    )


def _move(row: Row, there: Address, manager: Manager) -> Change:
    where = f"{there.name or row.agent.name}@{there.host}.{there.provider}"
    try:
        moved = clone(row.agent, where + (f":{there.path}" if there.path else ""), manager=manager)
    except AgentDiedError as died:
        destroy(died.change.agent, manager=manager)
        raise
    host = manager.open_host(moved.agent.host.name, moved.agent.host.provider)
    before, now = HostPaths(row.host.dir).agent(row.agent.id), HostPaths(host.dir).agent(moved.agent.id)
    try:
        copy_tree(row.host, before.outbox, host, now.outbox)
    except BaseException:
        destroy(moved.agent, manager=manager)
        raise
    return moved
