"""Hosts among the targets of a verb: each is acted on with all its agents."""

from collections.abc import Callable, Iterable, Iterator, Sequence

import msgspec

from mngr.cli.options import Chosen
from mngr.cli.outcome import TargetOutcome
from mngr.cli.stdin import Item
from mngr.cli.targets import outcome_of
from mngr.errors import MngrError
from mngr.model.address import is_host
from mngr.model.agent import Change


def with_hosts(
    chosen: Chosen,
    act_on_host: Callable[[str], Sequence[Change | MngrError]],
    act_on_agents: Callable[[Chosen], Iterable[TargetOutcome]],
) -> Iterator[TargetOutcome]:
    """First the agents that were named or filtered, then the hosts, each with what became of its agents."""
    hosts = [name for name in chosen.names if is_host(name)]
    others = tuple(name for name in chosen.names if not is_host(name))
    if others or not hosts:
        yield from act_on_agents(msgspec.structs.replace(chosen, names=others))
    for host in hosts:
        try:
            results = act_on_host(host)
        except MngrError as error:
            yield TargetOutcome(Item(host), error=error)
            continue
        for result in results:
            yield outcome_of(Item(host), result)
