"""A distribution without the page is refused where it is built, not noticed where it is used."""

import os
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PAGE = "src/mngr_view/static/page.html"


@pytest.fixture
def clone(tmp_path: Path) -> Path:
    """What a build reads of a fresh clone, with one file for each package."""
    clone = tmp_path / "clone"
    clone.mkdir()
    for name in ("pyproject.toml", "README.md", "LICENSE"):
        shutil.copy(ROOT / name, clone)
    (clone / "tools").mkdir()
    shutil.copy(ROOT / "tools/build_hook.py", clone / "tools")
    for init in ROOT.glob("src/*/__init__.py"):
        (clone / "src" / init.parent.name).mkdir(parents=True)
        shutil.copy(init, clone / "src" / init.parent.name)
    (clone / ".gitignore").write_text(f"{PAGE}\n")
    return clone


def build(clone: Path, what: str, **env: str) -> "subprocess.CompletedProcess[str]":
    """As pip does it: in the folder of the project, by the hooks of its build backend."""
    code = f"import hatchling.build; print(hatchling.build.{what}('..'))"
    return subprocess.run(
        [sys.executable, "-c", code], cwd=clone, env={**os.environ, **env}, capture_output=True, text=True
    )


@pytest.mark.accept("V4")
def test_a_wheel_has_the_page_or_is_not_built(clone: Path) -> None:
    for what in ("build_wheel", "build_sdist"):
        refused = build(clone, what)
        assert refused.returncode == 1
        assert f"error: the page is not built: {PAGE}\nhint: make web" in refused.stderr
    # The rest of it needs a package that pip would fetch.
    assert "the page is not built" not in build(clone, "build_editable").stderr
    assert build(clone, "build_wheel", MNGR_BUILD_WITHOUT_PAGE="1").returncode == 0
    (clone / PAGE).parent.mkdir()
    (clone / PAGE).write_text("<html>")
    built = build(clone, "build_wheel")
    assert built.returncode == 0, built.stderr
    with zipfile.ZipFile(clone.parent / built.stdout.split()[-1]) as wheel:
        assert "mngr_view/static/page.html" in wheel.namelist()
