"""`mngr capture`."""

import sys

import click
from msgspec import Struct

from mngr.actions.capture import capture, cast
from mngr.actions.rows import Row
from mngr.cli.call import Call
from mngr.cli.follow import follow_screen
from mngr.cli.options import Chosen, jobs_option, with_targets
from mngr.cli.outcome import report
from mngr.cli.render import put
from mngr.cli.screen import visible, visible_lines
from mngr.cli.stdin import Item
from mngr.cli.targets import do_each
from mngr.cli.verb import verb
from mngr.errors import ExitCode, UsageError
from mngr.model.agent import Agent


class Captured(Struct, frozen=True):
    """What an agent's terminal shows."""

    agent: Agent
    screen: str


@verb(
    "capture",
    examples="""
        mngr capture foo
        mngr capture foo --full | less
        mngr capture foo --follow
        mngr capture foo --cast >foo.cast
    """,
)
@with_targets
@click.option("--full", is_flag=True, help="The whole history, not only the screen.")
@click.option("--ansi", is_flag=True, help="With colours, as escape sequences.")
@click.option("--follow", is_flag=True, help="Go on with new lines until the agent ends.")
@click.option(
    "--cast", "wants_cast", is_flag=True, help="The recording as an asciicast (needs create --record)."
)
@jobs_option
def command(
    call: Call, chosen: Chosen, *, full: bool, ansi: bool, follow: bool, wants_cast: bool, jobs: int
) -> int:
    """Print what an agent's terminal shows; of a stopped agent, its last screen."""
    call.output.check(Captured)
    if (follow or wants_cast) and not chosen.is_one:
        raise UsageError("--follow and --cast go with one agent", hint="name one")
    if wants_cast:
        sys.stdout.buffer.write(cast(chosen.names[0], manager=call.manager))
        return ExitCode.DONE
    if follow:
        return follow_screen(call, chosen.names[0])

    def work(_: Item, row: Row) -> Captured:
        return Captured(row.agent, capture(row.agent, full=full, ansi=ansi, manager=call.manager))

    def told(captured: Captured) -> str:
        if not chosen.is_one:
            put(f"==> {visible(captured.agent.name)} <==", sys.stderr)
        return captured.screen.rstrip("\n") if ansi else visible_lines(captured.screen.rstrip("\n"))

    return report(call, chosen, do_each(call, chosen, work, jobs), told)
