"""The tutorial as the page shows it: each block with the tests that cite it."""

import os
from collections.abc import Iterable, Mapping, Sequence

import msgspec
from msgspec import Struct

from mngr_e2e.tutorial.blocks import Block, block_id, load_blocks
from mngr_e2e.tutorial.check import Link, compare
from mngr_e2e.tutorial.citations import load_tests
from mngr_e2e.tutorial.status import is_same_file, statuses_of
from mngr_view.records import Run, Status, Tutorial, TutorialBlock


class Script(Struct, frozen=True):
    """A tutorial and what the tests' source says of it; `problem` where the tests cannot be read."""

    file: str
    blocks: tuple[Block, ...]
    links: tuple[Link, ...] = ()
    problem: str = ""


def load_script(tutorial: str, tests: Iterable[str]) -> Script:
    """Reads a tutorial and the tests that may cite it; a tutorial that cannot be read is an OSError."""
    blocks = load_blocks(tutorial)
    try:
        links = compare(tutorial, blocks, load_tests(tests)).links
    except OSError as error:
        problem = f"the tests of {tutorial} cannot be read: {error.filename}: {error.strerror}"
        return Script(tutorial, blocks, problem=problem)
    return Script(tutorial, blocks, links)


def with_tutorial(
    run: Run, script: Script, cited: Mapping[str, Sequence[str]], last: Mapping[str, Status]
) -> Run:
    """A run whose rows name their blocks, and whose tutorial names its rows.

    `cited` are the citations saved with the artifacts, by row; `last` the last statuses of other runs, by node id.
    """
    tests = _tests_by_block(run, script, cited)
    by_row: dict[str, list[str]] = {}
    for block, ids in tests.items():
        for node_id in ids:
            by_row.setdefault(node_id, []).append(block)
    rows = tuple(
        msgspec.structs.replace(row, blocks=tuple(by_row[row.id])) if row.id in by_row else row
        for row in run.tests
    )
    missing = by_row.keys() - {row.id for row in rows}
    tutorial = Tutorial(
        os.path.basename(script.file),
        tuple(
            TutorialBlock(
                block.id,
                block.kind,
                block.section,
                block.first_line,
                block.text,
                tuple(tests.get(block.id, {})),
            )
            for block in script.blocks
        ),
        {
            node_id: msgspec.convert(status, Status)
            for node_id, status in sorted(statuses_of(missing, last).items())
        },
    )
    warnings = (*run.warnings, script.problem) if script.problem else run.warnings
    return msgspec.structs.replace(run, tests=rows, tutorial=tutorial, warnings=warnings)


def cited_tests(script: Script) -> set[str]:
    return {link.node_id for link in script.links}


def _tests_by_block(
    run: Run, script: Script, cited: Mapping[str, Sequence[str]]
) -> dict[str, dict[str, None]]:
    """Ids of rows by block, in the order of the source and then of the run; a dict stands in for an ordered set."""
    tests: dict[str, dict[str, None]] = {block.id: {} for block in script.blocks}
    rows: dict[str, list[str]] = {}
    for row in run.tests:
        rows.setdefault(_tail(row.id), []).append(row.id)
    for link in script.links:
        path = link.node_id.partition("::")[0]
        same = [
            name for name in rows.get(_tail(link.node_id), ()) if is_same_file(path, name.partition("::")[0])
        ]
        # A parametrized test has a row for each parameter.
        for node_id in same or [link.node_id]:
            tests[link.block_id][node_id] = None
    for node_id, texts in cited.items():
        for block in map(block_id, texts):
            if block in tests:
                tests[block][node_id] = None
    return tests


def _tail(node_id: str) -> str:
    path, _, function = node_id.partition("[")[0].partition("::")
    return f"{os.path.basename(path)}::{function}"
