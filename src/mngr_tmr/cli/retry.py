"""`mngr tmr retry`."""

import click

from mngr_tmr.cli.settings import out_option
from mngr_tmr.cli.steer import steer_task


@click.command("retry")
@click.argument("words", nargs=-1, required=True, metavar="[RUN] TEST")
@out_option
@click.pass_context
def command(context: click.Context, /, words: tuple[str, ...], out: str | None) -> int:
    """Try a test again in a run that goes on: a new attempt with a new agent, once there is a slot.

    Its test must have ended. What the earlier attempts left stays in the run's folder. Without RUN the newest run is
    meant; a test is named by its node id, the end of it, or its task.

    \b
    mngr tmr retry test_total_adds_up
    mngr tmr retry nightly tests/e2e/test_shop.py::test_total_adds_up
    """
    steer_task(context, "retry", words, out)
    return 0
