"""`mngr e2e`: the runs of tests, and the page that shows what they did."""

import os
import sys
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from time import localtime, strftime
from typing import Any, TypeVar

import click
import msgspec
from msgspec import Struct

import mngr
from mngr_e2e.cli.places import Places, find_places
from mngr_e2e.view.choose import NoSuchRunError, all_runs, chosen_runs
from mngr_e2e.view.runs import load_run
from mngr_e2e.view.source import Choice, E2eSource
from mngr_e2e.view.tutorial import Script, load_script
from mngr_lib.command_options import note, with_common_options
from mngr_lib.suggest import nearest
from mngr_view.browser import has_browser
from mngr_view.errors import ViewError
from mngr_view.page import page_parts, write_page
from mngr_view.records import Status, Test
from mngr_view.server import serve

F = TypeVar("F", bound=Callable[..., Any])

_ORDER: tuple[Status, ...] = ("failed", "error", "timeout", "running", "skipped", "passed")
_NO_RUNS = "tests that use the fixture e2e write one when pytest runs them; another place: --artifacts DIR"


class ViewOptions(Struct, frozen=True):
    """What `view` was asked for."""

    runs: tuple[str, ...]
    artifacts: tuple[str, ...]
    wants_all: bool = False
    tutorial: str | None = None


@click.group("e2e", invoke_without_command=True, context_settings={"help_option_names": ["-h", "--help"]})
@click.pass_context
def command(context: click.Context) -> None:
    """Runs of end-to-end tests: transcripts and recordings on one page.

    \b
    mngr e2e view
    mngr e2e view --html report.html
    mngr e2e runs
    """
    if context.invoked_subcommand is None:
        click.echo(context.get_help())


def _with_artifacts(function: F) -> F:
    text = "A folder of runs; repeatable.  [default: .mngr/e2e]"
    return click.option("--artifacts", multiple=True, metavar="DIR", help=text)(function)


@command.command("view")
@click.argument("runs", nargs=-1, metavar="[RUN]...")
@click.option("--all", "wants_all", is_flag=True, help="Every run, on one page with an index.")
@click.option("--html", metavar="FILE", help="Write the page to one file instead of serving it; - is stdout.")
@_with_artifacts
@click.option("--tutorial", metavar="FILE", help="The tutorial that tests cite.  [default: as configured]")
@click.option("--port", type=click.IntRange(0, 65535), default=0, metavar="N", help="Serve on this port.")
@click.option("--no-open", is_flag=True, help="Print the address and open no browser.")
@click.pass_context
def view_command(
    context: click.Context,
    runs: tuple[str, ...],
    wants_all: bool,
    html: str | None,
    artifacts: tuple[str, ...],
    tutorial: str | None,
    port: int,
    no_open: bool,
) -> int:
    """Show runs of tests: what each command did, and the recording of it.

    RUN is a run's name or folder; without one it is the newest run. The page is served to this machine only, and
    changes while tests run, until Ctrl-C. With --html it is one file that opens anywhere, without a network.

    \b
    mngr e2e view
    mngr e2e view --html report.html
    mngr e2e view --all --no-open
    mngr e2e view .mngr/e2e/20260101-120000-77 --html - > report.html
    """
    options = ViewOptions(runs, artifacts, wants_all, tutorial)
    choice = _choice(find_places(context, tutorial, ()), options, is_live=html is None)
    source = E2eSource(choice)

    def show_address(url: str) -> None:
        click.echo(url)
        note("for browsers of this machine, until Ctrl-C")

    try:
        if html is None:
            opens = not no_open and sys.stdout.isatty() and has_browser()
            serve(source, port=port, on_ready=show_address, opens=opens)
        elif html == "-":
            sys.stdout.buffer.writelines(page_parts(source.index(), source.chunks()))
            sys.stdout.buffer.flush()
        else:
            index = source.index()
            write_page(html, index, source.chunks())
            click.echo(html)
            name = index.runs[0].id if len(index.runs) == 1 else f"{len(index.runs)} runs"
            counts = _counts(test for run in index.runs for test in run.tests)
            note(f"{name}: {counts}; it opens in any browser, also without a network")
    except ViewError as error:
        raise mngr.MngrError(error.message, hint=error.hint) from error
    return 0


