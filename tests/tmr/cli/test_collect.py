"""`mngr tmr collect`: tests as lines, for the first verb of a pipe."""

import json
import os
from pathlib import Path

import pytest
from click.testing import CliRunner, Result
from tests.cli.command import ARGV
from tests.tmr.project import Project, project

import mngr
from mngr.process import OnlyEnv, run
from mngr_tmr.cli.collect import command
from mngr_tmr.model.result import read_claim

__all__ = ["project"]
pytestmark = pytest.mark.slow

PLAYBOOK = [
    {"wait_message": True},
    {"run": "mngr-result check"},
    {"run": "mngr-result try 'as I found it'"},
    {"run": "mngr-result write --outcome unchanged --summary 'Nothing to do.'"},
    {"end_turn": True},
]


@pytest.fixture
def asked(project: Project, monkeypatch: pytest.MonkeyPatch) -> Project:
    """The project with its environment as ours: the command looks around for itself."""
    for name in tuple(os.environ):
        if name.startswith("MNGR_"):
            monkeypatch.delenv(name)
    for name, value in project.world.env.items():
        monkeypatch.setenv(name, value)
    monkeypatch.chdir(project.repo)
    project.commit(
        conftest="",
        tests__test_a="def test_one(): pass\n\ndef test_two(): pass\n",
        other__test_b="def test_x(): pass\n",
    )
    return project


def collect(*words: str) -> Result:
    return CliRunner().invoke(command, words, standalone_mode=False)


@pytest.mark.accept("C1", "X4")
def test_one_document_for_programs(asked: Project) -> None:
    found = json.loads(collect("tests", "--name", "r7", "--json", "--", "-k", "not two").stdout)
    assert (found["schema"], found["run"], found["base"]) == (1, "r7", asked.head())
    assert found["command"][-5:] == ["--collect-only", "-q", "tests", "-k", "not two"]
    (test,) = found["tests"]
    assert (test["node_id"], test["file"], test["line"]) == (
        "tests/test_a.py::test_one",
        "tests/test_a.py",
        1,
    )
    assert test["agent"] == f"tmr-r7-{test['slug']}"
    assert test["branch"] == f"tmr/r7/{test['slug']}"


@pytest.mark.accept("C2", "C5")
def test_what_cannot_be_collected_is_an_error_with_its_own_exit_code(asked: Project) -> None:
    for words, code in (("nowhere",), 1), (("tests", "--", "-k", "nothing"), 1), (("--base", "no-such"), 2):
        error = collect(*words).exception
        assert isinstance(error, mngr.MngrError), words
        assert error.exit_code == code
    asked.write(tests__test_new="def test_three(): pass\n")
    error = collect("tests").exception
    assert isinstance(error, mngr.RefusedError)
    assert "tests/test_new.py" in error.message


@pytest.mark.accept("K2", "X1", "X4", "M1", "M4", "C3", "M9")
def test_the_lines_are_agents_that_hand_over_results(asked: Project, tmp_path: Path) -> None:
    playbook = tmp_path / "playbook.json"
    playbook.write_text(json.dumps(PLAYBOOK))
    lines = collect("tests", "--name", "r8", "--label", "team=a").stdout
    made = mngr_("create", "-", "--type", "scripted", "--json", "--", str(playbook), stdin=lines)
    agents = [json.loads(line) for line in made.splitlines()]
    assert {agent["test"] for agent in agents} == {"tests/test_a.py::test_one", "tests/test_a.py::test_two"}
    assert all(agent["base_commit"] == asked.head() and agent["transfer"] == "mirror" for agent in agents)
    assert all(agent["labels"]["team"] == "a" and agent["labels"]["tmr.run"] == "r8" for agent in agents)
    waited = mngr_("wait", "-", "--until", "result", "--timeout", "120s", "--json", stdin=made)
    mngr_("pull", "-", "--outbox", "--to", str(tmp_path / "results"), stdin=waited)
    for agent in agents:
        data = (tmp_path / "results" / agent["name"] / "result.json").read_bytes()
        claim = read_claim(data, agent["test"])
        assert claim.result is not None
        assert claim.problem == ""
        assert claim.result.passed_before is True
    mngr_("destroy", "-", "--yes", stdin=waited)


def mngr_(*words: str, stdin: str) -> str:
    env = OnlyEnv(dict(os.environ))
    done = run([*ARGV, *words], stdin=stdin.encode(), timeout_s=180, env=env)
    assert done.code == 0, (words, done)
    return done.text
