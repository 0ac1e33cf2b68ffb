"""`mngr tutorial`: the blocks of a tutorial, what is still missing, and whether the tests keep up with it."""

import os
from collections.abc import Callable, Sequence
from difflib import get_close_matches
from typing import Any, TypeVar

import click
import msgspec
from msgspec import Struct

import mngr
from mngr_e2e.tutorial import text
from mngr_e2e.tutorial.blocks import Block, load_blocks
from mngr_e2e.tutorial.check import Link, Report, check, compare
from mngr_e2e.tutorial.citations import load_tests
from mngr_e2e.tutorial.status import last_statuses, statuses_of

F = TypeVar("F", bound=Callable[..., Any])
T = TypeVar("T")

_KEYS = ("tutorial", "tests")
_TUTORIAL, _TESTS = "tutorial.sh", "tests/e2e"


class Places(Struct, frozen=True):
    """The files that were meant."""

    tutorial: str
    tests: tuple[str, ...]
    artifacts: str


@click.group(
    "tutorial", invoke_without_command=True, context_settings={"help_option_names": ["-h", "--help"]}
)
@click.pass_context
def command(context: click.Context) -> None:
    """A tutorial as a contract: its blocks, its gaps, and the tests that cite it.

    \b
    mngr tutorial blocks tutorial.sh
    mngr tutorial gaps --fail
    mngr tutorial check tutorial.sh tests/e2e
    """
    if context.invoked_subcommand is None:
        click.echo(context.get_help())


def _with_places(function: F) -> F:
    function = click.option("--json", "as_json", is_flag=True, help="One JSON document.")(function)
    function = click.argument("tests", nargs=-1)(function)
    return click.argument("tutorial", required=False)(function)


@command.command("blocks")
@_with_places
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
    places = _places(context, tutorial, tests)
    blocks = _reading(places, lambda: load_blocks(places.tutorial))
    links: tuple[Link, ...] = ()
    if with_tests or tests:
        links = _reading(places, lambda: compare(places.tutorial, blocks, load_tests(places.tests))).links
    statuses = _statuses(places, links)
    if as_json:
        _print_json(
            {
                "schema": 1,
                "tutorial": places.tutorial,
                "blocks": [_block_record(block, links, statuses) for block in blocks],
            }
        )
    else:
        _print(text.blocks(places.tutorial, blocks, links, statuses))
    return 0


@command.command("gaps")
@_with_places
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
    places = _places(context, tutorial, tests)
    gaps = [block for block in _reading(places, lambda: load_blocks(places.tutorial)) if block.kind == "gap"]
    if as_json:
        records = [_block_record(block, (), {}) for block in gaps]
        _print_json({"schema": 1, "tutorial": places.tutorial, "gaps": records})
    else:
        _print(text.gaps(places.tutorial, gaps))
    return 1 if gaps and fail else 0


@command.command("check")
@_with_places
@click.option(
    "--strict", is_flag=True, help="Warnings count as well: lint findings, blocks that are there twice."
)
@click.pass_context
def check_command(
    context: click.Context, tutorial: str | None, tests: tuple[str, ...], as_json: bool, strict: bool
) -> int:
    """Exit 0 when every command block has a test that cites it and every citation fits; runs nothing.

    \b
    mngr tutorial check
    mngr tutorial check tutorial.sh tests/e2e --strict
    """
    places = _places(context, tutorial, tests)
    report = _reading(places, lambda: check(places.tutorial, places.tests))
    passed = report.is_green and not (strict and (report.lint or report.duplicates))
    if as_json:
        _print_json(_report_record(report, _statuses(places, report.links), passed))
    else:
        _print(text.report(report, passed))
    return 0 if passed else 1


def _places(context: click.Context, tutorial: str | None, tests: Sequence[str]) -> Places:
    """The arguments, else the config's `[tutorial]`, else the usual names; relative to here or to the repository."""
    manager = mngr.Manager(overrides=context.meta.get("overrides", ()))
    root = manager.config.repo_root
    script, folders = _configured(manager.config.section("tutorial"))
    for note in manager.warnings:
        click.echo(f"warning: {note}", err=True)
    return Places(
        tutorial or _found(script, root),
        tuple(tests) or tuple(_found(path, root) for path in folders),
        _found(os.path.join(".mngr", "e2e"), root),
    )


def _configured(section: dict[str, Any]) -> tuple[str, list[str]]:
    for key in section:
        if key not in _KEYS:
            near = get_close_matches(key, _KEYS, n=1)
            hint = f'did you mean "tutorial.{near[0]}"?' if near else f"known: {', '.join(_KEYS)}"
            raise mngr.UsageError(f'unknown key "tutorial.{key}"', hint=hint)
    script, folders = section.get("tutorial", _TUTORIAL), section.get("tests", _TESTS)
    folders = [folders] if isinstance(folders, str) else folders
    if not isinstance(folders, list) or not all(isinstance(path, str) for path in (script, *folders)):
        raise mngr.UsageError("tutorial.tutorial must be a path, tutorial.tests a path or a list of paths")
    return script, folders


def _found(path: str, root: str) -> str:
    if os.path.exists(path) or not root:
        return path
    return os.path.relpath(os.path.join(root, path))


def _reading(places: Places, work: Callable[[], T]) -> T:
    try:
        return work()
    except OSError as error:
        what = "tutorial" if error.filename == places.tutorial else "tests"
        raise mngr.UsageError(
            f"cannot read the {what}: {error.filename}: {error.strerror}",
            hint=f"name both: mngr tutorial check TUTORIAL TESTS; or: mngr config set tutorial.{what} PATH",
        ) from error


def _statuses(places: Places, links: Sequence[Link]) -> dict[str, str]:
    return statuses_of((link.node_id for link in links), last_statuses(places.artifacts))


def _block_record(block: Block, links: Sequence[Link], statuses: dict[str, str]) -> dict[str, Any]:
    tests = [
        {"node_id": link.node_id, "line": link.line, "status": statuses.get(link.node_id)}
        for link in links
        if link.block_id == block.id
    ]
    return {**msgspec.to_builtins(block), "tests": tests}


def _report_record(report: Report, statuses: dict[str, str], passed: bool) -> dict[str, Any]:
    record = msgspec.to_builtins(report)
    del record["links"]
    record["blocks"] = [_block_record(block, report.links, statuses) for block in report.blocks]
    record["uncovered"] = [block.id for block in report.uncovered]
    return {"schema": 1, "passed": passed, **record}


def _print_json(record: dict[str, Any]) -> None:
    click.echo(msgspec.json.encode(record).decode())


def _print(lines: str) -> None:
    if lines:
        click.echo(lines)
