"""`mngr tutorial signals`."""

import time

import click
import msgspec

import mngr
from mngr_e2e.authoring import signals, text
from mngr_e2e.authoring.drafting.review import project_root
from mngr_e2e.cli.output import print_json, print_text
from mngr_e2e.cli.places import find_places


@click.command("signals")
@click.argument("tutorial", required=False)
@click.option(
    "--since", default="", metavar="WHEN", help="Only what came since: 7d, 12h, or a day, 2026-01-31."
)
@click.option("--all", "with_resolved", is_flag=True, help="Also what was resolved.")
@click.option("--resolve", multiple=True, metavar="ID", help="Hide it until it comes back; repeatable.")
@click.option("--note", default="", metavar="TEXT", help="How it was answered.")
@click.option("--json", "as_json", is_flag=True, help="One JSON document.")
@click.pass_context
def signals_command(
    context: click.Context,
    tutorial: str | None,
    since: str,
    with_resolved: bool,
    resolve: tuple[str, ...],
    note: str,
    as_json: bool,
) -> int:
    """What agents and people found hard: invented commands and options, rejected drafts; the most frequent first.

    Kept in .mngr/tutorial/signals.jsonl, which is meant to be committed.

    \b
    mngr tutorial signals
    mngr tutorial signals --since 30d --json
    mngr tutorial signals --resolve s0a1b2c3d --note 'the option exists now'
    """
    places = find_places(context, tutorial, ())
    path = signals.signals_path(project_root(places.tutorial))
    now = time.time()
    if resolve:
        known = {group.id for group in signals.rank(signals.load(path))}
        for group in resolve:
            if group not in known:
                raise mngr.UsageError(f'no signal "{group}"', hint="see: mngr tutorial signals --all")
        signals.append(path, [signals.Resolved(now, group, note) for group in dict.fromkeys(resolve)])
    try:
        start = time.mktime(time.strptime(since, "%Y-%m-%d")) if since else 0.0
    except ValueError:
        start = now - mngr.parse_duration(since)
    groups = signals.rank(signals.load(path), since=start)
    shown = [group for group in groups if with_resolved or group.resolved is None]
    if as_json:
        print_json({"schema": 1, "signals": msgspec.to_builtins(shown)})
    else:
        print_text(text.ranked(shown, now))
    return 0
