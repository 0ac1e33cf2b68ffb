"""`mngr tutorial draft`."""

import os
import re
from typing import Any

import click
import msgspec

from mngr_e2e.authoring import text
from mngr_e2e.authoring.drafting.draft import draft, plan_draft
from mngr_e2e.cli.agent_options import author_of, material_of, program_option, reference_option, with_agents
from mngr_e2e.cli.output import print_json, print_text, progress
from mngr_e2e.cli.places import find_places, reading

_ID = re.compile(r"b[0-9a-f]{10}\Z")


@click.command("draft")
@click.argument("tutorial", required=False)
@click.argument("gap_ids", nargs=-1, metavar="[GAP-ID]...")
@with_agents
@program_option
@reference_option
@click.option("--json", "as_json", is_flag=True, help="One JSON document.")
@click.pass_context
def draft_command(
    context: click.Context,
    /,
    tutorial: str | None,
    gap_ids: tuple[str, ...],
    dry_run: bool,
    quiet: bool,
    as_json: bool,
    **given: Any,
) -> int:
    """An agent adds examples under gaps; they are checked, and wait for review.

    The agent works in a copy. Its lines are put under the gaps, each block marked with a comment, and nothing else of
    the tutorial changes. Commands and options that the program does not have are sent back to it and kept as signals.
    Exit 1 when no gap was filled, 3 when some were not.

    \b
    mngr tutorial draft
    mngr tutorial draft tutorial.sh b0123456789 --type claude
    mngr tutorial draft --dry-run
    """
    if tutorial and _ID.match(tutorial) and not os.path.exists(tutorial):
        gap_ids, tutorial = (tutorial, *gap_ids), None
    places = find_places(context, tutorial, ())
    author, material = author_of(places, given), material_of(places, given)
    if dry_run:
        report = reading(
            places, lambda: plan_draft(places.tutorial, gap_ids, author=author, material=material)
        )
    else:
        report = reading(
            places,
            lambda: draft(
                places.tutorial,
                gap_ids,
                author=author,
                material=material,
                manager=places.manager,
                say=progress(quiet),
            ),
        )
    if as_json:
        print_json({"schema": 1, "dry_run": dry_run, **msgspec.to_builtins(report)})
    else:
        print_text(text.planned_drafts(report) if dry_run else text.drafted(report))
    if dry_run or not report.left:
        return 0
    return 3 if report.drafted else 1
