"""Rooms import one way, and the check that says so can fail."""

import shutil
from pathlib import Path

import pytest

from mngr.process import Completed, run

ROOT = Path(__file__).parent.parent
LINT = Path(shutil.which("lint-imports") or ROOT / ".venv/bin/lint-imports")


def lint(root: Path) -> Completed:
    env = {"PYTHONPATH": str(root / "src")}
    return run(
        [str(LINT), "--no-cache", "--config", str(root / "pyproject.toml")],
        cwd=str(root),
        env=env,
        timeout_s=120,
    )


def test_rooms_import_one_way() -> None:
    done = lint(ROOT)
    assert done.code == 0, done.text


def test_a_bad_import_and_an_unplaced_room_are_seen(tmp_path: Path) -> None:
    shutil.copytree(ROOT / "src", tmp_path / "src", ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copy(ROOT / "pyproject.toml", tmp_path)
    (tmp_path / "src/mngr/attic.py").write_text("")
    with (tmp_path / "src/mngr/model/ids.py").open("a") as file:
        file.write("\nimport mngr.process\n")
    with (tmp_path / "src/mngr_lib/git.py").open("a") as file:
        file.write("\nimport mngr.errors\n")
    done = lint(tmp_path)
    assert done.code != 0
    assert "mngr_lib.git -> mngr.errors" in done.text
    assert "mngr.model.ids -> mngr.process" in done.text
    assert "attic" in done.text


@pytest.mark.accept("S1")
def test_only_the_command_line_imports_click() -> None:
    offenders = [
        str(path.relative_to(ROOT))
        for path in (ROOT / "src/mngr").rglob("*.py")
        if path.parent.name != "cli" and "import click" in path.read_text()
    ]
    assert offenders == []


def test_no_room_has_a_name_that_says_nothing() -> None:
    empty = {"utils", "util", "common", "helpers", "base", "misc"}
    found = {path.stem for path in (ROOT / "src/mngr").rglob("*.py")} & empty
    assert found == set()
