"""The orchestrator's own verdicts: real suites, real commits, fresh copies, and nothing left of them."""

import os
import sys
from pathlib import Path

import msgspec
import pytest
from tests.support.world import LEAN_FLAGS
from tests.tmr.project import PYTHON, Project

import mngr
from mngr.process import run as run_program
from mngr_tmr.collect.collect import collect
from mngr_tmr.copies.copies import Copies
from mngr_tmr.copies.copy import destroy_copies, open_copy
from mngr_tmr.model.run import RunOptions, RunSpec
from mngr_tmr.model.task import make_task
from mngr_tmr.model.verdict import Verified
from mngr_tmr.verify.verify import measure_base, verify

pytestmark = pytest.mark.slow

QUICK = RunOptions(verify_deadline_s=120.0, verify_runs=1)
APP = "def greet(name='you'): return 'hello ' + name\n"
WRONG_APP = "def greet(name='you'): return 'hello'\n"
TESTS = "from app import greet\n\ndef test_greets(): assert greet() == 'hello you'\n"
ROOT = ""
GREETS = "tests/test_app.py::test_greets"


def collected(project: Project, *args: str, options: RunOptions = QUICK) -> RunSpec:
    spec = project.run(*args, options=options)
    return msgspec.structs.replace(spec, tasks=collect(spec, manager=project.manager).tasks)


def chosen(
    project: Project, *node_ids: str, args: tuple[str, ...] = (), options: RunOptions = QUICK
) -> RunSpec:
    """A run whose tests are known, where how they are collected is no question; `collected` costs a copy more."""
    tasks = tuple(map(make_task, node_ids))
    return msgspec.structs.replace(project.run(*args, options=options), tasks=tasks)


def verdicts(measured: dict[str, Verified]) -> dict[str, str]:
    return {node_id.rpartition("::")[2]: one.verdict for node_id, one in measured.items()}


@pytest.mark.accept("M15")
def test_every_way_a_test_can_go_has_its_verdict(project: Project) -> None:
    project.commit(
        conftest="""
            import pytest
            @pytest.fixture
            def broken(): raise RuntimeError("no such thing")
            @pytest.fixture
            def untidy():
                yield
                raise RuntimeError("left a mess")
        """,
        tests__test_all="""
            import os, pytest
            def test_passes(): pass
            def test_fails(): assert 1 == 2, "numbers differ"
            @pytest.mark.skip(reason="not today")
            def test_skips(): pass
            @pytest.mark.xfail
            def test_expected(): assert 0
            @pytest.mark.xfail(strict=True)
            def test_surprise(): pass
            def test_setup(broken): pass
            def test_teardown(untidy): pass
            def test_ends_the_process(): os._exit(9)
            def test_after_it(): pass
        """,
    )
    measured = measure_base(collected(project), manager=project.manager)
    assert verdicts(measured) == {
        "test_passes": "passed",
        "test_fails": "failed",
        "test_skips": "skipped",
        "test_expected": "skipped",
        "test_surprise": "failed",
        "test_setup": "error",
        "test_teardown": "error",
        "test_ends_the_process": "error",
        "test_after_it": "passed",
    }
    reasons = {node_id.rpartition("::")[2]: one.reason for node_id, one in measured.items()}
    assert "numbers differ" in reasons["test_fails"]
    assert "no such thing" in reasons["test_setup"]
    assert "did not come to its end" in reasons["test_ends_the_process"]


@pytest.mark.accept("M15")
@pytest.mark.parametrize("transfer", ["mirror", "worktree"])
def test_a_fix_is_seen_at_its_commit_in_a_copy_that_is_gone_afterwards(
    project: Project, transfer: str
) -> None:
    base = project.commit(app=WRONG_APP, conftest=ROOT, tests__test_app=TESTS)
    spec = collected(project, options=RunOptions(verify_deadline_s=120.0, transfer=transfer))
    project.commit(app=APP, tests__test_more=TESTS, tests__test_app=TESTS + "def test_new(): pass\n")
    tip = project.head()
    project.world.git("reset", "-q", "--hard", base)
    (task,) = spec.tasks
    before = measure_base(spec, manager=project.manager)[task.node_id]
    after = verify(spec, task, tip, manager=project.manager)
    assert (before.verdict, before.commit) == ("failed", base)
    assert (after.verdict, after.commit, after.reason) == ("passed", tip, "")
    assert [one.outcome for one in after.runs] == ["passed", "passed"]
    assert after.added == ("tests/test_app.py::test_new", "tests/test_more.py::test_greets")
    assert project.head() == base
    assert mngr.list_agents(manager=project.manager).agents == ()


