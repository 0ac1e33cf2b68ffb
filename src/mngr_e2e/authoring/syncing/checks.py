"""What of an agent's tests can be taken: they cite exactly, run what they cite, and cost no other test anything."""

from collections.abc import Iterator, Mapping, Sequence

from msgspec import Struct

from mngr_e2e.authoring.batch import Batch, stale_key, unreadable_key
from mngr_e2e.authoring.rules import COVERED, EXACT, FAITHFUL, KEPT_TESTS, OTHERS, READABLE, RuleFinding
from mngr_e2e.tutorial.blocks import Block
from mngr_e2e.tutorial.check import Report, compare
from mngr_e2e.tutorial.citations import Case, is_test_file, read_functions, read_sources

Files = Mapping[str, bytes]


class Tests(Struct, frozen=True):
    """The test files of a moment: what is in them, and what the check says about them."""

    __test__ = False
    functions: dict[str, str]
    cases: dict[str, Case]
    report: Report


def read_moment(tutorial: str, blocks: Sequence[Block], files: Files) -> Tests:
    sources = read_sources(files)
    functions = {
        name: code
        for path, source in files.items()
        if is_test_file(path)
        for name, code in read_functions(source, path).items()
    }
    cases = {case.node_id: case for case in sources.cases}
    return Tests(functions, cases, compare(tutorial, blocks, sources))


def judge_tests(before: Tests, after: Tests, batch: Batch) -> tuple[RuleFinding, ...]:
    """Every finding; the subject is the file, block or test that it spoils."""
    return (
        *_changed_tests(before, after, batch),
        *_bad_citations(before, after, batch),
        *_commands_not_run(before, after, batch),
    )


def _changed_tests(before: Tests, after: Tests, batch: Batch) -> Iterator[RuleFinding]:
    """Tests that are gone, that were none of the agent's, or that are new and cite nothing."""
    broken = {place.path for place in after.report.unreadable}
    for name, case in before.cases.items():
        if name not in after.cases and case.path not in broken:
            yield RuleFinding(KEPT_TESTS, case.path, f"the test {_short(name)} is gone; put it back")
    named = {one.node_id for one in batch.stale} | {
        name for name in before.cases for place in batch.unreadable if place.path == before.cases[name].path
    }
    for name, code in before.functions.items():
        if name not in named and after.functions.get(name, code) != code:
            case = before.cases[name]
            problem = f"the test {_short(name)} was changed and is none of yours; put it back as it was"
            yield RuleFinding(OTHERS, f"{case.path}:{case.line}", problem, case.path)
    for name, case in after.cases.items():
        if name not in before.cases and not case.citations:
            problem = f"the new test {_short(name)} cites no block"
            yield RuleFinding(EXACT, f"{case.path}:{case.line}", problem, case.path)


def _bad_citations(before: Tests, after: Tests, batch: Batch) -> Iterator[RuleFinding]:
    """Citations that cannot be read or are no block: those that the agent was asked to fix, and new ones."""
    asked = {unreadable_key(place) for place in batch.unreadable}
    old = {unreadable_key(place) for place in before.report.unreadable}
    for place in after.report.unreadable:
        key = unreadable_key(place)
        if key in asked or key not in old:
            where, subject = f"{place.path}:{place.line}", key if key in old else place.path
            yield RuleFinding(READABLE, where, place.problem, subject)
    asked, old = set(map(stale_key, batch.stale)), set(map(stale_key, before.report.stale))
    for one in after.report.stale:
        key = stale_key(one)
        if key in asked or key not in old:
            text = f"{_short(one.node_id)} cites what is no block of the tutorial"
            if one.nearest and (difference := one.difference):
                text += (
                    f"; the nearest is {one.nearest.id}, and in its line {difference.line} the tutorial has "
                    f"{difference.tutorial!r} where the citation has {difference.citation!r}"
                )
            text += f"; {one.advice}" if one.advice else ""
            yield RuleFinding(EXACT, f"{one.path}:{one.line}", text, key if key in old else one.path)


def _commands_not_run(before: Tests, after: Tests, batch: Batch) -> Iterator[RuleFinding]:
    """Tests that run no command of the block they cite, and blocks of the batch that no test cites."""
    asked = {one.node_id for one in batch.stale}
    old = {(one.node_id, one.block_id) for one in before.report.lint if one.node_id not in asked}
    for one in after.report.lint:
        if (one.node_id, one.block_id) not in old:
            problem = f"{_short(one.node_id)} {one.problem}"
            yield RuleFinding(FAITHFUL, f"{one.path}:{one.line}", problem, one.path)
    left = {block.id for block in after.report.uncovered}
    for block in batch.blocks:
        if block.id in left:
            where = f"{after.report.tutorial}:{block.first_line}"
            problem = f"no test cites this block ({block.id}): {block.title}"
            yield RuleFinding(COVERED, where, problem, block.id)


def _short(node_id: str) -> str:
    return node_id.partition("::")[2]
