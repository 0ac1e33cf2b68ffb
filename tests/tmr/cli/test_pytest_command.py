"""Which Python lends its packages, and for which projects an environment is made without asking."""

import sys
from pathlib import Path

import pytest
from tests.tmr.own_project import GREETER, OwnProject

from mngr_tmr.cli.pytest_command import PytestCommand, PytestPlace, find_pytest_command
from mngr_tmr.integrate.gates.local_runner import LocalRunner
from mngr_tmr.model.run import RunOptions, RunSpec

pytestmark = pytest.mark.accept("M18")


@pytest.fixture
def own(tmp_path: Path) -> OwnProject:
    return OwnProject(tmp_path)


def test_the_environment_that_is_active_lends_and_what_is_said_wins(own: OwnProject) -> None:
    base = own.commit_files({"pyproject.toml": GREETER})
    place = PytestPlace(str(own.repo), base, "", is_local=True)
    python, pytest_of = str(own.venv / "bin/python"), ("-m", "pytest")
    active = {"PATH": "/usr/bin:/bin", "VIRTUAL_ENV": str(own.venv)}
    assert find_pytest_command(place, {}, active) == PytestCommand((python, *pytest_of), True)
    # The first that has pytest: /usr/bin/python3 may be there without it.
    assert find_pytest_command(place, {"pytest": "pytest -x"}, active).pytest == (python, *pytest_of, "-x")
    named = find_pytest_command(place, {"pytest": f"{python} -m pytest -x"}, {"PATH": "/usr/bin:/bin"})
    assert named == PytestCommand((python, "-m", "pytest", "-x"), True)
    not_own = find_pytest_command(place, {"own_venv": False}, active)
    assert not_own == PytestCommand((sys.executable, *pytest_of), False)
    for brings_its_own in ("uv run pytest", ".venv/bin/python -m pytest", "tox"):
        assert find_pytest_command(place, {"pytest": brings_its_own}, active).own_venv is False
    elsewhere = PytestPlace(str(own.repo), base, "", is_local=False)
    assert find_pytest_command(elsewhere, {}, active) == PytestCommand(("python3", *pytest_of), True)


@pytest.mark.parametrize(
    ("files", "folder", "is_project"),
    [
        ({"setup.py": ""}, "", True),
        ({"pyproject.toml": "[tool.poetry]\n"}, "part", True),
        ({"part/pyproject.toml": "[build-system]\n"}, "part", True),
        ({"part/pyproject.toml": "[build-system]\n"}, "", False),
        ({"pyproject.toml": "[tool.pytest.ini_options]\n", "setup.cfg": "[flake8]\n"}, "", False),
        ({"pyproject.toml": "no toml ["}, "", False),
        ({"app.py": ""}, "", False),
    ],
)
def test_only_what_pip_can_install_is_a_project(
    tmp_path: Path, files: dict[str, str], folder: str, is_project: bool
) -> None:
    own = OwnProject(tmp_path, has_venv=False)
    place = PytestPlace(str(own.repo), own.commit_files(files), folder, is_local=False)
    assert find_pytest_command(place, {}, {}).own_venv is is_project


@pytest.mark.accept("M17")
def test_commits_that_are_tried_without_agents_have_it_too(own: OwnProject) -> None:
    test = "import subprocess\ndef test_it(): assert subprocess.run(['greet'], stdout=-1).stdout == b'hello\\n'\n"
    code = "def main(): print('hello')\n"
    good = own.commit_files(
        {"pyproject.toml": GREETER, "src/greeter/__init__.py": code, "tests/test_it.py": test}
    )
    bad = own.commit_files({"src/greeter/__init__.py": "raise RuntimeError\n"})
    own.install_editable()
    before = own.hashes()
    python = (str(own.venv / "bin/python"), "-m", "pytest")
    spec = RunSpec("r1", str(own.repo), good, 0.0, (), python, options=RunOptions(own_venv=True))
    with LocalRunner(spec) as runner:
        ran = [runner.run_tests(commit, ["tests/test_it.py::test_it"])[0].outcome for commit in (good, bad)]
    assert ran == ["passed", "failed"]
    assert own.hashes() == before
