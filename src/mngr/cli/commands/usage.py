"""`mngr usage`."""

import time
from datetime import datetime

import click

from mngr.actions.rows import Row
from mngr.actions.usage import Spent, check_way, usage_of_rows
from mngr.cli.call import Call
from mngr.cli.options import Chosen, with_targets
from mngr.cli.outcome import TargetOutcome, exit_code
from mngr.cli.render import JSON, say, show_error
from mngr.cli.table import align
from mngr.cli.targets import find
from mngr.cli.terminal_text import columns
from mngr.cli.verb import verb
from mngr.errors import ExitCode, UsageError
from mngr.model.duration import parse_duration

_HEADER = ("TURNS", "INPUT", "OUTPUT", "CACHE READ", "CACHE WRITE", "COST")


def moment(value: str) -> float:
    """A click type: `2h`, `7d`, `2026-11-01`, `2026-11-01T08:00` → seconds since the epoch."""
    try:
        return datetime.fromisoformat(value).timestamp()
    except ValueError:
        pass
    try:
        return time.time() - parse_duration(value)
    except UsageError:
        raise UsageError(f"--since {value!r} is no moment", hint="write 2h, 7d or 2026-11-01") from None


@verb(
    "usage",
    examples="""
        mngr usage
        mngr usage --by day --since 7d
        mngr usage --by label:task --label batch=7
        mngr usage foo --json | jq .total.cost_usd
    """,
)
@with_targets
@click.option(
    "--by",
    default="agent",
    show_default=True,
    metavar="WAY",
    help="Group by agent, project, day, model, host, label, or the values of one label: label:KEY.",
)
@click.option(
    "--since", type=moment, default=None, metavar="MOMENT", help="Only from then on: 2h, 7d, 2026-11-01."
)
def command(call: Call, chosen: Chosen, *, by: str, since: float | None) -> int:
    """Show tokens and what they cost, by the agents' own records.

    Prices come with mngr, dated; [prices."MODEL"] in a config file wins. Without a name: all agents.
    """
    call.output.check(Spent)
    check_way(by)
    rows, missing = _rows(call, chosen)
    report = usage_of_rows(rows, by, since or 0.0, call.manager)
    if call.output.format == JSON:
        call.output.document(report)
    elif not call.output.is_human:
        for spent in report.usage:
            call.output.line(spent)
    elif report.usage:
        lines: list[tuple[str, ...]] = [(report.by.upper(), *_HEADER)]
        for spent in (*report.usage, report.total):
            counts = (
                spent.input_tokens,
                spent.output_tokens,
                spent.cache_read_tokens,
                spent.cache_write_tokens,
            )
            cost = "?" if spent.cost_usd is None else f"${spent.cost_usd:.4f}"
            if spent.unpriced and spent.cost_usd is not None:
                cost += f" + {', '.join(spent.unpriced)}"
            lines.append((spent.group, f"{spent.turns:,}", *(f"{count:,}" for count in counts), cost))
        table = align(lines, columns())
        say(table)
        call.output.note(f'prices as of {report.prices_as_of}; yours win: [prices."MODEL"] in a config file')
    else:
        call.output.note("No agent has used any tokens that it knows of")
    call.warn(*report.warnings)
    for outcome in missing:
        if outcome.error:
            show_error(outcome.error)
    if not missing:
        return ExitCode.DONE
    return exit_code([*missing, *(TargetOutcome(missing[0].item) for _ in rows[:1])])


def _rows(call: Call, chosen: Chosen) -> tuple[list[Row], list[TargetOutcome]]:
    if not chosen.names and chosen.filter.is_empty:
        chosen = Chosen(all=True)
    rows: dict[str, Row] = {}
    missing: list[TargetOutcome] = []
    for meant, lost in find(call, chosen):
        rows |= {row.agent.id: row for _, row in meant}
        missing += lost
    return list(rows.values()), missing
