"""`mngr destroy`."""

from collections.abc import Iterator
from functools import partial
from typing import Any

import click
import msgspec

from mngr.actions.destroy import destroy_rows, drop_lost
from mngr.actions.hosts import destroy_host
from mngr.actions.rows import Row
from mngr.actions.start_hosts import start_stopped_hosts
from mngr.cli.call import Call
from mngr.cli.confirm import confirm
from mngr.cli.dry_run import would
from mngr.cli.host_targets import with_hosts
from mngr.cli.options import Chosen, dry_run_option, with_targets, yes_option
from mngr.cli.outcome import TargetOutcome, report
from mngr.cli.render import change_text
from mngr.cli.stdin import Item
from mngr.cli.targets import changes_of, do_together
from mngr.cli.verb import verb
from mngr.errors import MngrError
from mngr.model.agent import Change


@verb(
    "destroy",
    examples="""
        mngr destroy foo
        mngr destroy foo bar --yes
        mngr destroy --stopped --label batch=7 --dry-run
        mngr destroy --all -y
        mngr destroy @box.docker
    """,
)
@with_targets
@click.option(
    "--discard-unreadable",
    is_flag=True,
    help="Also where commits cannot be read or fetched: they are lost.",
)
@yes_option
@dry_run_option
def command(call: Call, chosen: Chosen, *, discard_unreadable: bool, yes: bool, dry_run: bool) -> int:
    """Remove agents: processes, session, working copy, branch and state; exactly their own things.

    A branch with commits that are nowhere else is kept and named. An agent whose commits cannot be read, because its
    repository is damaged, stays until --discard-unreadable gives them up. Asks first on a terminal;
    otherwise it needs --yes. @HOST.PROVIDER also removes the host, with everything on it; a machine that
    ssh reaches is only forgotten. A stopped host is started to remove an agent from it, unless that means a new one and
    the agent had no commit of its own.
    """
    call.output.check(Change)
    if dry_run:
        return would(call, chosen, "destroy")

    destroying = partial(destroy_rows, discard_unreadable=discard_unreadable, manager=call.manager)

    def work(rows: list[Row]) -> Iterator[tuple[Row, Any]]:
        names = ", ".join(row.agent.name for row in rows)
        confirm(f"destroy {names}?", yes=yes)
        yield from changes_of(destroying, rows)

    def destroy_whole(host: str) -> list[Change | MngrError]:
        confirm(f"destroy {host} with all that is on it?", yes=yes)
        return destroy_host(host, discard_unreadable=discard_unreadable, manager=call.manager)

    def destroy_agents(rest: Chosen) -> Iterator[TargetOutcome]:
        if not rest.from_stdin and not rest.is_empty:
            lost = start_stopped_hosts(rest.names, rest.filter, call.manager, is_destroying=True)
            if lost:
                agents = [each.agent for each in lost]
                confirm(f"destroy {', '.join(agent.name for agent in agents)}?", yes=yes)
                for change in drop_lost(lost, manager=call.manager):
                    yield TargetOutcome(Item(change.agent.name), change)
                left = tuple(
                    name
                    for name in rest.names
                    if not any(name in (agent.name, agent.address, agent.id) for agent in agents)
                )
                if rest.names and not left:
                    return
                rest = msgspec.structs.replace(rest, names=left)
        yield from do_together(call, rest, work)

    outcomes = with_hosts(chosen, destroy_whole, destroy_agents)
    return report(call, chosen, outcomes, lambda change: change_text("Destroyed", change))
