"""`mngr cleanup`."""

from collections.abc import Iterator

import click

from mngr.actions.cleanup import choose_agents
from mngr.actions.destroy import destroy_rows
from mngr.actions.filter import Filter
from mngr.actions.rows import Row
from mngr.actions.stop import stop_rows
from mngr.cli.call import Call
from mngr.cli.confirm import confirm
from mngr.cli.options import Chosen, dry_run_option, duration, with_filters, yes_option
from mngr.cli.outcome import report
from mngr.cli.render import change_text
from mngr.cli.targets import changes_of, do_together
from mngr.cli.verb import verb
from mngr.errors import MngrError, UsageError
from mngr.model.agent import Change
from mngr_lib.safe_text import one_line


@verb(
    "cleanup",
    examples="""
        mngr cleanup --stopped --older-than 7d --dry-run
        mngr cleanup --idle-for 2h --stop
        mngr cleanup --label batch=7 --destroy --yes
    """,
)
@with_filters
@click.option(
    "--older-than",
    "older_than_s",
    type=duration,
    default="0",
    metavar="DURATION",
    help="Only those made longer ago than this.",
)
@click.option(
    "--idle-for",
    "idle_for_s",
    type=duration,
    default="0",
    metavar="DURATION",
    help="Only those idle, or ended, for this long.",
)
@click.option("--stop", "only_stop", is_flag=True, help="Only stop them.")
@click.option("--destroy", "wants_destroy", is_flag=True, help="Destroy them (the default).")
@yes_option
@dry_run_option
def command(
    call: Call,
    *,
    filter: Filter,
    older_than_s: float,
    idle_for_s: float,
    only_stop: bool,
    wants_destroy: bool,
    yes: bool,
    dry_run: bool,
) -> int:
    """Stop or destroy agents chosen by filters and age. At least one of them is needed."""
    call.output.check(Change)
    if only_stop and wants_destroy:
        raise UsageError("--stop and --destroy are two things", hint="choose one")
    agents = choose_agents(filter.check(), older_than_s, idle_for_s, manager=call.manager)
    doing = "stop" if only_stop else "destroy"
    if agents and not dry_run:
        confirm(f"{doing} {', '.join(agent.name for agent in agents)}?", yes=yes)
    chosen = Chosen(tuple(agent.id for agent in agents))
    work = stop_rows if only_stop else destroy_rows

    def act(rows: list[Row]) -> Iterator[tuple[Row, Change | MngrError]]:
        if dry_run:
            return ((row, Change(row.agent, changed=False, notes=(f"would {doing}",))) for row in rows)
        return changes_of(lambda some: work(some, manager=call.manager), rows)

    def text_of(change: Change) -> str:
        return (
            f"Would {doing} {one_line(change.agent.name)}" if dry_run else change_text(_WORDS[doing], change)
        )

    outcomes = do_together(call, chosen, act) if agents else iter(())
    return report(call, Chosen(filter=filter), outcomes, text_of)


_WORDS = {"stop": "Stopped", "destroy": "Destroyed"}
