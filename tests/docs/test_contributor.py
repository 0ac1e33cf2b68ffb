"""What a contributor looks for in a repository is there and says what is so."""

import os
import re
import subprocess
import tomllib
from pathlib import Path

import pytest
from tests.docs.blocks import ROOT

import mngr

pytestmark = pytest.mark.accept("H8")
PYPROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())
MAKEFILE = (ROOT / "Makefile").read_text()
PYTHONS = ["3.11", "3.12", "3.13"]


def recipe(target: str) -> str:
    found = re.search(rf"^{target}:.*\n((?:\t.*\n)+)", MAKEFILE, re.MULTILINE)
    assert found, target
    return found[1]


def test_make_help_lists_every_target_that_a_person_would_call() -> None:
    # As from a shell, also when it is make that runs the tests.
    env = {name: value for name, value in os.environ.items() if not name.startswith(("MAKE", "MFLAGS"))}
    shown = subprocess.run(
        ["make", "help"], cwd=ROOT, env=env, capture_output=True, text=True, check=True
    ).stdout
    phony = re.search(r"^\.PHONY: (.*)$", MAKEFILE, re.MULTILINE)
    assert phony
    # What is compiled for a test run is a part of `make test`.
    assert {line.split()[1] for line in shown.splitlines()} == set(phony[1].split()) - {"compiled"}


def test_every_package_says_that_it_is_typed() -> None:
    packages = sorted((ROOT / "src").glob("*/__init__.py"))
    assert len(packages) == 5
    assert [package.parent.name for package in packages if not (package.parent / "py.typed").exists()] == []


def test_the_version_is_written_once() -> None:
    assert "version" not in PYPROJECT["project"]
    assert PYPROJECT["project"]["dynamic"] == ["version"]
    home = PYPROJECT["tool"]["hatch"]["version"]["path"]
    written = [
        str(path.relative_to(ROOT))
        for path in (ROOT / "src").rglob("*.py")
        if f'"{mngr.__version__}"' in path.read_text()
    ]
    assert written == [home]


def test_a_release_is_tried_on_every_python_that_is_promised() -> None:
    assert f"PYTHONS ?= {' '.join(f'python{version}' for version in PYTHONS)}\n" in MAKEFILE
    assert "tools/release $(PYTHONS)" in recipe("release")
    promised = [
        found[1]
        for line in PYPROJECT["project"]["classifiers"]
        if (found := re.fullmatch(r"Programming Language :: Python :: (3\.\d+)", line))
    ]
    assert promised == PYTHONS
    release = (ROOT / "tools/release").read_text()
    assert "read_template" in release, "the page is in the wheel"


def test_the_front_end_has_a_linter_and_unit_tests() -> None:
    assert "run --silent lint" in recipe("lint")
    assert "run --silent test" in recipe("lint")
    assert len(list((ROOT / "web").rglob("*.test.ts"))) + len(list((ROOT / "web/test").glob("*.ts"))) >= 5


def test_the_workflow_runs_what_may_land() -> None:
    workflow = (ROOT / ".github/workflows/ci.yml").read_text()
    assert "bash .ci/run" in workflow
    assert "make release" in workflow
    assert "exec make test" in (ROOT / ".ci/run").read_text()
    assert list((ROOT / ".github/ISSUE_TEMPLATE").glob("*.md"))
    assert (ROOT / ".github/pull_request_template.md").exists()


def test_each_hook_before_a_commit_runs_a_tool_of_the_environment() -> None:
    hooks = (ROOT / ".pre-commit-config.yaml").read_text()
    entries = [Path(entry) for entry in re.findall(r"entry: (\S+)", hooks)]
    assert {entry.name for entry in entries} == {"ruff", "mypy", "lint-imports"}
    assert [entry for entry in entries if not (ROOT / entry).exists()] == []
