"""What speaks for and against each fix: old and new test on old and new code, and what goes red without it."""

import re
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest
from tests.tmr.integrate.scene import Scene, Untried, Work

from mngr_tmr.integrate.integrate import integrate
from mngr_tmr.model.integration import FixWitness, Integration
from mngr_tmr.model.verdict import TestRun

APP = "VALUE = 1\n\n\ndef other():\n    return 1\n"
TEST = "import app\n\n\ndef test_a():\n    assert app.VALUE == 2\n"
GOOD, EASY = APP.replace("VALUE = 1", "VALUE = 2"), TEST.replace("== 2", ">= 1")
FILES = {"app.py": APP, "tests/test_a.py": TEST}


class Evaluating(Untried):
    """A world that runs what the test file says about app.VALUE, without a process."""

    def __init__(self, scene: Scene) -> None:
        super().__init__(scene)
        self._scene = scene

    def run_tests(self, commit: str, node_ids: Sequence[str]) -> tuple[TestRun, ...]:
        value = int(re.findall(r"VALUE = (\d+)", self._scene.show(commit, "app.py"))[0])
        wanted = re.findall(r"VALUE (==|>=) (\d+)", self._scene.show(commit, "tests/test_a.py"))
        passes: dict[str, Callable[[int], bool]] = {"==": value.__eq__, ">=": value.__ge__}
        is_green = all(passes[op](int(number)) for op, number in wanted)
        return tuple(TestRun(node_id, "passed" if is_green else "failed") for node_id in node_ids)


@pytest.fixture
def scene(tmp_path: Path) -> Scene:
    return Scene(tmp_path, FILES)


def tried(scene: Scene) -> Integration:
    return integrate(scene.run, scene.records, runner=Evaluating(scene))


@pytest.mark.accept("R16", "R13")
def test_an_honest_fix_is_witnessed_and_needed(scene: Scene) -> None:
    better = TEST + "    assert app.VALUE >= 2\n"
    record = scene.agent("test_a.py::test_a", Work("two", {"app.py": GOOD, "tests/test_a.py": better}))
    fix = tried(scene).fixes[0]
    assert fix.witness == FixWitness(False, True, False, True)
    assert fix.needed_by == (record.task.node_id,)
    assert fix.doubts == ()


@pytest.mark.accept("R16", "R17")
def test_a_fix_whose_test_was_made_easier_is_doubted(scene: Scene) -> None:
    record = scene.agent(
        "test_a.py::test_a",
        Work("easy", {"tests/test_a.py": EASY}),
        Work("something", {"app.py": APP.replace("return 1", "return 2")}),
    )
    done = tried(scene)
    assert done.fixes[0].witness == FixWitness(False, False, True, True)
    assert done.fixes[0].needed_by == ()
    assert "its changed test passes without it" in done.fixes[0].doubts[0]
    weaker = done.weakenings[0]
    assert (weaker.kind, weaker.test, weaker.tasks) == ("weakened", "test_a", (record.task.slug,))
    assert (weaker.before, weaker.after) == ("app.VALUE == 2", "app.VALUE >= 1")


@pytest.mark.accept("R16")
def test_a_change_that_no_test_needs_is_doubted(scene: Scene) -> None:
    scene.agent(
        "test_a.py::test_a", Work("more", {"app.py": APP.replace("return 1", "return 2")}), before="passed"
    )
    done = integrate(scene.run, scene.records, runner=Untried(scene))
    assert done.fixes[0].witness == FixWitness(True, True, True, True)
    assert "no test of its task needs it" in done.fixes[0].doubts[0]


@pytest.mark.accept("R13")
def test_a_test_without_a_fix_of_its_own_names_the_fix_it_needs(scene: Scene) -> None:
    scene.agent("test_a.py::test_a", Work("two", {"app.py": GOOD}))
    leaning = scene.agent(
        "test_a.py::test_b", Work("words", {"tests/test_a.py": TEST.replace("test_a", "test_b")})
    )
    done = tried(scene)
    assert leaning.task.node_id in done.fixes[0].needed_by


@pytest.mark.accept("R18")
def test_a_new_option_is_flagged_on_its_fix(scene: Scene) -> None:
    text = GOOD + "\n\nparser.add_argument('--quiet')\n"
    scene.agent("test_a.py::test_a", Work("two", {"app.py": text}))
    fix = tried(scene).fixes[0]
    assert fix.surface == ("option --quiet",)
    assert "it adds public surface: option --quiet" in fix.doubts


@pytest.mark.accept("R17")
def test_a_skipped_test_cannot_come_in_as_a_passing_one(scene: Scene) -> None:
    skipped = TEST.replace("def test_a", "@pytest.mark.skip\ndef test_a")
    scene.agent("test_a.py::test_a", Work("skip", {"tests/test_a.py": skipped}), before="passed")
    scene.agent("test_b.py::test_b", before="passed")
    done = integrate(scene.run, scene.records, runner=Untried(scene))
    assert [found.kind for found in done.weakenings] == ["skipped"]