@command.command("runs")
@_with_artifacts
@click.option("--json", "as_json", is_flag=True, help="One JSON document.")
@click.pass_context
def runs_command(context: click.Context, artifacts: tuple[str, ...], as_json: bool) -> int:
    """The runs that were kept, the newest first, and how their tests ended.

    \b
    mngr e2e runs
    mngr e2e runs --json
    """
    places = _folders(find_places(context, None, ()), artifacts)
    found = [(run, load_run(run).run) for run in reversed(all_runs(places))]
    if as_json:
        records = []
        for folder, run in found:
            totals = Counter(test.status for test in run.tests)
            records.append(
                {
                    "name": run.id,
                    "path": folder.path,
                    "start": run.start,
                    "duration_s": run.duration_s,
                    "is_running": run.is_running,
                    "tests": len(run.tests),
                    "counts": {status: totals[status] for status in _ORDER},
                    "warnings": run.warnings,
                }
            )
        click.echo(msgspec.json.encode({"schema": 1, "runs": records}).decode())
        return 0
    if not found:
        note(f"no runs in {', '.join(places)}: {_NO_RUNS}")
    width = max((len(run.id) for _, run in found), default=0)
    for _, run in found:
        when = strftime("%Y-%m-%d %H:%M", localtime(run.start))
        ends = f"{_counts(run.tests)}{' (running)' if run.is_running else ''}"
        click.echo(f"{run.id:<{width}}  {when}  {run.duration_s:7.1f} s  {ends}")
    return 0


def _choice(places: Places, options: ViewOptions, *, is_live: bool) -> Choice:
    folders = _folders(places, options.artifacts)
    try:
        runs = chosen_runs(options.runs, folders) if options.runs else all_runs(folders)
    except NoSuchRunError as error:
        near = nearest(error.word, error.known)
        if near:
            hint = f'did you mean "{near}"?'
        elif error.known:
            hint = f"the newest runs: {', '.join(error.known[:5])}; all: mngr e2e runs"
        else:
            hint = _NO_RUNS
        raise mngr.NotFoundError(f'no run "{error.word}" in {", ".join(folders)}', hint=hint) from None
    if not runs and not is_live:
        raise mngr.NotFoundError(f"no runs in {', '.join(folders)}", hint=_NO_RUNS)
    if not options.runs and not options.wants_all:
        runs = runs[-1:]
        note(f"the newest run: {runs[0].id}" if runs else f"no runs in {', '.join(folders)} yet")
    title, follow = "end-to-end tests", folders[0] if is_live and not options.runs else ""
    if not follow:
        title = f"{runs[0].id if len(runs) == 1 else f'{len(runs)} runs'} · {title}"
    return Choice(tuple(runs), title, _script(places, options.tutorial), tuple(folders), follow)


def _folders(places: Places, chosen: Sequence[str]) -> list[str]:
    """Where runs are: as chosen, or in an agent its outbox, or the usual place."""
    for folder in chosen:
        if not os.path.isdir(folder):
            raise mngr.NotFoundError(f"--artifacts {folder}: no such folder", hint=_NO_RUNS)
    outbox = os.environ.get("MNGR_OUTBOX")
    return list(chosen) or [os.path.join(outbox, "artifacts") if outbox else places.artifacts]


def _script(places: Places, chosen: str | None) -> Script | None:
    """The tutorial, if there is one; one that was asked for by name must be there."""
    if chosen is None and not os.path.isfile(places.tutorial):
        return None
    try:
        return load_script(places.tutorial, [path for path in places.tests if os.path.exists(path)])
    except OSError as error:
        raise mngr.UsageError(f"cannot read the tutorial: {places.tutorial}: {error.strerror}") from error


def _counts(tests: Iterable[Test]) -> str:
    totals = Counter(test.status for test in tests)
    return ", ".join(f"{totals[status]} {status}" for status in _ORDER if totals[status]) or "no tests"


for _command in command.commands.values():
    with_common_options(_command)
