"""`tools/changelog`: what is in changes/ becomes a section of CHANGELOG.md, once."""

import shutil
import sys
from pathlib import Path

import pytest
from tests.docs.blocks import ROOT

from mngr import process
from mngr.process import Completed

pytestmark = pytest.mark.accept("U5")


def changelog(folder: Path, *words: str) -> Completed:
    return process.run([sys.executable, str(ROOT / "tools/changelog"), *words], cwd=str(folder))


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    shutil.copytree(ROOT / "changes", tmp_path / "changes")
    shutil.copy(ROOT / "CHANGELOG.md", tmp_path)
    return tmp_path


def test_what_is_there_can_be_shown(folder: Path) -> None:
    said = changelog(folder).check("changelog").text
    assert said.startswith("## Unreleased\n\n### Added\n\n- ")
    assert len(list((folder / "changes").iterdir())) > 1


def test_a_release_takes_every_file_and_stands_on_top(folder: Path) -> None:
    count = len(list((folder / "changes").glob("*.*.md")))
    changelog(folder, "0.1.0").check("changelog")
    (folder / "changes/more.fixed.md").write_text("It waits\nno more.\n")
    changelog(folder, "0.1.1").check("changelog")
    text = (folder / "CHANGELOG.md").read_text()
    assert text.index("## 0.1.1 (") < text.index("- It waits no more.") < text.index("## 0.1.0 (")
    assert text.count("\n- ") == count + 1
    assert [path.name for path in (folder / "changes").iterdir()] == ["README.md"]
    assert b"nothing to release" in changelog(folder, "0.1.2").stderr


def test_a_file_of_no_kind_is_named(folder: Path) -> None:
    (folder / "changes/odd.md").write_text("?")
    done = changelog(folder, "0.1.0")
    assert (done.code, b"no kind of change: odd.md" in done.stderr) == (1, True)
