"""From each block to its tests and back."""

from pathlib import Path

import msgspec
import pytest
from tests.e2e_kit.tutorial.desk import citing
from tests.e2e_kit.view.desk import RunDesk

from mngr_e2e.tutorial.blocks import block_id
from mngr_e2e.view.source import Choice, E2eSource
from mngr_e2e.view.tutorial import Script, load_script, with_tutorial
from mngr_view.records import Run, Tutorial

HELP, CREATE = "# see what there is\nmngr --help", "mngr create foo"
TEXT = f"#!/bin/sh\n\n## Basics\n\n{HELP}\n\n{CREATE}\n"


@pytest.fixture
def script(tmp_path: Path) -> Script:
    (tmp_path / "tutorial.sh").write_text(TEXT)
    tests = tmp_path / "tests" / "e2e"
    tests.mkdir(parents=True)
    (tests / "test_a.py").write_text(
        citing("help", HELP, "mngr --help") + citing("create", CREATE, "mngr create foo")
    )
    return load_script(str(tmp_path / "tutorial.sh"), [str(tests)])


def cites(tutorial: Tutorial | None, text: str) -> tuple[str, ...]:
    assert tutorial
    (found,) = [block.tests for block in tutorial.blocks if block.id == block_id(text)]
    return found


def load(run: RunDesk, script: Script) -> Run:
    choice = Choice((run.folder,), "title", script, (str(run.path.parent),))
    (found,) = E2eSource(choice).index().runs
    return found


@pytest.mark.accept("Y15", "V3")
def test_a_block_names_its_rows_and_a_row_its_blocks(tmp_path: Path, script: Script) -> None:
    run = RunDesk(tmp_path / "runs")
    run.attempt("e2e/test_a.py::test_help[1]", "failed")
    run.attempt("e2e/test_a.py::test_help[2]", "passed")
    run.attempt("unit/test_a.py::test_help", "passed")
    found = load(run, script)
    assert found.tutorial
    assert found.tutorial.file == "tutorial.sh"
    assert [(block.kind, block.section) for block in found.tutorial.blocks] == [
        ("preamble", ""),
        ("banner", "Basics"),
        ("command", "Basics"),
        ("command", "Basics"),
    ]
    assert found.tutorial.blocks[2].text == HELP
    assert found.tutorial.blocks[2].first_line == 5
    assert cites(found.tutorial, HELP) == ("e2e/test_a.py::test_help[1]", "e2e/test_a.py::test_help[2]")
    assert {row.id: row.blocks for row in found.tests} == {
        "e2e/test_a.py::test_help[1]": (block_id(HELP),),
        "e2e/test_a.py::test_help[2]": (block_id(HELP),),
        "unit/test_a.py::test_help": (),
    }


@pytest.mark.accept("Y15")
def test_a_citation_that_was_saved_counts_also_without_the_source(tmp_path: Path, script: Script) -> None:
    run = RunDesk(tmp_path / "runs")
    folder = run.attempt("elsewhere.py::test_made_up", "passed")
    (folder / "tutorial_block.txt").write_text(CREATE + "\n")
    found = load(run, msgspec.structs.replace(script, links=()))
    assert cites(found.tutorial, CREATE) == ("elsewhere.py::test_made_up",)
    assert found.tests[0].blocks == (block_id(CREATE),)


@pytest.mark.accept("Y15")
def test_a_test_that_did_not_run_keeps_its_last_status(tmp_path: Path, script: Script) -> None:
    old, new = RunDesk(tmp_path / "runs", "old"), RunDesk(tmp_path / "runs", "new")
    old.attempt("tests/e2e/test_a.py::test_create", "failed")
    new.attempt("tests/e2e/test_a.py::test_help", "passed")
    found = load(new, script)
    (cited,) = cites(found.tutorial, CREATE)
    assert cited.endswith("tests/e2e/test_a.py::test_create")
    assert found.tutorial
    assert found.tutorial.statuses == {cited: "failed"}


def test_tests_that_cannot_be_read_are_a_warning(tmp_path: Path) -> None:
    (tmp_path / "tutorial.sh").write_text(TEXT)
    script = load_script(str(tmp_path / "tutorial.sh"), [str(tmp_path / "none")])
    run = with_tutorial(Run("r", "r", 0.0, ()), script, {}, {})
    assert run.tutorial
    assert len(run.tutorial.blocks) == 4
    assert "cannot be read" in run.warnings[0]
