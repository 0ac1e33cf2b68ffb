"""`list`: every agent on every host, with what is known of each."""

from collections.abc import Callable, Sequence

from msgspec import Struct

from mngr.actions.filter import Filter
from mngr.actions.manager import Manager, default_manager
from mngr.actions.rows import LIST_S, Look, Row, key_of, look_here
from mngr.model.agent import SCHEMA, Agent
from mngr.model.host import HostRef, HostState

# So many silent hosts of a provider are warned of one by one.
_FEW = 3


class Listing(Struct, frozen=True):
    """What `list --json` prints."""

    schema: int
    agents: tuple[Agent, ...]
    hosts: tuple[HostRef, ...]
    warnings: tuple[str, ...]


def list_agents(filter: Filter | None = None, *, manager: Manager | None = None) -> Listing:
    """All agents that pass the filter, oldest first. A host that does not answer is a warning, not an error."""
    return look_and_list(filter, manager=manager)[0]


def look_and_list(
    filter: Filter | None = None,
    *,
    is_meant: Callable[[Agent], bool] | None = None,
    is_narrow: bool = False,
    manager: Manager | None = None,
) -> tuple[Listing, dict[tuple[str, ...], Row]]:
    """The listing, and by `key_of` the rows behind it: evidence to explain, hosts to act on.

    A silent host with an agent that `is_meant` is asked again, for longer than a list waits. A narrow listing leaves
    out hosts that are not known to have such an agent, where there are many.
    """
    manager, given = default_manager(manager), (filter or Filter()).check()
    only = is_meant if is_narrow else None
    looks = look_everywhere(manager, provider=given.provider, host=given.host, only=only)
    if is_meant and any(look.ref.state == HostState.UNREACHABLE for look in looks):
        from mngr.actions.remote_listing import look_longer  # most people have only this machine

        looks = look_longer(looks, is_meant, manager)
    rows = {key_of(row.agent): row for look in looks for row in look.rows}
    agents = [row.agent for row in rows.values()] + [agent for look in looks for agent in look.known]
    chosen = sorted(filter_agents(agents, given), key=lambda agent: (agent.created_at or "", agent.name))
    warnings = (*manager.warnings, *look_warnings(looks))
    return Listing(SCHEMA, tuple(chosen), tuple(look.ref for look in looks), warnings), rows


def look_everywhere(
    manager: Manager,
    *,
    provider: str = "",
    host: str = "",
    deadline_s: float = LIST_S,
    only: Callable[[Agent], bool] | None = None,
) -> tuple[Look, ...]:
    """Every host at once, each with its own deadline; one that is gone costs a warning.

    Of many hosts, only those are looked at that are known to have an agent that `only` is true of.
    """
    names = (provider,) if provider else manager.used_providers()
    if names == ("local",):
        return () if host not in ("", "local") else (look_here(manager),)
    from mngr.actions.remote_listing import look_at_all  # loads much that a list of this machine needs not

    return look_at_all(manager, names, host, is_asked_for=bool(provider), deadline_s=deadline_s, only=only)


def look_warnings(looks: Sequence[Look]) -> list[str]:
    """What went wrong at each host; of many hosts of one provider, how many they were and some of their names."""
    silent: dict[str, list[Look]] = {}
    for look in looks:
        if look.warning:
            silent.setdefault(look.ref.provider, []).append(look)
    lines = []
    for provider, found in silent.items():
        if len(found) <= _FEW:
            lines += [look.warning for look in found]
            continue
        total = sum(look.ref.provider == provider for look in looks)
        names = ", ".join(look.ref.name for look in found[:_FEW])
        lines.append(
            f"{len(found)} of {total} hosts of {provider} did not answer: {names} and {len(found) - _FEW} more; "
            f"the first said: {found[0].warning}"
        )
    return lines


def filter_agents(agents: list[Agent], chosen_by: Filter) -> list[Agent]:
    return [agent for agent in agents if chosen_by.matches(agent)]
