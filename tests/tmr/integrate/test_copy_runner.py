"""The gates' questions, answered in copies made with create."""

from collections.abc import Iterator

import pytest
from tests.tmr.project import Project, project

import mngr
from mngr_tmr.integrate.gates.copy_runner import CopyRunner
from mngr_tmr.integrate.gates.runner import Runner
from mngr_tmr.model.run import RunOptions, RunSpec
from mngr_tmr.model.task import make_task

__all__ = ["project"]
pytestmark = pytest.mark.slow

TESTS = "import pytest\ndef test_one(): pass\ndef test_two(): assert 0\n@pytest.mark.skip\ndef test_three(): pass\n"


def spec(project: Project, *args: str) -> RunSpec:
    run = project.run(*args, options=RunOptions(verify_deadline_s=120.0))
    names = ("test_one", "test_two", "test_three")
    tasks = tuple(make_task(f"tests/test_a.py::{name}") for name in names)
    return RunSpec(run.id, run.repo, run.base, 0.0, tasks, run.pytest, args, options=run.options)


@pytest.fixture
def runner(project: Project) -> Iterator[CopyRunner]:
    project.commit(tests__test_a=TESTS)
    with CopyRunner(spec(project, "tests"), manager=project.manager) as runner:
        yield runner
    assert mngr.list_agents(manager=project.manager).agents == ()


@pytest.mark.accept("R10")
def test_tests_are_collected_and_run_at_a_commit_that_no_branch_holds(
    project: Project, runner: CopyRunner
) -> None:
    asked: Runner = runner
    tree = project.world.git("rev-parse", "HEAD^{tree}").strip()
    dangling = project.world.git("commit-tree", "-m", "dangling", "-p", "HEAD", tree).strip()
    collection = asked.collect(dangling)
    assert collection.error == ""
    assert [node_id.rpartition("::")[2] for node_id in collection.node_ids] == [
        "test_one",
        "test_two",
        "test_three",
    ]
    wanted = [*reversed(collection.node_ids), "tests/test_a.py::test_gone", "tests/test_gone.py::test_x"]
    outcomes = [run.outcome for run in asked.run_tests(dangling, wanted)]
    assert outcomes == ["skipped", "failed", "passed", "missing", "missing"]
    assert len(mngr.list_agents(manager=project.manager).agents) == 1
    assert asked.run_tests(dangling, ()) == ()


@pytest.mark.accept("R15")
def test_tests_that_the_run_did_not_select_are_run_when_named(project: Project, runner: CopyRunner) -> None:
    tip = project.commit(more__test_b="def test_added(): pass\n")
    runs = runner.run_tests(tip, ("more/test_b.py::test_added", "tests/test_a.py::test_one"))
    assert [(run.node_id.rpartition("::")[2], run.outcome) for run in runs] == [
        ("test_added", "passed"),
        ("test_one", "passed"),
    ]


@pytest.mark.accept("R10")
def test_a_command_runs_in_the_copy_and_shows_its_output(project: Project, runner: CopyRunner) -> None:
    ran = runner.run_command(project.head(), "ls tests; echo oh >&2; exit 3")
    assert (ran.code, ran.output) == (3, "test_a.py\noh\n")


@pytest.mark.accept("R10")
def test_what_cannot_be_collected_is_said(project: Project, runner: CopyRunner) -> None:
    tip = project.commit(tests__test_a="import no_such_module\n")
    assert "no_such_module" in runner.collect(tip).error
    assert runner.run_tests(tip, ("tests/test_a.py::test_one",))[0].outcome == "error"


def test_only_a_few_copies_stay_open(project: Project, runner: CopyRunner) -> None:
    commits = [project.commit(f"commit {number}") for number in range(6)]
    for commit in commits:
        assert runner.run_command(commit, "git rev-parse HEAD").output.strip() == commit
    assert len(mngr.list_agents(manager=project.manager).agents) == 4
    assert runner.run_command(commits[0], "git rev-parse HEAD").output.strip() == commits[0]