@pytest.mark.accept("M15")
def test_sometimes_passing_is_flaky_and_never_passed(project: Project) -> None:
    project.commit(
        tests__test_a="""
            import pathlib
            def test_sometimes():
                seen = pathlib.Path.home() / "seen"
                was_there = seen.exists()
                seen.touch()
                assert was_there
        """
    )
    spec = chosen(
        project, "tests/test_a.py::test_sometimes", options=RunOptions(verify_deadline_s=120.0, verify_runs=2)
    )
    found = verify(spec, spec.tasks[0], spec.base, manager=project.manager)
    assert found.verdict == "flaky"
    assert found.reason.startswith("passed 1 of 2 times: ")


@pytest.mark.accept("M15", "Q4")
@pytest.mark.parametrize(
    ("source", "verdict", "said"),
    [
        ("def test_other(): pass\n", "error", "it is not there any more"),
        ("def test_greets(:\n", "error", "SyntaxError"),
        ("import no_such_module\n", "error", "no_such_module"),
        ("import pytest\npytest.skip('gone', allow_module_level=True)\n", "error", "not there any more"),
        (None, "error", "it is not there any more"),
    ],
)
def test_a_test_that_was_taken_away_or_broken_is_no_pass(
    project: Project, source: str | None, verdict: str, said: str
) -> None:
    base = project.commit(app=APP, conftest=ROOT, tests__test_app=TESTS)
    spec = chosen(project, GREETS)
    if source is None:
        (project.repo / "tests/test_app.py").unlink()
        tip = project.commit()
    else:
        tip = project.commit(tests__test_app=source)
    project.world.git("reset", "-q", "--hard", base)
    found = verify(spec, spec.tasks[0], tip, manager=project.manager)
    assert found.verdict == verdict
    assert said in found.reason + found.runs[0].message
    assert found.added == (("tests/test_app.py::test_other",) if source and "test_other" in source else ())


@pytest.mark.accept("M15")
def test_a_deadline_ends_the_test_with_its_children_and_keeps_what_was_known(project: Project) -> None:
    project.commit(
        tests__test_a="""
            import subprocess, time
            def test_first(): pass
            def test_hangs():
                print("about to hang", flush=True)
                subprocess.Popen(["sleep", "1000"], start_new_session=True)
                time.sleep(1000)
        """
    )
    tests = ("tests/test_a.py::test_first", "tests/test_a.py::test_hangs")
    spec = chosen(project, *tests, args=("-s",), options=RunOptions(verify_deadline_s=25.0, verify_runs=2))
    measured = measure_base(spec, manager=project.manager)
    assert verdicts(measured) == {"test_first": "passed", "test_hangs": "error"}
    hung = measured["tests/test_a.py::test_hangs"].runs[0].message
    assert "its deadline passed" in hung
    assert "about to hang" in hung


@pytest.mark.accept("M17")
def test_an_editable_install_of_the_source_checkout_is_wrong_code(project: Project, tmp_path: Path) -> None:
    base = _editable_project(project, tmp_path)
    spec = chosen(project, GREETS)
    project.commit(src__greeter____init__="def greet(): return 'hello you'\ndef main(): print(greet())\n")
    tip = project.head()
    project.world.git("reset", "-q", "--hard", base)
    for found in (
        verify(spec, spec.tasks[0], tip, manager=project.manager),
        measure_base(spec, manager=project.manager)[spec.tasks[0].node_id],
    ):
        assert found.verdict == "wrong_code"
        assert f"import greeter comes from {project.repo}/src/greeter/__init__.py" in found.reason
        assert f"greet comes from {project.repo}/src/greeter/__init__.py" in found.reason
        assert found.runs == ()


@pytest.mark.accept("M17")
def test_a_setup_that_installs_each_copy_gives_the_right_code(project: Project) -> None:
    base = _greeter(project)
    install = (
        f"{sys.executable} -m venv --without-pip .venv && p=$(echo .venv/lib/python*/site-packages) && "
        f"printf '%s\\n' {' '.join(_our_tools())} >\"$p/tools.pth\" && "
        'echo "$PWD/src" >"$p/own.pth"'
    )
    options = RunOptions(verify_deadline_s=120.0, verify_runs=1, setup=install, programs=())
    pytest_there = (".venv/bin/python", "-m", "pytest", *LEAN_FLAGS)
    spec = msgspec.structs.replace(project.run(options=options), pytest=pytest_there)
    spec = msgspec.structs.replace(spec, tasks=(make_task(GREETS),))
    project.world.env["PATH"] = os.environ["PATH"]
    tip = project.commit(
        src__greeter____init__="def greet(): return 'hello you'\ndef main(): print(greet())\n"
    )
    project.world.git("reset", "-q", "--hard", base)
    assert measure_base(spec, manager=project.manager)[GREETS].verdict == "failed"
    assert verify(spec, spec.tasks[0], tip, manager=project.manager).verdict == "passed"


