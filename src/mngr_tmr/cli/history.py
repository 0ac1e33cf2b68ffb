"""`mngr tmr history`."""

from collections.abc import Iterable

import click
import msgspec

from mngr_tmr.agent_text import one_line
from mngr_tmr.cli.past import ask_past
from mngr_tmr.cli.places import find_place
from mngr_tmr.cli.settings import out_option
from mngr_tmr.history.clusters import Cluster
from mngr_tmr.history.one_test import TestHistory, find_test_history
from mngr_tmr.history.overview import Overview, TestTrend, day_of, find_overview
from mngr_tmr.model.money import dollars, tokens
from mngr_tmr.report.data.counts import plural
from mngr_tmr.report.out.progress import clock
from mngr_tmr.report.out.terminal import printable

_MOST = 20
_WIDE = 110
_STATES = {"new": "new", "recurring": "recurring", "gone": "gone", "not_run": "not run again"}


@click.command("history")
@click.argument("test", required=False, default="")
@click.option("--json", "as_json", is_flag=True, help="One JSON document, with everything.")
@out_option
@click.pass_context
def command(context: click.Context, test: str, as_json: bool, out: str | None) -> int:
    """What past runs say: tests that fail or flicker, causes, spend by day, throughput; with TEST its every run.

    TEST is a node id, or a part of one that no other test has. The answers come from an index beside the runs,
    history.sqlite3, which is made again from their folders whenever it is missing, damaged or of another version.

    \b
    mngr tmr history
    mngr tmr history test_shop.py::test_buy
    mngr tmr history --json
    """
    runs = find_place(context, out).runs
    found: Overview | TestHistory
    if test:
        found = ask_past(runs, lambda connection: find_test_history(connection, test))
        lines = _test_lines(found)
    else:
        found = ask_past(runs, find_overview)
        lines = _overview_lines(found)
    if as_json:
        click.echo(msgspec.json.encode(found).decode())
        return 0
    for line in lines:
        click.echo(printable(line))
    return 0


def cluster_line(one: Cluster) -> str:
    """`recurring   3 tests  in 4 runs since r1, last in r9  test: AssertionError …`."""
    since = f"in {plural(one.runs, 'run')} since {one.first_run}" if one.runs > 1 else f"in {one.first_run}"
    last = f", last in {one.last_run}" if one.runs > 1 and one.state not in ("new", "recurring") else ""
    mark = " [fixed]" if one.fixed == one.tests else ""
    title = one_line(f"{one.stage}: {one.title}", _WIDE)
    return f"  {_STATES[one.state]:<13} {plural(one.tests, 'test')} {since}{last}  {title}{mark}"


def more(count: int) -> Iterable[str]:
    """What is left out on the terminal is named."""
    if count > 0:
        yield f"  … and {count} more: --json has all"


def _overview_lines(found: Overview) -> Iterable[str]:
    if not found.runs:
        yield "no run has ended yet: mngr tmr run tests/e2e starts one"
    else:
        yield (
            f"{plural(found.runs, 'run')} since {day_of(found.first_at)}, the newest is {found.newest}; "
            f"{plural(len(found.tests), 'test')}"
        )
    shaky = [one for one in found.tests if one.failed or one.flaky]
    if shaky:
        yield f"tests that failed or were flaky: {len(shaky)}"
        yield from map(_trend_line, shaky[:_MOST])
        yield from more(len(shaky) - _MOST)
    if found.causes:
        yield f"causes of the last runs: {len(found.causes)}"
        yield from map(cluster_line, found.causes[:_MOST])
        yield from more(len(found.causes) - _MOST)
    if found.days:
        yield "spend by day:"
        for day in found.days[:_MOST]:
            usd = "no price known" if day.usd is None else dollars(day.usd)
            yield f"  {day.day}  {plural(day.runs, 'run')}  {usd}  {tokens(day.tokens)} tokens"
        yield from more(len(found.days) - _MOST)
    for one in found.throughput:
        best = f"best at {one.sweet_spot}" if one.sweet_spot else "no best number known yet"
        who = " ".join(filter(None, (one.agent_type or "agents", one.model)))
        yield f"throughput by slots in use, {who}, {plural(one.runs, 'run')}: {best}"
        for level in one.levels[:_MOST]:
            yield (
                f"  {plural(level.slots, 'slot'):>9}  {level.tasks_per_hour:.1f} tasks an hour, "
                f"{level.failures:.0f} of {level.tasks:.0f} failed, {clock(level.wait_s)} wait, "
                f"in {clock(level.seconds)}"
            )
        yield from more(len(one.levels) - _MOST)
    if found.estimated:
        yield f"estimates: {found.inside} of {plural(found.estimated, 'task')} used no more than the upper end"
    yield from (f"  problem: {problem}" for problem in found.problems)


def _trend_line(one: TestTrend) -> str:
    usual = [clock(one.seconds)] if one.seconds is not None else []
    usual += [dollars(one.usd)] if one.usd is not None else []
    average = f", {' and '.join(usual)} on average" if usual else ""
    flaky = f", flaky in {one.flaky}" if one.flaky else ""
    last = one.last.replace("_", " ") or "no verdict"
    return f"  {one.test}: {last}; failed in {one.failed} of {plural(one.runs, 'run')}{flaky}{average}"


def _test_lines(found: TestHistory) -> Iterable[str]:
    yield found.test
    for one in found.results:
        used = [clock(one.seconds)] if one.seconds is not None else []
        used += [f"{tokens(one.tokens)} tokens"] if one.tokens is not None else []
        used += [dollars(one.usd)] if one.usd is not None else []
        used += [plural(one.attempts, "attempt")] if one.attempts > 1 else []
        words = one.outcome.replace("_", " ") or "no verdict"
        words += ", flaky" if one.is_flaky and one.outcome != "flaky" else ""
        cause = f"  {one_line(one.cause, _WIDE)}" if one.cause else ""
        yield f"  {one.run}  {day_of(one.created_at)}  {words}  {', '.join(used)}{cause}"
    pairs = ((found.seconds, clock, ""), (found.tokens, tokens, " tokens"), (found.usd, dollars, ""))
    ranges = [f"{show(each.low)} to {show(each.high)}{unit}" for each, show, unit in pairs if each]
    if ranges:
        yield f"  median to 95th percentile: {', '.join(ranges)}"
