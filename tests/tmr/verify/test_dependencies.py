"""What a test reads is seen, whoever reads it: in pytest's process, in a shell, in a program of a program."""

from pathlib import Path

import pytest
from msgspec.structs import replace
from tests.tmr.project import Project

from mngr_tmr.copies.copy import PytestResult
from mngr_tmr.copies.facts import Observed, PytestFacts, Reads
from mngr_tmr.model.dependencies import Dependencies, packed
from mngr_tmr.model.run import RunOptions
from mngr_tmr.model.task import Task, make_task
from mngr_tmr.verify.dependencies import LONGEST_PATH, MOST_PATHS, dependencies_of
from mngr_tmr.verify.verify import measure_base, verify

CHILDREN = """
    import os, subprocess, sys
    from pathlib import Path

    DATA = Path(__file__).parent.parent / "data"

    def run(*words, **more):
        subprocess.run(words, check=True, stdout=-1, **more)

    def test_nothing(): assert (DATA / "nothing").exists()
    def test_shell(): run("sh", "-c", f"cat '{DATA}/shell'")
    def test_copied(tmp_path): run("cp", DATA / "copied", tmp_path)
    def test_program(): run(DATA / "program")
    def test_folder(): run("ls", DATA / "folder")
    def test_git(): run("git", "log", "-1")
    def test_grandchild():
        run("sh", "-c", f"'{sys.executable}' -c 'open(\\"{DATA}/grandchild\\").read()'", env={})

    def module(): run(sys.executable, "-c", "import module", env={"PYTHONPATH": str(DATA)})
    def test_compiles(): module()
    def test_uses_what_was_compiled(): module()
"""
SHARED = """
    import subprocess
    import pytest

    @pytest.fixture(scope="module")
    def wide():
        subprocess.run(["cat", "data/wide"], check=True)

    @pytest.fixture(scope="module")
    def server():
        program = "read line; cat data/served; sleep 600"
        return subprocess.Popen(program, shell=True, stdin=-1, stdout=-1)

    def test_imports_late(): import late
    def test_of_a_fixture(wide): pass
    def test_asks(server):
        server.stdin.write(b"go\\n")
        server.stdin.flush()
        assert server.stdout.readline() == b"served\\n"
    def test_after(): import late
"""
FILES = ("nothing", "shell", "copied", "grandchild", "wide", "served", "folder/file", "program", "module.py")


def commit(project: Project, **tests: str) -> None:
    for name in FILES:
        path = Path(project.repo, "data", name)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text({"program": "#!/bin/sh\n", "served": "served\n"}.get(name, ""))
    Path(project.repo, "data/program").chmod(0o755)
    project.commit(late="", conftest="", **{f"tests__{name}": text for name, text in tests.items()})


def tasks(file: str, text: str) -> tuple[Task, ...]:
    names = [
        line.split("(")[0].split()[-1] for line in text.split("\n") if line.strip().startswith("def test_")
    ]
    return tuple(make_task(f"tests/{file}.py::{name}") for name in names)


def seen(needs: Dependencies | None) -> set[str]:
    assert needs is not None
    assert needs.everything == ""
    return {path.removeprefix("data/") for path in needs.files} - {"conftest.py"}


@pytest.mark.slow
@pytest.mark.accept("O11")
def test_each_test_depends_on_what_it_and_its_programs_read(project: Project) -> None:
    """Also where all of them run in one process; what may stay in memory counts for those that follow."""
    commit(project, test_children=CHILDREN, test_shared=SHARED)
    suite = (*tasks("test_children", CHILDREN), *tasks("test_shared", SHARED))
    run = replace(project.run("tests", options=RunOptions(verify_runs=1)), tasks=suite)
    measured = measure_base(run, manager=project.manager)
    assert {one.verdict for one in measured.values()} == {"passed"}, measured
    found = {node_id.rpartition("::")[2]: one.dependencies for node_id, one in measured.items()}
    # Tests of the other file import `late` into the process of all; what a wide fixture or a server read lives on.
    everywhere = {"late.py", "wide", "served"}
    own = {
        "test_nothing": set(),
        "test_shell": {"shell"},
        "test_copied": {"copied"},
        "test_program": {"program"},
        "test_folder": set(),
        "test_git": {".git/HEAD"},
        "test_grandchild": {"grandchild"},
        "test_compiles": {"module.py"},
        "test_uses_what_was_compiled": {"module.py"},
    }
    for name, files in own.items():
        assert seen(found[name]) == {"tests/test_children.py", *everywhere, *files}, name
    assert everywhere <= seen(found["test_after"])
    assert "tests/test_children.py" not in seen(found["test_after"])
    listed = found["test_folder"]
    assert listed
    assert "data/folder" in listed.folders
    assert packed({"x": listed}).unpacked() == {"x": listed}

    (late,) = (task for task in suite if task.node_id.endswith("late"))
    alone = verify(run, late, run.base, manager=project.manager)
    assert seen(alone.dependencies) == {"tests/test_shared.py", "late.py"}


