"""`mngr list`."""

import sys
from collections.abc import Iterator, Sequence

import click
import msgspec
from msgspec import Struct

from mngr.actions.filter import Filter, as_text, check_field, field_value
from mngr.actions.list import Listing, look_and_list
from mngr.cli.call import Call
from mngr.cli.options import with_filters
from mngr.cli.render import JSON, CommandOutput, put, put_styled
from mngr.cli.table import agents_table, align
from mngr.cli.terminal_text import columns, wants_colour
from mngr.cli.verb import verb
from mngr.errors import ExitCode, NotFoundError, UnreachableError, did_you_mean
from mngr.model.agent import Agent, AgentState
from mngr.model.host import HostRef, HostState
from mngr_lib.safe_text import one_line

# Which run of a pipeline an agent was made for.
RUN_LABEL = "tmr.run"


class ListView(Struct, frozen=True):
    """Which rows of a listing are shown, in which order, and how much of each."""

    sort: tuple[str, ...] = ()
    fields: tuple[str, ...] = ()
    limit: int = 0

    @classmethod
    def of(cls, sort: Sequence[str], fields: str, limit: int | None) -> "ListView":
        """Reads the options; a field that agents do not have is a usage error."""
        keys = tuple(key for word in sort for key in word.split(",") if key)
        for key in keys:
            check_field(key.removeprefix("-"))
        names = tuple(check_field(name.strip()) for name in fields.split(",") if name.strip())
        return cls(keys, names, limit or 0)

    def agents(self, listing: Listing) -> tuple[Agent, ...]:
        agents = list(listing.agents)
        for key in reversed(self.sort):
            field = key.removeprefix("-")

            def place(agent: Agent, field: str = field) -> tuple[int, float, str]:
                value = field_value(agent, field)
                if isinstance(value, int | float):
                    return (0, float(value), "")
                return (1, 0.0, "" if value is None else value if isinstance(value, str) else str(value))

            agents.sort(key=place, reverse=key.startswith("-"))
        return tuple(agents[: self.limit or None])

    def table(self, agents: Sequence[Agent]) -> str:
        if not self.fields:
            return agents_table(agents, colour=wants_colour(sys.stdout), cells=columns())
        rows = [[as_text(value) for _, value in _fields(agent, self)] for agent in agents]
        return align([[name.upper() for name in self.fields], *rows], columns())


@verb(
    "list",
    examples="""
        mngr list
        mngr list --running --label task=docs
        mngr list --where 'state=WAITING' --where 'name~test-*'
        mngr list --json | jq '.agents[].name'
        mngr list --format '{name}\\t{state}\\t{host.provider}'
        mngr list --watch
    """,
)
@click.argument("names", nargs=-1, metavar="[AGENT]...")
@with_filters
@click.option(
    "--sort", multiple=True, metavar="FIELD", help="Order by a field; -FIELD for the reverse; repeatable."
)
@click.option("--fields", metavar="FIELD,...", default="", help="Show these fields of each.")
@click.option("--ids", is_flag=True, help="Only their ids, one on a line.")
@click.option("--limit", type=click.IntRange(1), default=None, metavar="N", help="At most N of them.")
@click.option("--watch", is_flag=True, help="Stay, show changes as they come, and mark who needs you.")
@click.option("--explain", "wants_evidence", is_flag=True, help="The evidence for each state, and its age.")
@click.option("--hosts", "wants_hosts", is_flag=True, help="Hosts instead of agents.")
@click.option("--schema", "wants_schema", is_flag=True, help="The fields of a record and what they hold.")
@click.option("--strict", is_flag=True, help="Fail (5) when a host does not answer.")
def command(
    call: Call,
    *,
    names: tuple[str, ...],
    filter: Filter,
    sort: tuple[str, ...],
    fields: str,
    ids: bool,
    limit: int | None,
    watch: bool,
    wants_evidence: bool,
    wants_hosts: bool,
    wants_schema: bool,
    strict: bool,
) -> int:
    """Show agents and what each is doing.

    Agents that a run of mngr tmr has finished with come last; on a terminal they are one line for each run. A host that
    does not answer is a row and a warning, not a failure, unless --strict.
    """
    if wants_schema:
        from mngr.cli.schema import print_schema

        return print_schema(call)
    if ids:
        call.output = CommandOutput("{id}", quiet=call.output.quiet, verbose=call.output.verbose)
    shape = ListView.of(sort, fields, limit)
    call.output.check(HostRef if wants_hosts else Agent)
    if watch:
        from mngr.cli.live_list import watch_agents

        return watch_agents(call, filter.check(), lambda listing: shape.agents(_named(listing, names)[0]))
    listing, rows = look_and_list(filter, manager=call.manager)
    listing, missing = _named(listing, names)
    if wants_hosts:
        _show_hosts(call, listing)
    elif wants_evidence:
        from mngr.cli.evidence import show_evidence

        show_evidence(call, shape.agents(listing), rows)
    else:
        _show(call, listing, shape, filter, named=bool(names))
    if call.output.format != JSON:
        call.warn(*listing.warnings)
    if strict:
        silent = [host.name for host in listing.hosts if host.state == HostState.UNREACHABLE]
        if silent:
            raise UnreachableError(
                f"no answer from: {', '.join(silent)}",
                hint="mngr list --hosts; without --strict it is a warning",
            )
    if missing:
        raise missing
    return ExitCode.DONE


