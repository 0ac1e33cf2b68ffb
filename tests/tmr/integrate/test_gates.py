"""The integrated tree is tried: what breaks it is found, dropped and named. Real pytest in real folders."""

import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

import msgspec
import pytest
from msgspec.structs import replace
from tests.tmr.integrate.scene import Scene, Untried, Work

from mngr_tmr.integrate.gates.local_runner import LocalRunner
from mngr_tmr.integrate.gates.runner import Collection
from mngr_tmr.integrate.integrate import integrate
from mngr_tmr.model.integration import Integration
from mngr_tmr.model.measured import count, headline
from mngr_tmr.model.verdict import TestRun

APP = """\
def add(a, b):
    return a - b


def double(a):
    return a + a


def name():
    return "app"
"""
TESTS = """\
import app


def test_add():
    assert app.add(1, 2) == 3


def test_double():
    assert app.double(2) == 4


def test_name():
    assert app.name() == "app"
"""
FILES = {
    "app.py": APP,
    "conftest.py": "import os, sys\nsys.path.insert(0, os.path.dirname(__file__))\n",
    "tests/test_app.py": TESTS,
}
ADD, DOUBLE, NAME = (f"test_app.py::test_{name}" for name in ("add", "double", "name"))
FIXED = APP.replace("a - b", "a + b")

pytestmark = pytest.mark.slow


@pytest.fixture
def scene(tmp_path: Path) -> Scene:
    return Scene(tmp_path, FILES)


def tried(scene: Scene) -> Integration:
    quick = (
        "env",
        "PYTEST_DISABLE_PLUGIN_AUTOLOAD=1",
        sys.executable,
        "-m",
        "pytest",
        "-p",
        "no:cacheprovider",
    )
    run = replace(scene.run, pytest=quick)
    with LocalRunner(run) as runner:
        return integrate(run, scene.records, runner=runner)


def with_tests(scene: Scene, text: str) -> Scene:
    """The scene with other tests in its base."""
    folder = scene.repo.parent / "more"
    folder.mkdir()
    return Scene(folder, {**FILES, "tests/test_app.py": text})


def why(done: Integration, slug: str) -> Iterator[str]:
    return (account.why for account in done.accounts if account.task == slug and account.kind == "excluded")


@pytest.mark.accept("R10")
def test_what_is_green_passes_every_gate(scene: Scene) -> None:
    scene.options = replace(scene.options, lint=f"{sys.executable} -m compileall -q app.py")
    scene.agent(ADD, Work("add adds", {"app.py": FIXED}))
    scene.agent(DOUBLE, before="passed")
    scene.agent(NAME, before="passed")
    done = tried(scene)
    assert [(gate.name, gate.passed) for gate in done.gates] == [
        ("collection", True),
        ("lint", True),
        ("added tests", True),
        ("affected tests", True),
        ("suite", True),
    ]
    assert done.gates[-1].detail == "3 pass"
    assert [fix.title for fix in done.fixes] == ["add adds"]


@pytest.mark.accept("R10", "R7", "R8")
def test_a_fix_that_breaks_another_test_is_dropped_and_named(scene: Scene) -> None:
    scene.agent(ADD, Work("add adds", {"app.py": FIXED}), importance=1)
    breaker = scene.agent(
        "test_app.py::test_other",
        Work("rename", {"app.py": APP.replace('"app"', '"application"')}),
        importance=5,
    )
    scene.records[-1] = replace(breaker, task=replace(breaker.task, node_id="tests/test_app.py::test_double"))
    scene.agent(NAME, before="passed")
    done = tried(scene)
    assert [fix.title for fix in done.fixes] == ["add adds"]
    reasons = list(why(done, breaker.task.slug))
    assert len(reasons) == 1
    assert "tests/test_app.py::test_name is failed" in reasons[0]
    assert all(gate.passed for gate in done.gates)


@pytest.mark.accept("R10")
def test_of_two_that_break_each_other_the_more_needed_stays(scene: Scene) -> None:
    scene.agent(ADD, Work("add adds", {"app.py": FIXED}), importance=5)
    clever = APP.replace("def double(a):\n    return a + a", "def double(a):\n    return -add(-a, a)")
    other = scene.agent(DOUBLE, Work("double by add", {"app.py": clever}), before="passed", importance=1)
    scene.agent(NAME, before="passed")
    done = tried(scene)
    assert [fix.title for fix in done.fixes] == ["add adds"]
    assert "test_double is failed" in next(why(done, other.task.slug))


@pytest.mark.accept("R10")
def test_a_file_that_cannot_be_collected_is_dropped(scene: Scene) -> None:
    scene.agent(ADD, Work("add adds", {"app.py": FIXED}))
    bad = scene.agent(DOUBLE, Work("helper", {"tests/test_more.py": "import nowhere\n"}), before="passed")
    scene.agent(NAME, before="passed")
    done = tried(scene)
    assert [fix.title for fix in done.fixes] == ["add adds"]
    assert not done.squashed
    assert "gate collection" in next(why(done, bad.task.slug))


