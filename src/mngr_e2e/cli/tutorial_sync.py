"""`mngr tutorial sync`."""

from typing import Any

import click
import msgspec

from mngr_e2e.authoring import text
from mngr_e2e.authoring.syncing.sync import plan_sync, sync
from mngr_e2e.cli.agent_options import author_of, material_of, with_agents
from mngr_e2e.cli.output import print_json, print_text, progress
from mngr_e2e.cli.places import find_places, reading, with_places


@click.command("sync")
@with_places
@with_agents
@click.pass_context
def sync_command(
    context: click.Context,
    /,
    tutorial: str | None,
    tests: tuple[str, ...],
    dry_run: bool,
    quiet: bool,
    as_json: bool,
    **given: Any,
) -> int:
    """Agents bring the tests in step with the tutorial: stale citations first, then blocks without a test.

    They may touch nothing but test files below TESTS and delete no test; what they write is checked and not run. Exit 1
    when the check is still red; then it says what is left. When all is in step already, no agent is started.

    \b
    mngr tutorial sync
    mngr tutorial sync tutorial.sh tests/e2e --type claude --batch 10
    mngr tutorial sync --dry-run
    """
    places = find_places(context, tutorial, tests)
    author, material = author_of(places, given), material_of(places, {})
    if dry_run:
        report = reading(
            places, lambda: plan_sync(places.tutorial, places.tests, author=author, material=material)
        )
    else:
        report = reading(
            places,
            lambda: sync(
                places.tutorial,
                places.tests,
                author=author,
                material=material,
                manager=places.manager,
                say=progress(quiet),
            ),
        )
    if as_json:
        left = report.after
        print_json(
            {
                "schema": 1,
                "dry_run": dry_run,
                "passed": report.is_green,
                "was_green": report.before.is_green,
                "files": report.files,
                "batches": report.batches,
                "findings": msgspec.to_builtins(report.findings),
                "left": {
                    "stale": msgspec.to_builtins(left.stale),
                    "unreadable": msgspec.to_builtins(left.unreadable),
                    "uncovered": [block.id for block in left.uncovered],
                },
                "prompt": report.prompt,
            }
        )
    else:
        print_text(text.planned_sync(report) if dry_run else text.synced(report))
    return 0 if dry_run or report.is_green else 1
