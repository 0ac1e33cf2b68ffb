"""`mngr rename`."""

import click

from mngr.actions.rename import rename
from mngr.actions.targets import resolve_one
from mngr.cli.call import Call
from mngr.cli.options import dry_run_option
from mngr.cli.render import change_text
from mngr.cli.verb import verb
from mngr.errors import ExitCode
from mngr.model.agent import Change
from mngr.model.ids import check_name
from mngr_lib.safe_text import one_line


@verb(
    "rename",
    examples="""
        mngr rename foo bar
        mngr mv swift-otter docs
    """,
)
@click.argument("agent")
@click.argument("name")
@dry_run_option
def command(call: Call, *, agent: str, name: str, dry_run: bool) -> int:
    """Give an agent another name. Its id, branch and work dir stay."""
    call.output.check(Change)
    check_name(name)
    if dry_run:
        found = resolve_one(call.manager, agent).agent
        change = Change(found, changed=False, notes=(f"would be called {name}",))
        call.output.one(change, lambda: f"Would rename {one_line(found.name)} to {one_line(name)}")
        return ExitCode.DONE
    change = rename(agent, name, manager=call.manager)
    call.output.one(change, lambda: change_text("Renamed to", change, unchanged="It is called"))
    return ExitCode.DONE
