"""`mngr tmr runs`."""

import os
import time
from time import localtime, strftime
from typing import Any

import click
import msgspec
from msgspec import Struct
from msgspec.structs import replace

import mngr
from mngr_lib.command_options import note
from mngr_tmr.cli.places import find_place
from mngr_tmr.cli.settings import out_option
from mngr_tmr.report.data.counts import in_bytes, plural
from mngr_tmr.report.data.read_run import read_run
from mngr_tmr.report.data.report_model import make_report_model
from mngr_tmr.report.data.sections import SECTIONS
from mngr_tmr.report.out.progress import clock
from mngr_tmr.report.out.summary import Summary, make_summary
from mngr_tmr.report.out.terminal import printable
from mngr_tmr.run_folder.folder import RunFolder, read_json, run_names
from mngr_tmr.run_folder.liveness import has_fresh_summary, is_alive


class RunSizes(Struct, frozen=True):
    """What a run takes: bytes of its folder, reports apart, and what it has left on hosts and in the repository."""

    evidence: int
    reports: int
    agents: tuple[str, ...]
    snapshot: str
    branches: tuple[str, ...]


class RunRow(Struct, frozen=True):
    """One run; `problem` says why nothing more is known of it, `doing` which step of its integration is going on."""

    run: str
    path: str
    created_at: float = 0.0
    state: str = ""
    tests: int = 0
    counts: dict[str, int] = {}
    exit_code: int | None = None
    branch: str = ""
    problem: str = ""
    doing: str = ""
    sizes: RunSizes | None = None


@click.command("runs")
@click.option("--sizes", is_flag=True, help="What each run takes: its folder, agents, snapshot and branches.")
@click.option("--json", "as_json", is_flag=True, help="One JSON document.")
@out_option
@click.pass_context
def command(context: click.Context, sizes: bool, as_json: bool, out: str | None) -> int:
    """Every run of this repository, the newest first: when, how many tests, how they ended, its branch.

    \b
    mngr tmr runs
    mngr tmr runs --sizes
    mngr tmr runs --json
    """
    place = find_place(context, out)
    names = reversed(run_names(place.runs))
    rows = [row_of(RunFolder(os.path.join(place.runs, name))) for name in names]
    rows = _with_sizes(rows, place.manager) if sizes else rows
    if as_json:
        document: dict[str, Any] = {"schema": 1, "runs": rows}
        click.echo(msgspec.json.encode(document).decode())
        return 0
    if not rows:
        note(f"no runs in {place.runs}: mngr tmr run tests/e2e starts one")
    width = max((len(row.run) for row in rows), default=0)
    for row in rows:
        click.echo(printable(f"{row.run:<{width}}  {_words(row)}"))
    if sizes and rows:
        known = [row.sizes for row in rows if row.sizes]
        total = sum(one.evidence + one.reports for one in known)
        click.echo(
            f"{plural(len(rows), 'run')}: {in_bytes(total)}; mngr tmr delete --older-than 30d --keep-reports"
        )
    return 0


def row_of(folder: RunFolder) -> RunRow:
    """From its summary where that is newer than everything it tells of, else from the whole folder."""
    name = os.path.basename(folder.path)
    try:
        summary = _summary(folder) or make_summary(make_report_model(read_run(folder)), folder)
    except (mngr.MngrError, OSError) as error:
        return RunRow(name, folder.path, problem=str(error))
    branch, stage, doing = summary.branch, summary.integration, ""
    if summary.state == "integrating":
        doing = f"{stage.step or 'preparing'}, {clock(time.time() - stage.started_at)}"
    return RunRow(
        name,
        folder.path,
        summary.created_at,
        summary.state,
        summary.collected,
        summary.counts,
        summary.exit_code,
        branch.name if branch and branch.tip != summary.base else "",
        doing=doing,
    )


def _summary(folder: RunFolder) -> Summary | None:
    """The stored summary, unless the run goes on or something came after it."""
    if is_alive(folder) or not has_fresh_summary(folder):
        return None
    try:
        summary = read_json(folder.summary, Summary)
    except (OSError, mngr.MngrError):
        return None
    return None if summary.state in ("running", "integrating") else summary


def _with_sizes(rows: list[RunRow], manager: mngr.Manager) -> list[RunRow]:
    """The rows with their sizes; a run that cannot be read keeps its problem."""
    from mngr_tmr.run.cleanup import find_leftovers  # loads much of what executes a run

    agents, found = mngr.list_agents(manager=manager).agents, []
    for row in rows:
        try:
            left = find_leftovers(RunFolder(row.path), agents, manager)
        except mngr.MngrError:
            found.append(row)
            continue
        names = tuple(branch.name for branch in (*left.branches, *left.kept))
        addresses = tuple(agent.address for agent in left.agents)
        sizes = RunSizes(left.size.evidence, left.size.reports, addresses, left.snapshot, names)
        found.append(replace(row, sizes=sizes))
    return found


def _words(row: RunRow) -> str:
    if sizes := row.sizes:
        branches = "1 branch" if len(sizes.branches) == 1 else f"{len(sizes.branches)} branches"
        parts = [f"{in_bytes(sizes.evidence)} and {in_bytes(sizes.reports)} of reports", branches]
        parts += [f"{plural(len(sizes.agents), 'agent')}: {', '.join(sizes.agents)}"] if sizes.agents else []
        parts += [f"snapshot {sizes.snapshot}"] if sizes.snapshot else []
        return "; ".join(parts)
    if row.problem:
        return row.problem
    when = strftime("%Y-%m-%d %H:%M", localtime(row.created_at))
    titles = {str(name): section.title.lower() for name, section in SECTIONS.items()}
    ended = ", ".join(f"{count} {titles.get(name, name)}" for name, count in row.counts.items())
    state = "" if row.state == "finished" else f" ({': '.join(filter(None, (row.state, row.doing)))})"
    tests = "test" if row.tests == 1 else "tests"
    return f"{when}  {row.tests:>4} {tests}{state}: {ended}{f'  {row.branch}' if row.branch else ''}"