def _named(listing: Listing, names: tuple[str, ...]) -> tuple[Listing, NotFoundError | None]:
    """Only the agents of these names, and an error for names that no agent has."""
    if not names:
        return listing, None
    agents = tuple(one for one in listing.agents if {one.name, one.id, one.address} & set(names))
    known = {word for one in agents for word in (one.name, one.id, one.address)}
    unknown = next((name for name in names if name not in known), None)
    missing = None
    if unknown is not None:
        near = did_you_mean(unknown, [one.name for one in listing.agents], else_hint="see: mngr list")
        missing = NotFoundError(f'no agent "{unknown}"', hint=near)
    return msgspec.structs.replace(listing, agents=agents), missing


def _show(call: Call, listing: Listing, shape: ListView, filter: Filter, *, named: bool) -> None:
    agents, output = shape.agents(listing), call.output
    if output.is_human:
        folded: list[str] = []
        if filter.is_empty and not named and not shape.sort:
            agents, folded = _runs_last(agents, folds=sys.stdout.isatty())
        if agents:
            put_styled(shape.table(agents))
        elif not folded and not named:
            silent = sum(host.state == HostState.UNREACHABLE for host in listing.hosts)
            if silent:
                hosts = "1 host" if silent == 1 else f"{silent} hosts"
                output.note(f"No agent was seen, but {hosts} did not answer. See: mngr list --hosts")
            elif filter.is_empty:
                output.note("No agents yet. Make one: mngr create NAME -- PROGRAM ARGS   (mngr help create)")
            else:
                output.note("No agent matches. All of them: mngr list")
        for line in folded:
            put(line)
    elif output.format == JSON and not shape.fields:
        output.document(msgspec.structs.replace(listing, agents=agents))
    elif output.format == JSON:
        chosen = [dict(_fields(agent, shape)) for agent in agents]
        plain = msgspec.to_builtins(msgspec.structs.replace(listing, agents=()))
        output.document({**plain, "agents": chosen})
    else:
        for agent in agents:
            output.line(dict(_fields(agent, shape)) if shape.fields and not output.is_template else agent)


def _runs_last(agents: Sequence[Agent], *, folds: bool) -> tuple[tuple[Agent, ...], list[str]]:
    """The agents with those that a run has finished with at the end, or folded into a line for each run."""
    finished: dict[str, list[Agent]] = {}
    for agent in agents:
        if agent.state in (AgentState.DONE, AgentState.STOPPED) and RUN_LABEL in agent.labels:
            finished.setdefault(agent.labels[RUN_LABEL], []).append(agent)
    folded = {run: found for run, found in finished.items() if folds and len(found) > 1}
    last = [agent for found in finished.values() for agent in found]
    others = [agent for agent in agents if agent not in last]
    shown = [agent for run, found in finished.items() if run not in folded for agent in found]
    lines = list[str]()
    if folded:
        import shlex  # every list would pay for it

        for run, found in folded.items():
            label = one_line(shlex.quote(f"{RUN_LABEL}={run}"))
            lines.append(f"{len(found)} finished agents of run {one_line(run)}: mngr list --label {label}")
    return (*others, *shown), lines


def _fields(agent: Agent, shape: ListView) -> Iterator[tuple[str, object]]:
    for name in shape.fields:
        yield name, msgspec.to_builtins(field_value(agent, name))


def _show_hosts(call: Call, listing: Listing) -> None:
    hosts = list(listing.hosts)

    def human() -> str:
        count = {host: sum(agent.host.name == host.name for agent in listing.agents) for host in hosts}
        rows = [
            [
                host.name,
                host.provider,
                f"{host.state} ({host.why})" if host.why else str(host.state),
                str(count[host]),
            ]
            for host in hosts
        ]
        return align([["HOST", "PROVIDER", "STATE", "AGENTS"], *rows], columns())

    if call.output.format == JSON:
        call.output.document(
            {"schema": 1, "hosts": msgspec.to_builtins(hosts), "warnings": list(listing.warnings)}
        )
    else:
        call.output.many(hosts, human)