@pytest.mark.accept("M17")
def test_a_pass_of_a_program_that_nothing_connects_with_the_copy_is_not_verified(
    project: Project, tmp_path: Path
) -> None:
    """Until it is stated: then it is the copy's own by where it lies, or other code."""
    (project.repo / "tool").write_text("#!/bin/sh\necho new\n")
    (project.repo / "tool").chmod(0o755)
    project.commit(
        tests__test_a="""
            import subprocess
            def test_runs(): subprocess.run(["tool"], check=True)
            def test_other(): pass
        """
    )
    programs = tmp_path / "programs"
    programs.mkdir()
    (programs / "tool").write_text("#!/bin/sh\necho old\n")
    (programs / "tool").chmod(0o755)
    project.world.env["PATH"] = f"{programs}:{project.world.env['PATH']}"
    spec = chosen(project, "tests/test_a.py::test_runs", "tests/test_a.py::test_other")
    found = verify(spec, spec.tasks[0], spec.base, manager=project.manager)
    assert found.verdict == "cannot_tell", found
    assert found.reason.startswith(f"the test started tool ({programs}/tool), and nothing shows")
    assert [run.outcome for run in found.runs] == ["passed"]
    assert verdicts(measure_base(spec, manager=project.manager)) == {
        "test_runs": "cannot_tell",
        "test_other": "passed",
    }
    stated = collect(
        project.run(options=msgspec.structs.replace(QUICK, programs=("tool",))), manager=project.manager
    )
    assert stated.wrong_code == f"tool comes from {programs}/tool"


def _greeter(project: Project) -> str:
    """Commits a project whose package and program come from `src`, with a test that fails."""
    (project.repo / "pyproject.toml").write_text(
        '[build-system]\nrequires = ["hatchling"]\nbuild-backend = "hatchling.build"\n'
        '[project]\nname = "greeter"\nversion = "1"\n[project.scripts]\ngreet = "greeter:main"\n'
        '[tool.hatch.build.targets.wheel]\ndev-mode-dirs = ["src"]\n'
    )
    return project.commit(
        src__greeter____init__="def greet(): return 'hello'\ndef main(): print(greet())\n",
        tests__test_app="from greeter import greet\ndef test_greets(): assert greet() == 'hello you'\n",
    )


def _editable_project(project: Project, tmp_path: Path) -> str:
    """A project whose source checkout is installed, really and editably, into the environment on PATH."""
    base = _greeter(project)
    venv = tmp_path / "venv"
    run_program([sys.executable, "-m", "venv", "--without-pip", str(venv)], timeout_s=120).check("venv")
    Path(_site(venv), "tools.pth").write_text("\n".join(_our_tools()))
    pip = [sys.executable, "-m", "pip", "--python", str(venv / "bin/python"), "install", "-q"]
    flags = ["--disable-pip-version-check", "--no-deps", "--no-build-isolation", "--no-index", "-e"]
    run_program([*pip, *flags, str(project.repo)], timeout_s=300).check("pip")
    (venv / "bin/pytest").write_text(f"#!{venv}/bin/python\nimport pytest\nraise SystemExit(pytest.main())\n")
    (venv / "bin/pytest").chmod(0o755)
    project.world.env["PATH"] = f"{venv}/bin:{project.world.env['PATH']}"
    return base


def _our_tools() -> tuple[str, ...]:
    """Where pytest and the plugins of this environment lie."""
    return _site(PYTHON.parent), str(Path(mngr.__file__).parent.parent)


def _site(venv: Path) -> str:
    (site,) = venv.glob("lib/python*/site-packages")
    return str(site)


