"""`mngr tmr status`."""

import os
import sys
import time

import click

from mngr_lib.safe_text import raw
from mngr_tmr.cli.places import find_place
from mngr_tmr.cli.settings import out_option
from mngr_tmr.report.out.page.source import TmrSource
from mngr_tmr.report.out.status import RunStatus, make_status, status_lines
from mngr_view.chunks import encode

_EVERY_S = 1.0


@click.command("status")
@click.argument("run", required=False, default="")
@click.option(
    "--json", "as_json", is_flag=True, help="One JSON document, with --watch one line whenever it changes."
)
@click.option(
    "-w", "--watch", is_flag=True, help="Go on showing it until the run is over, its integration included."
)
@out_option
@click.pass_context
def command(context: click.Context, run: str, as_json: bool, watch: bool, out: str | None) -> int:
    """How a run stands: counts, slots, what is slowest and how to attach to it, causes so far; without RUN the newest.

    \b
    mngr tmr status
    mngr tmr status nightly --json
    mngr tmr status --watch
    """
    source = TmrSource(find_place(context, out).known_run(run))
    # Asked before the look: what changes meanwhile must be seen as a change the next time.
    seen = source.version()
    status, lines = _look(source)
    _show(status, lines, as_json=as_json, redraws=watch)
    while watch and status.state in ("running", "integrating"):
        time.sleep(_EVERY_S)
        before, seen = (seen, status.state), source.version()
        status, lines = _look(source)
        if sys.stdout.isatty() or (seen, status.state) != before:
            _show(status, lines, as_json=as_json, redraws=True)
    return 0


def _look(source: TmrSource) -> tuple[RunStatus, tuple[str, ...]]:
    model = source.model()
    page = source.folder.report
    status = make_status(model, page if os.path.exists(page) else "", time.time())
    redactor = source.folder.redactor
    return redactor.record(status), tuple(map(redactor.text, status_lines(model, status)))


def _show(status: RunStatus, lines: tuple[str, ...], *, as_json: bool, redraws: bool) -> None:
    if as_json:
        click.echo(encode(status).decode())
    else:
        if redraws and sys.stdout.isatty():
            raw(sys.stdout).write("\x1b[H\x1b[2J")
        click.echo("\n".join(lines))
    sys.stdout.flush()
