"""`mngr tutorial blocks|gaps|check`: they read, and start nothing."""

from collections.abc import Sequence
from typing import Any

import click
import msgspec

from mngr_e2e.authoring.interface.outdated import find_outdated
from mngr_e2e.cli.agent_options import material_of
from mngr_e2e.cli.output import print_json, print_text
from mngr_e2e.cli.places import Places, find_places, reading, with_places
from mngr_e2e.tutorial import text
from mngr_e2e.tutorial.blocks import Block, load_blocks
from mngr_e2e.tutorial.check import Link, check, compare
from mngr_e2e.tutorial.citations import load_tests
from mngr_e2e.tutorial.status import last_statuses, statuses_of


@click.command("blocks")
@with_places
@click.option(
    "--tests", "with_tests", is_flag=True, help="Also the tests of each block and how they last ended."
)
@click.pass_context
def blocks_command(
    context: click.Context, tutorial: str | None, tests: tuple[str, ...], as_json: bool, with_tests: bool
) -> int:
    """Every block: id, kind, lines, section.

    \b
    mngr tutorial blocks tutorial.sh
    mngr tutorial blocks tutorial.sh tests/e2e --tests
    """
    places = find_places(context, tutorial, tests)
    blocks = reading(places, lambda: load_blocks(places.tutorial))
    links: tuple[Link, ...] = ()
    if with_tests or tests:
        links = reading(places, lambda: compare(places.tutorial, blocks, load_tests(places.tests))).links
    statuses = _statuses(places, links)
    if as_json:
        print_json(
            {
                "schema": 1,
                "tutorial": places.tutorial,
                "blocks": [_block_record(block, links, statuses) for block in blocks],
            }
        )
    else:
        print_text(text.blocks(places.tutorial, blocks, links, statuses))
    return 0


@click.command("gaps")
@with_places
@click.option("--fail", is_flag=True, help="Exit 1 when there is a gap.")
@click.pass_context
def gaps_command(
    context: click.Context, tutorial: str | None, tests: tuple[str, ...], as_json: bool, fail: bool
) -> int:
    """Comments that still wait for their commands.

    \b
    mngr tutorial gaps
    mngr tutorial gaps tutorial.sh --fail
    """
    places = find_places(context, tutorial, tests)
    gaps = [block for block in reading(places, lambda: load_blocks(places.tutorial)) if block.kind == "gap"]
    if as_json:
        records = [_block_record(block, (), {}) for block in gaps]
        print_json({"schema": 1, "tutorial": places.tutorial, "gaps": records})
    else:
        print_text(text.gaps(places.tutorial, gaps))
    return 1 if gaps and fail else 0


@click.command("check")
@with_places
@click.option(
    "--strict",
    is_flag=True,
    help="Warnings count as well: lint findings, blocks that are there twice, options that the program lacks.",
)
@click.pass_context
def check_command(
    context: click.Context, tutorial: str | None, tests: tuple[str, ...], as_json: bool, strict: bool
) -> int:
    """Exit 0 when every command block has a test that cites it and every citation fits; runs no test.

    Commands and options that the program does not have are warnings. What it has is read from its reference (as for
    draft: tutorial.reference, docs/reference or docs/man), else from its --help where it is installed, for a few
    seconds at most; what is not known is not judged.

    \b
    mngr tutorial check
    mngr tutorial check tutorial.sh tests/e2e --strict
    """
    places = find_places(context, tutorial, tests)
    report = reading(places, lambda: check(places.tutorial, places.tests))
    report = msgspec.structs.replace(
        report, outdated=find_outdated(report.blocks, material_of(places, {}), places.root)
    )
    passed = report.is_green and not (strict and (report.lint or report.duplicates or report.outdated))
    if as_json:
        record = msgspec.to_builtins(report)
        del record["links"]
        statuses = _statuses(places, report.links)
        record["blocks"] = [_block_record(block, report.links, statuses) for block in report.blocks]
        record["uncovered"] = [block.id for block in report.uncovered]
        print_json({"schema": 1, "passed": passed, **record})
    else:
        print_text(text.report(report, passed))
    return 0 if passed else 1


def _statuses(places: Places, links: Sequence[Link]) -> dict[str, str]:
    return statuses_of((link.node_id for link in links), last_statuses(places.artifacts))


def _block_record(block: Block, links: Sequence[Link], statuses: dict[str, str]) -> dict[str, Any]:
    tests = [
        {"node_id": link.node_id, "line": link.line, "status": statuses.get(link.node_id)}
        for link in links
        if link.block_id == block.id
    ]
    return {**msgspec.to_builtins(block), "tests": tests}