@pytest.mark.slow
@pytest.mark.accept("O11")
def test_files_that_tests_leave_carry_what_was_read_into_others(project: Project) -> None:
    text = """
        import shutil
        def test_builds(): shutil.copy("data/copied", "built")
        def test_uses(): assert open("built")
    """
    commit(project, test_build=text)
    suite = tasks("test_build", text)
    run = replace(project.run("tests", options=RunOptions(verify_runs=1)), tasks=suite)
    measured = measure_base(run, manager=project.manager)
    assert "copied" in seen(measured["tests/test_build.py::test_uses"].dependencies)


SEEN = Observed()
ALL, OWN, OTHER = (
    Reads("", ("conftest.py",), (), ("",)),
    Reads("t.py::a", ("a",), ("x",)),
    Reads("t.py::b", ("b",)),
)
FACTS = PytestFacts(reads=(ALL, OWN, OTHER), observed=SEEN, environment="e")


def needs_of(*facts: PytestFacts, setup: str = "") -> Dependencies | None:
    return dependencies_of([PytestResult(0, "", one) for one in facts], "t.py::a", "t.py", setup=setup)


def test_several_runs_add_up() -> None:
    assert needs_of(FACTS) == Dependencies(("a", "conftest.py", "t.py"), ("x",), ("",), "", "e")
    again = replace(FACTS, reads=(ALL, Reads("t.py::a", ("c",))))
    both = needs_of(FACTS, again)
    assert both
    assert both.files == ("a", "c", "conftest.py", "t.py")
    mixed = needs_of(replace(FACTS, observed=Observed(mixed=True)))
    assert mixed
    assert "b" in mixed.files


@pytest.mark.parametrize(
    "facts",
    [
        replace(FACTS, observed=None),
        replace(FACTS, environment=""),
        replace(FACTS, reads=(OWN,)),
    ],
    ids=["not to the end", "another Python", "nothing of all tests"],
)
def test_a_run_that_does_not_tell_is_unknown(facts: PytestFacts) -> None:
    assert needs_of(facts) is None
    assert needs_of(FACTS, facts) is None
    assert needs_of(FACTS, replace(FACTS, environment="another")) is None


@pytest.mark.parametrize(
    ("facts", "setup", "why"),
    [
        (replace(FACTS, observed=Observed("no access times")), "", "no access times"),
        (FACTS, "make", "a setup made files"),
        (replace(FACTS, reads=(ALL, replace(OWN, files=("x" * (LONGEST_PATH + 1),)))), "", "too many"),
        (replace(FACTS, reads=(ALL, replace(OWN, files=("x",) * (MOST_PATHS + 1)))), "", "too many"),
    ],
)
def test_where_reading_cannot_be_seen_everything_counts(facts: PytestFacts, setup: str, why: str) -> None:
    needs = needs_of(facts, setup=setup)
    assert needs
    assert why in needs.everything
    assert sum(map(len, needs.files)) < 100


@pytest.mark.slow
@pytest.mark.accept("O11")
def test_where_workers_run_tests_beside_each_other_all_reading_counts_for_all(project: Project) -> None:
    text = """
        import subprocess
        def test_one(): subprocess.run(["cat", "data/shell"], check=True)
        def test_two(): assert open("data/copied").read() == ""
    """
    commit(project, test_both=text)
    suite = tasks("test_both", text)
    run = replace(project.run("tests", "-n", "2", options=RunOptions(verify_runs=1)), tasks=suite)
    measured = measure_base(run, manager=project.manager)
    for one in measured.values():
        assert {"shell", "copied", "tests/test_both.py"} <= seen(one.dependencies)
