"""ARCHITECTURE.md is one page, and says of rooms, steps and stages what the source says."""

import re
import shlex
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.cli.command import Mngr
from tests.docs.blocks import ROOT
from tests.support.world import World

from mngr.actions.create.steps import STEPS
from mngr_tmr.stages import STAGES

PAGE = (ROOT / "ARCHITECTURE.md").read_text()


@pytest.fixture
def mngr(tmp_path: Path) -> Iterator[Mngr]:
    world = World(tmp_path)
    yield Mngr(world)
    world.end()


def rooms_on_page(heading: str) -> set[str]:
    """The names in the first column of a table."""
    table = PAGE.partition(f"| {heading}")[2].partition("\n\n")[0].splitlines()[2:]
    return {name for line in table for name in re.findall(r"`(\w+)`", line.split("|")[1])}


def rooms_in(package: str) -> set[str]:
    modules = {path.stem for path in (ROOT / "src" / package).glob("*.py")}
    folders = {path.parent.name for path in (ROOT / "src" / package).glob("*/__init__.py")}
    return {name for name in modules | folders if not name.startswith("__")}


@pytest.mark.accept("U5")
def test_it_is_one_page() -> None:
    assert len(PAGE.splitlines()) <= 100


@pytest.mark.accept("H1")
@pytest.mark.parametrize(
    ("heading", "package"), [("room of `mngr`", "mngr"), ("rooms of `mngr_tmr`", "mngr_tmr")]
)
def test_its_rooms_are_those_of_the_source(heading: str, package: str) -> None:
    assert rooms_on_page(heading) == rooms_in(package)


def test_its_packages_are_those_of_the_source() -> None:
    assert rooms_on_page("package") == {path.parent.name for path in (ROOT / "src").glob("*/__init__.py")}


@pytest.mark.accept("H2")
def test_it_has_the_steps_and_stages_in_their_order() -> None:
    orders = [
        line.strip("`").split(" → ") for line in PAGE.splitlines() if re.fullmatch(r"`\w+( → \w+)+`", line)
    ]
    assert orders == [[step.__name__ for step in STEPS], [stage.__name__ for stage in STAGES]]


def test_every_file_that_it_names_exists() -> None:
    named = re.findall(r"`((?:src/|tests/)[\w/.]+)`", PAGE)
    assert named
    assert [name for name in named if not (ROOT / name).exists()] == []


@pytest.mark.accept("U5")
def test_its_first_command_runs_as_printed(mngr: Mngr) -> None:
    line = PAGE.partition("```sh\n")[2].partition("\n")[0]
    program, *words = shlex.split(line)
    assert program == "mngr"
    mngr.ok(*words)
    assert "foo" in mngr.ok("list").stdout
    mngr.ok("destroy", "foo", "--yes")
