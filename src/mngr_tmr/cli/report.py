"""`mngr tmr report`."""

import sys

import click
import msgspec

import mngr
from mngr_lib.command_options import note
from mngr_tmr.cli.output import show
from mngr_tmr.cli.places import find_place
from mngr_tmr.cli.settings import out_option
from mngr_tmr.report.out.page.source import TmrSource
from mngr_tmr.report.out.summary import make_summary
from mngr_tmr.report.report import write_report
from mngr_view.browser import has_browser
from mngr_view.errors import ViewError
from mngr_view.page import page_parts, write_page
from mngr_view.server import serve


@click.command("report")
@click.argument("run", required=False, default="")
@click.option("--serve", "serves", is_flag=True, help="Serve the page to this machine, live, until Ctrl-C.")
@click.option("--html", metavar="FILE", help="Write the page to this file, and nothing else; - is stdout.")
@click.option("--port", type=click.IntRange(0, 65535), default=0, metavar="N", help="Serve on this port.")
@click.option("--no-open", is_flag=True, help="Print the address and open no browser.")
@click.option("--json", "as_json", is_flag=True, help="Print summary.json.")
@out_option
@click.pass_context
def command(
    context: click.Context,
    run: str,
    serves: bool,
    html: str | None,
    port: int,
    no_open: bool,
    as_json: bool,
    out: str | None,
) -> int:
    """Write a run's page, summary.json and junit.xml again from its folder, at any moment; without RUN the newest.

    With --serve the page is live: it changes while the run goes on. With --html it is one file that opens
    anywhere, without a network.

    \b
    mngr tmr report
    mngr tmr report nightly --serve
    mngr tmr report nightly --html report.html
    """
    folder = find_place(context, out).known_run(run)

    def show_address(url: str) -> None:
        click.echo(url)
        note("for browsers of this machine, until Ctrl-C")

    try:
        if serves:
            source = TmrSource(folder)
            source.index()
            opens = not no_open and sys.stdout.isatty() and has_browser()
            serve(source, port=port, on_ready=show_address, opens=opens)
        elif html:
            source = TmrSource(folder)
            index = source.index()
            if html == "-":
                sys.stdout.buffer.writelines(page_parts(index, source.chunks()))
                sys.stdout.buffer.flush()
            else:
                write_page(html, index, source.chunks())
                click.echo(html)
        else:
            reported = write_report(folder)
            if as_json:
                data = folder.redactor.json(make_summary(reported.model, folder))
                click.echo(msgspec.json.format(data, indent=2).decode())
            else:
                show(reported)
    except ViewError as error:
        raise mngr.MngrError(error.message, hint=error.hint) from error
    return 0
