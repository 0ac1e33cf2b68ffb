"""`mngr tmr cancel`."""

import click

from mngr_tmr.cli.settings import out_option
from mngr_tmr.cli.steer import steer_task


@click.command("cancel")
@click.argument("words", nargs=-1, required=True, metavar="[RUN] TEST")
@out_option
@click.pass_context
def command(context: click.Context, /, words: tuple[str, ...], out: str | None) -> int:
    """Give up a test in a run that goes on: it is not launched, or its agent is stopped and its work is pulled.

    The other tests go on; `mngr tmr retry` tries it again. Without RUN the newest run is meant; a test is named by
    its node id, the end of it, or its task.

    \b
    mngr tmr cancel test_total_adds_up
    mngr tmr cancel nightly tests/e2e/test_shop.py::test_total_adds_up
    """
    steer_task(context, "cancel", words, out)
    return 0
