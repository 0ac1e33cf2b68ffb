"""`mngr tmr compare`."""

from collections.abc import Iterable

import click
import msgspec

from mngr_tmr.agent_text import one_line
from mngr_tmr.cli.history import cluster_line, more
from mngr_tmr.cli.past import ask_past
from mngr_tmr.cli.places import find_place
from mngr_tmr.cli.settings import out_option
from mngr_tmr.history.compare import Comparison, RunTotals, compare_runs
from mngr_tmr.history.overview import day_of
from mngr_tmr.model.money import dollars, tokens
from mngr_tmr.report.data.counts import plural
from mngr_tmr.report.out.progress import clock
from mngr_tmr.report.out.terminal import printable

_MOST = 40
_WIDE = 110


@click.command("compare")
@click.argument("first")
@click.argument("second")
@click.option("--json", "as_json", is_flag=True, help="One JSON document, with everything.")
@out_option
@click.pass_context
def command(context: click.Context, first: str, second: str, as_json: bool, out: str | None) -> int:
    """Two runs side by side: tests with another verdict in SECOND, causes new and gone, cost and time.

    \b
    mngr tmr compare nightly-20260301 nightly-20260302
    mngr tmr compare before after --json
    """
    runs = find_place(context, out).runs
    found = ask_past(runs, lambda connection: compare_runs(connection, first, second))
    if as_json:
        click.echo(msgspec.json.encode(found).decode())
        return 0
    for line in _lines(found):
        click.echo(printable(line))
    return 0


def _lines(found: Comparison) -> Iterable[str]:
    yield from map(_totals, (found.first, found.second))
    yield f"{plural(len(found.tests), 'test')} with another verdict, {found.same} the same"
    for one in found.tests[:_MOST]:
        verdicts = [word.replace("_", " ") or "no verdict" for word in (one.before, one.after)]
        words = {"added": f"added, {verdicts[1]}", "removed": f"removed, {verdicts[0]} before"}
        cause = f"  {one_line(one.cause, _WIDE)}" if one.cause and one.change != "fixed" else ""
        change = words.get(one.change, f"{one.change}, {verdicts[0]} → {verdicts[1]}")
        yield f"  {one.test}: {change.removeprefix('other, ')}{cause}"
    yield from more(len(found.tests) - _MOST)
    if found.causes:
        yield f"causes: {len(found.causes)}"
        yield from map(cluster_line, found.causes[:_MOST])
        yield from more(len(found.causes) - _MOST)


def _totals(run: RunTotals) -> str:
    usd = "no price known" if run.usd is None else dollars(run.usd)
    who = " ".join(filter(None, (run.agent_type, run.model)))
    return (
        f"{run.run}  {day_of(run.created_at)}  {plural(run.tests, 'test')}, {plural(run.failures, 'failure')}; "
        f"{clock(run.seconds)}, {usd}, {tokens(run.tokens)} tokens{f'; {who}' if who else ''}, "
        f"{plural(run.slots, 'slot')}"
    )