@pytest.mark.accept("R12", "Q6")
def test_a_copy_sees_the_variables_it_was_given_and_no_other_of_ours(
    project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    project.commit(
        tests__test_a="""
            import os
            def test_env():
                assert os.environ["GIVEN"] == "a b$c"
                assert not [name for name in os.environ if "SECRET" in name or "TMR" in name]
                assert "PYTHONPATH" not in os.environ
        """
    )
    project.world.env["SECRET_TOKEN"] = "x"
    monkeypatch.setenv("SECRET_TOKEN", "x")
    spec = chosen(
        project,
        "tests/test_a.py::test_env",
        options=RunOptions(verify_deadline_s=120.0, verify_runs=1, integrator_env_names=("SECRET_TOKEN",)),
    )
    found = verify(spec, spec.tasks[0], spec.base, env={"GIVEN": "a b$c"}, manager=project.manager)
    assert found.verdict == "passed", found


@pytest.mark.accept("P13", "M11")
def test_what_the_tests_handed_over_comes_home_by_run(project: Project, tmp_path: Path) -> None:
    project.commit(tests__test_a="def test_says(e2e): e2e.run('echo hello', comment='say it')\n")
    spec = chosen(project, "tests/test_a.py::test_says")
    found = verify(spec, spec.tasks[0], spec.base, artifacts=str(tmp_path / "home"), manager=project.manager)
    assert found.verdict == "passed", found
    (transcript,) = (tmp_path / "home").glob("*/artifacts/verify-1/*/attempt-1/transcript.txt")
    assert "$ echo hello" in transcript.read_text()


@pytest.mark.accept("Q4", "Q5")
@pytest.mark.parametrize("transfer", ["mirror", "worktree"])
def test_a_test_that_commits_and_lies_in_our_file_changes_nothing_of_ours(
    project: Project, transfer: str
) -> None:
    before = project.commit(
        tests__test_a="""
            import glob, subprocess
            def test_bad():
                git = ["git", "-c", "user.name=n", "-c", "user.email=n@x"]
                subprocess.run([*git, "commit", "-q", "--allow-empty", "-m", "mine"], check=True)
                subprocess.run([*git, "checkout", "-q", "--detach"], check=True)
                for path in glob.glob("/tmp/mngr-result-*/facts.jsonl"):
                    with open(path, "ab") as file:
                        file.write(b"\\xff garbage\\n{}\\n[]\\n" + b'{"kind":"origin","path":3}\\n')
                assert False, "it was bad"
        """
    )
    options = RunOptions(verify_deadline_s=120.0, verify_runs=1, transfer=transfer)
    spec = chosen(project, "tests/test_a.py::test_bad", options=options)
    found = verify(spec, spec.tasks[0], spec.base, manager=project.manager)
    assert found.verdict == "failed"
    assert project.head() == before


@pytest.mark.accept("M15")
def test_a_setup_that_fails_is_an_error_of_ours_and_leaves_nothing(project: Project) -> None:
    project.commit(tests__test_a="def test_one(): pass\n")
    options = RunOptions(setup="echo no such package >&2; exit 3")
    spec = msgspec.structs.replace(
        project.run(options=options), tasks=(make_task("tests/test_a.py::test_one"),)
    )
    with pytest.raises(mngr.MngrError, match="no such package"):
        verify(spec, spec.tasks[0], spec.base, manager=project.manager)
    assert mngr.list_agents(manager=project.manager).agents == ()


@pytest.mark.accept("M15")
def test_an_exception_while_a_copy_is_open_destroys_it(project: Project) -> None:
    spec = project.run()
    with pytest.raises(ZeroDivisionError), open_copy(spec, spec.base, manager=project.manager):
        raise ZeroDivisionError
    with pytest.raises(ZeroDivisionError), Copies(spec, manager=project.manager) as copies:
        copies.at(spec.base).command(str(1 // 0), 1)
    assert mngr.list_agents(manager=project.manager).agents == ()


@pytest.mark.accept("Q1")
def test_copies_of_a_killed_run_are_found_by_their_label(project: Project) -> None:
    spec = project.run()
    killed = Copies(spec, manager=project.manager)
    killed.at(spec.base)
    other = msgspec.structs.replace(spec, id="r2")
    with Copies(other, manager=project.manager) as copies:
        copies.at(spec.base)
        assert destroy_copies("r1", project.manager) == 1
        assert len(mngr.list_agents(manager=project.manager).agents) == 1
    assert destroy_copies("r1", project.manager) == 0


@pytest.mark.accept("M15")
def test_a_suite_on_several_workers_is_measured_all_the_same(project: Project) -> None:
    project.commit(
        tests__test_a="import pytest\n@pytest.mark.parametrize('n', range(4))\ndef test_n(n): assert n != 2\n"
    )
    spec = collected(project, "-n", "2", "-x")
    measured = measure_base(spec, manager=project.manager)
    assert list(verdicts(measured).values()) == ["passed", "passed", "failed", "passed"]
    one = verify(spec, spec.tasks[1], spec.base, manager=project.manager)
    assert (one.verdict, len(one.runs)) == ("passed", 1)


@pytest.mark.accept("Z2")
def test_a_component_in_a_folder_of_its_own_is_verified_there(project: Project) -> None:
    (project.repo / "part one/tests").mkdir(parents=True)
    (project.repo / "part one/pytest.ini").write_text("[pytest]\n")
    (project.repo / "part one/tests/test_a.py").write_text("def test_one(): open('pytest.ini').close()\n")
    base = project.commit()
    spec = project.run("tests", folder="part one", options=QUICK)
    spec = msgspec.structs.replace(spec, tasks=collect(spec, manager=project.manager).tasks)
    (project.repo / "part one/tests/test_b.py").write_text("def test_two(): pass\n")
    tip = project.commit()
    project.world.git("reset", "-q", "--hard", base)
    found = verify(spec, spec.tasks[0], tip, manager=project.manager)
    assert (found.verdict, found.added) == ("passed", ("tests/test_b.py::test_two",))
