"""The check is green exactly when every command block is cited and every citation is a block."""

from difflib import SequenceMatcher
from typing import Any

import pytest
from tests.e2e_kit.tutorial.desk import Desk, citing

from mngr_e2e.tutorial import nearest

TUTORIAL = """#!/usr/bin/env bash

## Basics

# see what there is
mngr --help

# make one
mngr create foo \\
  --type command

# Managing snapshots

# note: nothing to run here
"""
HELP = "# see what there is\nmngr --help"
CREATE = "# make one\nmngr create foo \\\n  --type command"
BOTH = citing("help", HELP, "mngr --help") + citing("create", CREATE, "mngr create foo")


@pytest.mark.accept("Y5", "Y3", "T4", "T1")
def test_green_when_every_command_block_is_cited(desk: Desk) -> None:
    report = desk.write(TUTORIAL, test_a=BOTH).check()
    assert report.is_green
    assert (report.lint, report.duplicates, report.tests) == ((), (), 2)
    assert [block.comment for block in report.gaps] == ["Managing snapshots"]


@pytest.mark.accept("Y5")
def test_each_block_without_a_test_is_listed(desk: Desk) -> None:
    report = desk.write(TUTORIAL, test_a=citing("help", HELP, "mngr --help")).check()
    assert not report.is_green
    assert [(block.first_line, block.title) for block in report.uncovered] == [
        (8, "mngr create foo --type command")
    ]


@pytest.mark.accept("Y2", "Y15")
def test_several_tests_may_cite_one_block_and_one_test_several(desk: Desk) -> None:
    both = citing("all", HELP, "mngr --help").rstrip() + "\n" + citing("x", CREATE).split("\n", 1)[1]
    report = desk.write(TUTORIAL, test_a=BOTH, test_b=both).check()
    assert report.is_green
    names = {block.title: block.id for block in report.blocks}
    linked = {
        title: [link.node_id.rpartition("::")[2] for link in report.links if link.block_id == id]
        for title, id in names.items()
    }
    assert linked["mngr --help"] == ["test_help", "test_all"]
    assert linked["mngr create foo --type command"] == ["test_create", "test_all"]


@pytest.mark.accept("Y7")
@pytest.mark.parametrize("place", [at for at, sign in enumerate(CREATE) if sign not in "\n#\\"][::3])
def test_one_changed_character_in_the_tutorial_is_seen(desk: Desk, place: int) -> None:
    changed = f"{CREATE[:place]}~{CREATE[place + 1 :]}"
    report = desk.write(TUTORIAL.replace(CREATE, changed), test_a=BOTH).check()
    assert not report.is_green
    assert [block.text for block in report.uncovered] == [changed]
    assert [stale.text for stale in report.stale] == [CREATE]


@pytest.mark.accept("Y7")
@pytest.mark.parametrize(
    "citation", [HELP + " ", HELP.replace(" what", "  what"), HELP.upper(), HELP + "\n\nx"]
)
def test_blanks_inside_or_after_a_line_case_and_more_lines_count(desk: Desk, citation: str) -> None:
    report = desk.write(HELP, test_a=citing("help", citation)).check()
    assert len(report.stale) == len(report.uncovered) == 1


@pytest.mark.accept("Y7", "Y4")
def test_indentation_and_empty_lines_around_do_not_count(desk: Desk) -> None:
    tutorial = "  " + CREATE.replace("\n", "\n  ")
    report = desk.write(tutorial, test_a=citing("create", f"\n \n{CREATE}\n\n", "mngr create x")).check()
    assert report.is_green


@pytest.mark.accept("Y7")
def test_indentation_within_a_block_counts(desk: Desk) -> None:
    deeper = CREATE.replace("  --type", "    --type")
    assert [stale.text for stale in desk.write(CREATE, test_a=citing("a", deeper)).check().stale] == [deeper]


@pytest.mark.accept("Y7")
@pytest.mark.parametrize("indent", ["", "        "])
def test_a_citation_may_start_right_after_its_quotes(desk: Desk, indent: str) -> None:
    text = CREATE.replace("\n", "\n" + indent)
    source = f'def test_a(e2e):\n    e2e.write_tutorial_block(r"""{text}""")\n    e2e.run("mngr create x")\n'
    assert desk.write(CREATE, test_a=source).check().is_green


