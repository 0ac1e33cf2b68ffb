"""`mngr clone`."""

import click

from mngr.actions.create.clone import clone
from mngr.actions.targets import resolve_one
from mngr.cli.call import Call
from mngr.cli.commands.create import created_text
from mngr.cli.options import dry_run_option
from mngr.cli.verb import verb
from mngr.errors import ExitCode
from mngr.model.agent import Change
from mngr_lib.safe_text import one_line


@verb(
    "clone",
    examples="""
        mngr clone foo
        mngr clone foo foo-experiment
        mngr clone foo copy@.docker
    """,
)
@click.argument("agent")
@click.argument("address", required=False, default="")
@dry_run_option
def command(call: Call, *, agent: str, address: str, dry_run: bool) -> int:
    """Make a second agent with the same work, labels and, where the type can, conversation."""
    call.output.check(Change)
    if dry_run:
        found = resolve_one(call.manager, agent).agent
        call.manager.address(address)
        change = Change(found, changed=False, notes=(f"would be cloned as {address or 'a name of its own'}",))
        call.output.one(
            change, lambda: one_line(f"Would clone {found.name} as {address or 'a name of its own'}")
        )
        return ExitCode.DONE
    change = clone(agent, address, manager=call.manager)
    call.output.one(change, lambda: created_text(change))
    return ExitCode.DONE
