"""Targets: from names, ids, addresses and filters to the agents meant."""

from collections.abc import Sequence

from msgspec import Struct

from mngr.actions.filter import Filter
from mngr.actions.list import Listing, look_and_list
from mngr.actions.manager import Manager
from mngr.actions.rows import Row
from mngr.errors import MngrError, NotFoundError, UnreachableError, UsageError, did_you_mean
from mngr.model.address import Address
from mngr.model.agent import Agent
from mngr.model.host import HostState


class Found(Struct, frozen=True):
    """The agents meant, and an error for each target that is none."""

    rows: tuple[Row, ...]
    missing: dict[str, MngrError]
    warnings: tuple[str, ...]

    @property
    def agents(self) -> tuple[Agent, ...]:
        return tuple(row.agent for row in self.rows)


def resolve(
    manager: Manager, names: Sequence[str], *, filter: Filter | None = None, all: bool = False
) -> Found:
    """Agents by name and by filter; names and filters together mean the named ones that pass."""
    wanted = filter or Filter()
    if not names and not all and wanted.is_empty:
        raise UsageError(
            "which agent?", hint="name one or more, or use --all or a filter; mngr list shows them"
        )
    listing, rows = look_and_list(wanted, manager=manager)
    if not names:
        reachable = tuple(rows[agent.id] for agent in listing.agents if agent.id in rows)
        return Found(reachable, {}, listing.warnings)
    chosen: dict[str, Row] = {}
    missing: dict[str, MngrError] = {}
    for name in names:
        try:
            row = _one(name, listing, rows, manager)
            chosen[row.agent.id] = row
        except MngrError as error:
            missing[name] = error
    return Found(tuple(chosen.values()), missing, listing.warnings)


def resolve_one(manager: Manager, agent: Agent | str) -> Row:
    """Exactly one agent, looked at now, or the error that says why not."""
    name = agent if isinstance(agent, str) else agent.id
    found = resolve(manager, [name])
    if found.missing:
        raise found.missing[name]
    return found.rows[0]


def _one(name: str, listing: Listing, rows: dict[str, Row], manager: Manager) -> Row:
    address = manager.address(name)
    if not address.name:
        raise UsageError(f'"{name}" names a host, not an agent', hint="write AGENT@HOST, or use --host")
    matches = [agent for agent in listing.agents if _is_meant(address, agent)]
    if not matches:
        names = [agent.name for agent in listing.agents]
        raise NotFoundError(
            f'no agent "{name}"', hint=did_you_mean(address.name, names, else_hint="see: mngr list")
        )
    if len(matches) > 1:
        candidates = ", ".join(agent.address for agent in matches)
        raise UsageError(f'"{name}" could be any of: {candidates}', hint="write the address, or the id")
    agent = matches[0]
    if agent.id not in rows:
        state = agent.host.state
        hint = (
            f"start it: mngr start --host {agent.host.name}"
            if state == HostState.STOPPED
            else "see: mngr list --hosts"
        )
        raise UnreachableError(f'"{agent.address}": its host is {state.lower()}', hint=hint)
    return rows[agent.id]


def _is_meant(address: Address, agent: Agent) -> bool:
    return (
        address.name in (agent.name, agent.id)
        and (not address.host or address.host == agent.host.name)
        and (not address.provider or address.provider == agent.host.provider)
    )