@pytest.mark.accept("R10")
def test_a_test_that_vanishes_is_a_red_gate(scene: Scene) -> None:
    thief = scene.agent(
        DOUBLE,
        Work("fewer tests", {"tests/test_app.py": TESTS.partition("\n\ndef test_name")[0] + "\n"}),
        before="passed",
    )
    scene.agent(NAME, before="passed")
    done = tried(scene)
    assert done.tip == scene.base
    assert "no longer collected: tests/test_app.py::test_name" in next(why(done, thief.task.slug))


@pytest.mark.accept("R10")
def test_a_lint_command_that_turns_red_finds_its_commit(scene: Scene) -> None:
    scene.options = replace(scene.options, lint="! grep -rn XXX app.py")
    scene.agent(ADD, Work("add adds", {"app.py": FIXED}))
    ugly = scene.agent(DOUBLE, Work("ugly", {"app.py": APP + "# XXX\n"}), before="passed")
    scene.agent(NAME, before="passed")
    done = tried(scene)
    assert [fix.title for fix in done.fixes] == ["add adds"]
    assert "gate lint" in next(why(done, ugly.task.slug))


@pytest.mark.accept("R10")
def test_what_is_red_at_the_base_blames_nobody(scene: Scene) -> None:
    scene.options = replace(scene.options, lint="false")
    scene.agent(DOUBLE, Work("words", {"app.py": APP.replace("a + a", "2 * a")}), before="passed")
    scene.agent(ADD, before="failed")
    done = tried(scene)
    assert [fix.title for fix in done.fixes] == ["words"]
    assert {gate.name: gate.detail for gate in done.gates if not gate.passed} == {
        "lint": "exit code 1:",
        "suite": "2 pass, 1 fails (it failed before)",
    }
    assert any(note.startswith("lint fails, and no change of this run broke it") for note in done.notes)


@pytest.mark.accept("R10")
def test_a_flaky_test_drops_nobody(scene: Scene, tmp_path: Path) -> None:
    coin = tmp_path / "coin"
    flaky = TESTS + (
        "\n\ndef test_coin():\n"
        f"    import pathlib\n    coin = pathlib.Path({str(coin)!r})\n"
        "    there = coin.exists()\n    coin.touch()\n    assert there\n"
    )
    scene.agent(DOUBLE, Work("a coin", {"tests/test_app.py": flaky}), before="passed")
    scene.agent(ADD, before="failed")
    scene.agent(NAME, before="passed")
    done = tried(scene)
    assert done.squashed
    assert any("test_coin is flaky" in note for note in done.notes)
    assert done.added_tests[0]["outcome"] == "flaky"


@pytest.mark.accept("M20", "R10")
@pytest.mark.parametrize("suite", ["", "true"])
def test_all_tests_are_run_at_the_tip_and_told_with_what_they_did_before(scene: Scene, suite: str) -> None:
    """A test that nobody worked on fails before and after; one that is fixed by another's work counts as fixed."""
    more = (
        TESTS
        + "\n\ndef test_three():\n    assert app.add(1, 2) == 3\n\n\ndef test_gone():\n    assert app.gone\n"
    )
    scene = with_tests(scene, more)
    scene.options = replace(scene.options, suite=suite)
    scene.agent(ADD, Work("add adds", {"app.py": FIXED}))
    scene.agent(DOUBLE, before="passed")
    three, gone = (f"test_app.py::test_{name}" for name in ("three", "gone"))
    scene.agent(three, before="failed", after="failed")
    scene.agent(gone, before="failed", after="failed")
    extra = more + "\n\ndef test_extra():\n    assert app.add(2, 2) == 4\n"
    scene.agent(NAME, Work("one more", {"tests/test_app.py": extra}), before="passed")
    done = tried(scene)
    table = {row.test.rpartition("_")[2]: row for row in done.measured}
    assert {name: (row.base.outcome, row.agent.outcome, row.tip.outcome) for name, row in table.items()} == {
        "add": ("failed", "passed", "passed"),
        "double": ("passed", "passed", "passed"),
        "three": ("failed", "failed", "passed"),
        "gone": ("failed", "failed", "failed"),
        "name": ("passed", "passed", "passed"),
        "extra": ("missing", "", "passed"),
    }
    assert "no attribute 'gone'" in table["gone"].tip.reason
    assert headline(done.measured) == "on the branch: 5 pass, 1 fails (it failed before)"
    assert count(done.measured).fixed == 2
    assert [gate.name for gate in done.gates if not gate.passed] == ["all tests" if suite else "suite"]
    needed = {test.rpartition("_")[2] for test in done.fixes[0].needed_by}
    assert needed == {"add", "three", "extra"}
    assert done.fixes[0].reason.startswith("3 tests need it; 1 agent made it, its test failed before")
    assert msgspec.json.decode(msgspec.json.encode(done), type=Integration) == done


