"""`usage`: tokens and what they cost, by the agents' own records, read only on request."""

import time
from collections.abc import Callable, Iterator, Sequence
from datetime import datetime
from functools import partial

from msgspec import Struct

from mngr.actions.filter import Filter
from mngr.actions.manager import Manager, default_manager
from mngr.actions.rows import Row
from mngr.actions.stop import by_host
from mngr.actions.targets import Target, resolve
from mngr.agents.prices import Prices, shipped_on, total, with_own
from mngr.agents.protocol import Metered
from mngr.errors import MngrError, UsageError, did_you_mean
from mngr.hosts.protocol import Host
from mngr.model.agent import SCHEMA, Agent
from mngr.model.message import Usage
from mngr.sh.program import READ_AND_RUN, encode
from mngr_lib.threads import run_all

WAYS = ("agent", "project", "day", "model", "host", "label", "label:KEY")
NONE = "(none)"
_MARK = b"mngr-usage-of "
_DEADLINE_S = 120


class Spent(Struct, frozen=True):
    """What one group used. `cost_usd` covers the models whose price is known; `unpriced` names the others."""

    group: str
    agents: int = 0
    turns: int = 0
    input_tokens: int = 0
    output_tokens: int = 0
    cache_read_tokens: int = 0
    cache_write_tokens: int = 0
    cost_usd: float | None = None
    models: tuple[str, ...] = ()
    unpriced: tuple[str, ...] = ()


class UsageReport(Struct, frozen=True):
    """Groups, the most expensive first (days by date), and their sum."""

    schema: int
    by: str
    usage: tuple[Spent, ...]
    total: Spent
    prices_as_of: str
    warnings: tuple[str, ...] = ()


class _Entry(Struct, frozen=True):
    """One answer of a model, and whose it is; a type without such records has one entry for all of them."""

    agent: Agent
    at: float
    usage: Usage

    def groups(self, by: str) -> Sequence[str]:
        """The groups it belongs to; with several labels it is in several."""
        agent = self.agent
        if by.startswith("label:"):
            return (agent.labels.get(by.removeprefix("label:"), NONE),)
        if by == "label":
            return [f"{key}={value}" for key, value in agent.labels.items()] or (NONE,)
        name = {
            "agent": agent.address,
            "project": agent.project,
            "day": datetime.fromtimestamp(self.at).date().isoformat(),
            "model": self.usage.model,
            "host": agent.host.name,
        }[by]
        return (name or NONE,)


def usage(
    agents: Target | Sequence[Agent | str] = (),
    *,
    by: str = "agent",
    since: float = 0.0,
    filter: Filter | None = None,
    manager: Manager | None = None,
) -> UsageReport:
    """Tokens and cost of these agents, or of all, since a moment (seconds since the epoch).

    Grouped by agent, project, day, model, host, label, or the values of one label with `label:KEY`.
    """
    manager = default_manager(manager)
    check_way(by)
    if isinstance(agents, Row):
        return usage_of_rows([agents], by, since, manager)
    chosen = [agents] if isinstance(agents, Agent | str) else agents
    names = [agent if isinstance(agent, str) else agent.id for agent in chosen]
    found = resolve(manager, names, filter=filter, all=not names)
    for error in found.missing.values():
        raise error
    return usage_of_rows(found.rows, by, since, manager, warnings=found.warnings)


def usage_of_rows(
    rows: Sequence[Row], by: str, since: float, manager: Manager, *, warnings: Sequence[str] = ()
) -> UsageReport:
    """The same for agents that were looked at: one process on each host."""
    prices = with_own(manager.config.section("prices"))
    problems = list(warnings)
    entries: list[_Entry] = []
    jobs: list[Callable[[], list[_Entry | MngrError] | MngrError]] = [
        partial(_entries, host, group, prices, manager) for host, group in by_host(rows)
    ]
    for outcome in run_all(jobs):
        if isinstance(outcome, MngrError):
            problems.append(outcome.message)
        else:
            problems += [each.message for each in outcome if isinstance(each, MngrError)]
            entries += [each for each in outcome if isinstance(each, _Entry) and each.at >= since]
    groups: dict[str, list[_Entry]] = {}
    for entry in entries:
        for name in entry.groups(by):
            groups.setdefault(name, []).append(entry)
    spent = sorted((_sum(name, group) for name, group in groups.items()), key=lambda one: one.group)
    if by != "day":
        spent.sort(key=lambda one: (-(one.cost_usd or 0), -(one.input_tokens + one.output_tokens)))
    return UsageReport(SCHEMA, by, tuple(spent), _sum("total", entries), shipped_on(), tuple(problems))


def check_way(by: str) -> str:
    """A way to group, or a usage error."""
    if by in WAYS[:-1] or (by.startswith("label:") and len(by) > 6):
        return by
    raise UsageError(f'usage cannot be grouped by "{by}"', hint=did_you_mean(by, WAYS))


def _entries(
    host: Host, rows: Sequence[Row], prices: Prices, manager: Manager
) -> list[_Entry | MngrError] | MngrError:
    """What the agents of a host used; an error in the place of one whose records cannot be read."""
    metered, found = list[Row](), list[_Entry | MngrError]()
    for row in rows:
        try:
            agent_type = manager.agent_type(row.spec.type)
            if isinstance(agent_type, Metered):
                metered.append(row)
            elif row.spec.type != "command" and (used := agent_type.usage(row.spec, host)) != Usage():
                found.append(_Entry(row.agent, row.evidence.folded.last_at or time.time(), used))
        except MngrError as error:
            found.append(error)
    try:
        return [*found, *_read_metered(host, metered, prices, manager)]
    except MngrError as error:
        return error


def _read_metered(host: Host, rows: Sequence[Row], prices: Prices, manager: Manager) -> Iterator[_Entry]:
    if not rows:
        return
    script = ""
    for row in rows:
        agent_type = manager.agent_type(row.spec.type)
        assert isinstance(agent_type, Metered)
        lines = agent_type.usage_script(row.spec, host.dir)
        script += f"\necho; echo '{_MARK.decode()}{row.agent.id}'\n(\n{lines}\n) </dev/null"
    output = host.run(READ_AND_RUN, stdin=encode(script), timeout_s=_DEADLINE_S).stdout
    by_id = {row.agent.id: row for row in rows}
    for part in output.split(b"\n" + _MARK)[1:]:
        agent_id, _, records = part.partition(b"\n")
        found = by_id.get(agent_id.decode(errors="replace"))
        if found is None:
            continue
        agent_type = manager.agent_type(found.spec.type)
        assert isinstance(agent_type, Metered)
        for spending in agent_type.read_usage(records):
            yield _Entry(found.agent, spending.at, total([spending], prices))


def _sum(name: str, entries: Sequence[_Entry]) -> Spent:
    used = [entry.usage for entry in entries]
    costs = [one.cost_usd for one in used if one.cost_usd is not None]
    models = {one.model for one in used if one.model}
    return Spent(
        group=name,
        agents=len({entry.agent.id for entry in entries}),
        turns=len(entries),
        input_tokens=sum(one.input_tokens for one in used),
        output_tokens=sum(one.output_tokens for one in used),
        cache_read_tokens=sum(one.cache_read_tokens for one in used),
        cache_write_tokens=sum(one.cache_write_tokens for one in used),
        cost_usd=sum(costs) if costs else None,
        models=tuple(sorted(models)),
        unpriced=tuple(sorted({one.model for one in used if one.model and one.cost_usd is None})),
    )
