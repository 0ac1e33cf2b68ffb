"""Targets: from names, ids, addresses and filters to the agents meant."""

from collections.abc import Callable, Sequence

import msgspec
from msgspec import Struct

from mngr.actions.filter import Filter
from mngr.actions.list import Listing, look_and_list
from mngr.actions.manager import Manager, default_manager
from mngr.actions.rows import Row, key_of
from mngr.errors import MngrError, NotFoundError, UnreachableError, UsageError, did_you_mean
from mngr.model.address import Address
from mngr.model.agent import Agent
from mngr.model.host import HostState

Target = Agent | Row | str


class FoundAgents(Struct, frozen=True):
    """The agents meant, and an error for each target that is none."""

    rows: tuple[Row, ...]
    missing: dict[str, MngrError]
    warnings: tuple[str, ...]

    @property
    def agents(self) -> tuple[Agent, ...]:
        return tuple(row.agent for row in self.rows)


def resolve(
    manager: Manager, names: Sequence[str], *, filter: Filter | None = None, all: bool = False
) -> FoundAgents:
    """Agents by name and by filter; names and filters together mean the named ones that pass."""
    given = filter or Filter()
    if not names and not all and given.is_empty:
        raise UsageError(
            "which agent?", hint="name one or more, or use --all or a filter; mngr list shows them"
        )
    try:
        is_named = any_of(names, manager)
    except UsageError:
        is_named = None  # reported for each name, below
    narrowed = _narrowed(given, names, manager)
    is_narrow = bool(names) and is_named is not None
    listing, rows = look_and_list(narrowed, is_meant=is_named, is_narrow=is_narrow, manager=manager)
    if is_narrow:
        addresses = [manager.address(name) for name in names]
        if any(not any(is_meant(address, agent) for agent in listing.agents) for address in addresses):
            listing, rows = look_and_list(narrowed, is_meant=is_named, manager=manager)
    if not names:
        reachable = tuple(rows[key_of(agent)] for agent in listing.agents if key_of(agent) in rows)
        return FoundAgents(reachable, {}, listing.warnings)
    chosen: dict[tuple[str, ...], Row] = {}
    missing: dict[str, MngrError] = {}
    for name in names:
        try:
            meant = _meant(name, listing, rows, manager)
            chosen.update({key_of(row.agent): row for row in meant})
        except MngrError as error:
            missing[name] = error
    return FoundAgents(tuple(chosen.values()), missing, listing.warnings)


def agent_of_directory(manager: Manager) -> Agent:
    """The agent whose work dir we are in, else the only one made from here, else the only one there is."""
    agents = look_and_list(manager=manager)[0].agents
    here = manager.cwd.rstrip("/") + "/"
    # A work dir on another host is no directory of this machine, whatever its path.
    inside = [
        agent
        for agent in agents
        if agent.host.provider == "local"
        and agent.work_dir
        and here.startswith(agent.work_dir.rstrip("/") + "/")
    ]
    if inside:
        deepest = max(len(agent.work_dir) for agent in inside)
        inside = [agent for agent in inside if len(agent.work_dir) == deepest]
    made_here = [
        agent for agent in agents if agent.source and here.startswith(agent.source.rstrip("/") + "/")
    ]
    for candidates in (inside, made_here, agents):
        if len(candidates) == 1:
            return candidates[0]
    if not agents:
        raise NotFoundError("there is no agent", hint="make one: mngr create NAME -- PROGRAM")
    names = ", ".join(agent.address for agent in inside or made_here or agents)
    raise UsageError(f"which agent? It could be any of: {names}", hint="name it")


def find(agent: Agent | str, *, manager: Manager | None = None) -> Row:
    """One agent, looked at now. Verbs that only read or pull take it in its place, and do not look again."""
    return resolve_one(default_manager(manager), agent)


def resolve_one(manager: Manager, agent: Target) -> Row:
    """Exactly one agent, looked at now unless it was before, or the error that says why not."""
    if isinstance(agent, Row):
        return agent
    if isinstance(agent, str):
        name, given = agent, Filter()
    else:
        name, given = agent.id, Filter(provider=agent.host.provider, host=agent.host.name)
    found = resolve(manager, [name], filter=given)
    if found.missing:
        raise found.missing[name]
    if len(found.rows) != 1:
        raise UsageError(f'"{name}" names a host, not an agent', hint="write AGENT@HOST")
    return found.rows[0]


def _narrowed(given: Filter, names: Sequence[str], manager: Manager) -> Filter:
    """The filter, with the host and provider that all the names say: no other host need be asked."""
    try:
        places = {(address.provider, address.host) for address in map(manager.address, names)}
    except UsageError:
        return given  # reported for each name by `resolve`
    if len(places) != 1 or given.provider or given.host:
        return given
    provider, host = places.pop()
    return msgspec.structs.replace(given, provider=provider, host=host)


def _meant(name: str, listing: Listing, rows: dict[tuple[str, ...], Row], manager: Manager) -> list[Row]:
    """The one agent of that name, or all agents of a host that is named alone."""
    address = manager.address(name)
    matches = [agent for agent in listing.agents if is_meant(address, agent)]
    if not address.name:
        return [_reachable(agent, rows) for agent in matches]
    if not matches:
        names = [agent.name for agent in listing.agents]
        raise NotFoundError(
            f'no agent "{name}"', hint=did_you_mean(address.name, names, else_hint="see: mngr list")
        )
    if len(matches) > 1:
        candidates = ", ".join(agent.address for agent in matches)
        raise UsageError(f'"{name}" could be any of: {candidates}', hint="write the address, or the id")
    return [_reachable(matches[0], rows)]


def _reachable(agent: Agent, rows: dict[tuple[str, ...], Row]) -> Row:
    if key_of(agent) in rows:
        return rows[key_of(agent)]
    state = agent.host.state
    hint = f"start it: mngr start {agent.name}" if state == HostState.STOPPED else "see: mngr list --hosts"
    raise UnreachableError(f'"{agent.address}": its host is {state.lower()}', hint=hint)


def any_of(names: Sequence[str], manager: Manager) -> Callable[[Agent], bool]:
    """Whether an agent is one of the named, or any where none is."""
    addresses = [manager.address(name) for name in names]
    return lambda agent: not addresses or any(is_meant(address, agent) for address in addresses)


def is_meant(address: Address, agent: Agent) -> bool:
    """Whether an address names the agent; one without a name means all agents of its host."""
    return (
        address.name in (agent.name, agent.id, "")
        and (not address.host or address.host == agent.host.name)
        and (not address.provider or address.provider == agent.host.provider)
    )
