"""Projects of other people: whatever their build, a working copy tests its own code; the user's environment stays."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import msgspec
import pytest
from tests.cli.command import ARGV
from tests.support.world import World
from tests.tmr.own_project import OwnProject, unpack

from mngr.process import OnlyEnv, run

SQLPARSE = """\
import subprocess, sqlparse
def test_import(): assert sqlparse.format("select 1", keyword_case="upper") == "SELECT 1"
def test_program():
    done = subprocess.run(["sqlformat", "-k", "upper", "-"], input="select 1", stdout=subprocess.PIPE, text=True)
    assert done.stdout.strip() == "SELECT 1"
"""
JMESPATH = """\
import subprocess, jmespath
def test_import(): assert jmespath.search("a", {"a": 1}) == 1
def test_program():
    done = subprocess.run(["jp.py", "a"], input='{"a": 1}', stdout=subprocess.PIPE, text=True)
    assert done.stdout.strip() == "1"
"""
SHORTUUID = """\
import subprocess, shortuuid
def test_import(): assert len(shortuuid.uuid()) == 22
def test_program():
    words = ["shortuuid", "encode", "3b1f8b40-222c-4a6e-b77e-779d5a94e21c"]
    assert subprocess.run(words, stdout=subprocess.PIPE, text=True).stdout.strip() == "CXc85b4rqinB7s5J52TRYb"
"""
REVERSE = """\
import subprocess, sys, pytest_reverse
def test_import(request): assert request.config.pluginmanager.get_plugin("reverse") is pytest_reverse
def test_program():
    done = subprocess.run([sys.executable, "-m", "pytest", "--help"], stdout=subprocess.PIPE, text=True)
    assert "--reverse" in done.stdout
"""


class Stranger(NamedTuple):
    """A project as it is on PyPI, the file its program begins in, tests of it, and what its user has to build it."""

    package: str
    entry: str
    tests: str
    has: tuple[str, ...] = ()


STRANGERS = {
    "hatchling": Stranger("sqlparse-0.5.0", "sqlparse/__main__.py", SQLPARSE, ("editables",)),
    "setup.py": Stranger("jmespath-1.0.1", "bin/jp.py", JMESPATH, ("setuptools", "wheel")),
    "plugin": Stranger(
        "pytest-reverse-1.5.0", "src/pytest_reverse/__init__.py", REVERSE, ("setuptools", "wheel")
    ),
    "poetry": Stranger("shortuuid-1.0.13", "shortuuid/cli.py", SHORTUUID, ("poetry_core",)),
}
TESTS = "checks/test_theirs.py"


def adopt(own: OwnProject, stranger: Stranger) -> tuple[str, str]:
    """A repository of the project with tests that pass, and a commit in which its program does not even start."""
    unpack(own, stranger.package)
    own.has(*stranger.has)
    good = own.commit_files({TESTS: stranger.tests, "conftest.py": ""})
    lines = (own.repo / stranger.entry).read_text().splitlines(keepends=True)
    at = 1 if lines[0].startswith("#!") else 0
    bad = own.commit_files({stranger.entry: "".join([*lines[:at], "raise RuntimeError\n", *lines[at:]])})
    own.git("reset", "-q", "--hard", good)
    return good, bad


@pytest.mark.slow
@pytest.mark.accept("M17", "M18")
@pytest.mark.parametrize("build", STRANGERS)
def test_every_copy_runs_its_own_code_and_the_users_environment_stays(tmp_path: Path, build: str) -> None:
    own, stranger = OwnProject(tmp_path), STRANGERS[build]
    good, bad = adopt(own, stranger)
    passed = {"test_import": "passed", "test_program": "passed"}
    copy = own.copy(good).ok()
    assert copy.outcomes(TESTS) == passed
    # An agent that breaks the code in the copy that it works in sees it.
    copy.sh(f"git checkout -q {bad} -- .").check("break it")
    assert copy.outcomes(f"{TESTS}::test_program") != {"test_program": "passed"}
    own.install_editable()
    before = own.hashes()
    copy = own.copy(good).ok()
    assert copy.outcomes(TESTS) == passed
    assert copy.sh("git status --porcelain").text == ""
    for setup in ("", "pip install --no-deps --no-build-isolation -e .")[: 2 if build == "setup.py" else 1]:
        copy = own.copy(bad, setup).ok()
        assert copy.outcomes(f"{TESTS}::test_program") != {"test_program": "passed"}
    assert own.hashes() == before


LIE = [
    {"run": "mngr-result check"},
    {
        "edit": "bin/jp.py",
        "replace": ["import sys\nimport json", "raise RuntimeError\nimport sys\nimport json"],
    },
    {"commit": "Start faster", "kind": "implementation"},
    {"run": "mngr-result write --outcome fixed --passed-after yes --summary 'It starts faster.'"},
    {"exit": 0},
]
HONEST = [
    {"run": "mngr-result try 'as I found it'"},
    {"run": "mngr-result write --outcome unchanged --summary 'Nothing to change.'"},
    {"exit": 0},
]


@pytest.fixture
def world(tmp_path: Path) -> Iterator[World]:
    (tmp_path / "w").mkdir()
    world = World(tmp_path / "w")
    yield world
    world.end()


@pytest.mark.slow
@pytest.mark.accept("M15", "M17", "M18")
def test_a_run_with_no_option_never_believes_an_agent_that_broke_the_program(
    tmp_path: Path, world: World
) -> None:
    """As it happened: `setup.py` with `scripts=`, installed editably in the environment that the user works in."""
    own, stranger = OwnProject(tmp_path), STRANGERS["setup.py"]
    good, _ = adopt(own, stranger)
    own.install_editable()
    before, status = own.hashes(), own.git("status", "--porcelain")
    for name, steps in {"test_program": LIE, "test_import": HONEST}.items():
        (tmp_path / f"{name}.json").write_bytes(msgspec.json.encode(steps))
    env = {**own.env, "MNGR_HOST_DIR": str(world.host_dir), "VIRTUAL_ENV": str(own.venv)}
    words = ["tmr", "run", TESTS, "--name", "r1", "--type", "scripted", "--arg", f"{tmp_path}/{{test}}.json"]
    env |= {
        "MNGR__TMR__VERIFY_RUNS": "1",
        "MNGR__TMR__INTEGRATOR": "mechanical",
        "MNGR__TMR__RECORD": "false",
    }
    done = run([*ARGV, *words], env=OnlyEnv(env), cwd=str(own.repo), timeout_s=900)
    assert done.code == 8, done.complaint
    folder = own.repo / ".mngr/tmr/r1"
    rows = {
        row["test"].rpartition("::")[2]: row
        for row in json.loads((folder / "summary.json").read_text())["rows"]
    }
    assert rows["test_import"]["section"] == "clean"
    verdicts = [json.loads(path.read_text())["verdict"] for path in folder.glob("tasks/*/*/verified.json")]
    assert verdicts == ["failed"], rows
    assert own.git("rev-parse", "tmr/r1/integrated") == good
    assert own.hashes() == before
    assert own.git("status", "--porcelain") == status