@pytest.mark.accept("R15", "J2")
def test_added_tests_get_rows_of_their_own(scene: Scene) -> None:
    more = TESTS + "\n\ndef test_double_of_nothing():\n    assert app.double(0) == 0\n"
    node_id = "tests/test_app.py::test_double_of_nothing"
    record = scene.agent(
        DOUBLE, Work("one more", {"tests/test_app.py": more}), before="passed", added=(node_id,)
    )
    scene.agent(ADD, before="failed")
    scene.agent(NAME, before="passed")
    done = tried(scene)
    row = done.added_tests[0]
    assert (row["node_id"], row["by"], row["outcome"]) == (node_id, f"added by {record.task.slug}", "passed")


CITING = """\
import app


def {name}(e2e):
    \"\"\"Tutorial block:
    app --help
    Scope: it.\"\"\"
    assert app.name() == {value!r}
"""
FIXTURE = """

import pytest


@pytest.fixture
def e2e():
    return None
"""


@pytest.mark.accept("R15")
def test_an_added_test_that_fails_or_cites_nothing_is_not_taken(tmp_path: Path) -> None:
    files = {
        **FILES,
        "tutorial.sh": "#!/bin/bash\n\napp --help\n",
        "conftest.py": FILES["conftest.py"] + FIXTURE,
        "tests/test_help.py": CITING.format(name="test_help", value="app"),
    }
    scene = Scene(tmp_path, files)
    scene.tutorial = "tutorial.sh"
    added = {
        "red": (NAME, CITING.format(name="test_red", value="nothing")),
        "uncited": (DOUBLE, "def test_uncited():\n    assert True\n"),
        "good": ("test_help.py::test_help", CITING.format(name="test_good", value="app")),
    }
    slugs = {
        title: scene.agent(test, Work(title, {f"tests/test_{title}.py": text}), before="passed").task.slug
        for title, (test, text) in added.items()
    }
    scene.agent(ADD, before="failed")
    done = tried(scene)
    assert scene.paths(done.squashed) == {"tests/test_good.py"}
    assert "cites no block" in next(why(done, slugs["uncited"]))
    assert "test_red is failed" in next(why(done, slugs["red"]))
    assert [row["cites"] for row in done.added_tests] == [True]
    assert [gate.name for gate in done.gates][1] == "tutorial check"


class Growing(Untried):
    """A world in which the branch has tests that nobody's test files hold: cases from code, and from nowhere."""

    def collect(self, commit: str) -> Collection:
        return Collection(
            (*super().collect(commit).node_ids, "tests/test_a.py::test_a[2]", "gen/x.py::test_x")
        )


@pytest.mark.accept("R15")
def test_a_test_that_nobody_added_blames_nobody(tmp_path: Path) -> None:
    files = {"app.py": APP, "tutorial.sh": "app\n", "tests/test_a.py": "def test_a(): pass\n"}
    scene = Scene(tmp_path, files)
    scene.tutorial = "tutorial.sh"
    scene.agent("test_a.py::test_a", Work("add adds", {"app.py": FIXED}))
    done = integrate(scene.run, scene.records, runner=Growing(scene))
    assert [fix.title for fix in done.fixes] == ["add adds"]
    assert {row["node_id"]: row["cites"] for row in done.added_tests} == {
        "tests/test_a.py::test_a[2]": None,
        "gen/x.py::test_x": False,
    }
    assert any("gen/x.py::test_x fails, and no change" in note for note in done.notes)


class Counted(Untried):
    """A world in which `test_name` passes exactly where the code says "app"."""

    def __init__(self, scene: Scene) -> None:
        super().__init__(scene)
        self._scene, self.looks = scene, 0

    def run_tests(self, commit: str, node_ids: Sequence[str]) -> tuple[TestRun, ...]:
        self.looks += any("test_name" in node_id for node_id in node_ids)
        is_good = '"app"' in self._scene.show(commit, "app.py")
        runs = super().run_tests(commit, node_ids)
        return tuple(
            run if is_good or "name" not in run.node_id else replace(run, outcome="failed") for run in runs
        )


@pytest.mark.accept("R10")
def test_bisecting_takes_a_logarithm_of_looks(tmp_path: Path) -> None:
    app = APP + "".join(f"\n\nV{number} = {number}\n" for number in range(32))
    scene = Scene(tmp_path, {**FILES, "app.py": app})
    for number in range(32):
        text = app.replace(f"V{number} = {number}\n", f"V{number} = {number}0\n")
        if number == 11:
            text = text.replace('"app"', '"application"')
        scene.agent(f"test_x.py::test_{number}", Work(f"fix {number}", {"app.py": text}))
    scene.agent(NAME, before="passed")
    world = Counted(scene)
    done = integrate(scene.run, scene.records, runner=world)
    assert [fix.title for fix in done.fixes] == [f"fix {n}" for n in sorted(range(32), key=str) if n != 11]
    assert world.looks <= 20
