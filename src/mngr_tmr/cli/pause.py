"""`mngr tmr pause`."""

import click

from mngr_tmr.cli.places import find_place
from mngr_tmr.cli.settings import out_option
from mngr_tmr.cli.steer import steer


@click.command("pause")
@click.argument("run", required=False, default="")
@out_option
@click.pass_context
def command(context: click.Context, /, run: str, out: str | None) -> int:
    """Launch no more agents in a run that goes on, until `mngr tmr resume`; without RUN the newest one is meant.

    Agents that are at work go on, and their work is verified. It works from any terminal, and holds if the run's
    process is killed; `mngr tmr status` says who paused the run and when.

    \b
    mngr tmr pause
    mngr tmr resume
    """
    steer(find_place(context, out).known_run(run), "pause")
    return 0