@pytest.mark.accept("Y8")
def test_a_larger_citation_covers_no_smaller_block(desk: Desk) -> None:
    larger = f"{HELP}\nmngr list"
    report = desk.write(f"{HELP}\n\n{larger}", test_a=citing("a", larger, "mngr list")).check()
    assert [block.text for block in report.uncovered] == [HELP]
    assert report.stale == ()


@pytest.mark.accept("Y8")
def test_two_blocks_in_one_citation_cover_neither(desk: Desk) -> None:
    report = desk.write(TUTORIAL, test_a=citing("a", f"{HELP}\n\n{CREATE}")).check()
    assert len(report.uncovered) == 2
    assert report.stale[0].advice == "a citation is one whole block, not several"


@pytest.mark.accept("Y6")
def test_a_stale_citation_names_the_nearest_block_and_the_line_that_differs(desk: Desk) -> None:
    old = CREATE.replace("--type command", "--type claude")
    (stale,) = desk.write(TUTORIAL, test_a=BOTH + citing("old", old)).check().stale
    assert (stale.node_id.rpartition("::")[2], stale.line) == ("test_old", 17)
    assert stale.nearest is not None
    assert stale.nearest.text == CREATE
    assert stale.difference == nearest.Difference(10, "  --type command", "  --type claude")
    assert stale.difference.column == 10


@pytest.mark.accept("Y6")
def test_a_citation_like_no_block_has_no_nearest(desk: Desk) -> None:
    (stale,) = (
        desk.write(TUTORIAL, test_a=BOTH + citing("old", "docker run --help " + "0123456789 " * 9))
        .check()
        .stale
    )
    assert stale.nearest is None


@pytest.mark.accept("Y6")
def test_a_backslash_lost_to_python_gets_its_own_hint(desk: Desk) -> None:
    (stale,) = desk.write(CREATE, test_a=citing("a", CREATE).replace('r"""', '"""')).check().stale
    assert "raw string" in stale.advice


@pytest.mark.accept("T7")
def test_blocks_that_are_there_twice_are_reported(desk: Desk) -> None:
    report = desk.write(f"{HELP}\n\n{HELP}\n", test_a=citing("a", HELP, "mngr --help")).check()
    assert report.is_green
    assert [same.first_lines for same in report.duplicates] == [(1, 4)]


@pytest.mark.accept("Y14")
def test_a_help_proxy_is_a_lint_finding(desk: Desk) -> None:
    report = desk.write(CREATE, test_a=citing("a", CREATE, "mngr create --help")).check()
    assert report.is_green
    assert [finding.problem for finding in report.lint] == [
        "runs only --help instead of a command of its block: mngr create foo --type command"
    ]


@pytest.mark.accept("T1", "T5")
@pytest.mark.parametrize("broken", ["if fi", "cat <<EOF\nx", "echo 'a"])
def test_a_tutorial_that_is_not_shell_is_red(desk: Desk, broken: str) -> None:
    report = desk.write(f"#!/bin/bash\n{broken}\n\n{HELP}", test_a=citing("a", HELP, "mngr --help")).check()
    assert (report.uncovered, report.stale) == ((), ())
    assert not report.is_green
    assert report.problems[0].startswith("line ")


def test_a_test_file_that_is_not_python_is_red(desk: Desk) -> None:
    report = desk.write(HELP, test_a=citing("a", HELP, "mngr --help"), test_b="def test_b(:").check()
    assert not report.is_green
    assert [one.line for one in report.unreadable] == [1]


@pytest.mark.accept("Y11", "A9")
def test_a_large_tutorial_costs_no_comparison_but_for_stale_citations(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    compared = []

    class Counting(SequenceMatcher[str]):
        def __init__(self, *arguments: Any, **options: Any) -> None:
            compared.append(1)
            super().__init__(*arguments, **options)

    monkeypatch.setattr(nearest, "SequenceMatcher", Counting)
    blocks = [f"# example {number}\nmngr create agent-{number} --label n={number}" for number in range(345)]
    tests = "".join(citing(f"n{number}", block, "mngr create x") for number, block in enumerate(blocks[:323]))
    report = desk.write("\n\n".join([*blocks, "# gap"]), test_a=tests).check()
    assert (len(report.uncovered), len(report.stale), len(compared)) == (22, 0, 0)
    stale = "".join(citing(f"s{number}", block + " -q") for number, block in enumerate(blocks[:7]))
    report = desk.write("\n\n".join(blocks), test_b=stale).check()
    assert len(report.stale) == 7
    assert len(compared) <= 7 * nearest.CANDIDATES
