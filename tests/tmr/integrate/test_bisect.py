"""Who is blamed for a red check: the first to break it, and of two that cannot live together the less needed."""

from collections.abc import Callable
from pathlib import Path

import pytest
from tests.tmr.integrate.scene import Scene, Work

from mngr_tmr.git import Repository
from mngr_tmr.integrate.branch.builder import BranchBuilder
from mngr_tmr.integrate.branch.plan import make_plan
from mngr_tmr.integrate.gates.bisect import find_culprits
from mngr_tmr.integrate.gates.checks import BranchCheck
from mngr_tmr.integrate.integrate import prepare

pytestmark = pytest.mark.accept("R10")
FILES = {"a.py": "a = 1\n", "b.py": "b = 1\n", "c.py": "c = 1\n", "tests/t.py": "t = 1\n"}


@pytest.fixture
def scene(tmp_path: Path) -> Scene:
    return Scene(tmp_path, FILES)


def blamed(scene: Scene, is_green: Callable[[set[str]], bool], owner: str = "") -> tuple[str, ...]:
    """Who is to blame when a commit is green for some sets of changed files."""
    repo = Repository(str(scene.repo), 0)
    plan = make_plan(prepare(repo, scene.run, scene.records).changes)

    def problem(commit: str) -> str:
        changed = {path for path in FILES if scene.show(commit, path) != FILES[path]}
        return "" if is_green(changed) else "red"

    return find_culprits(
        BranchBuilder(repo, scene.base), scene.base, plan, BranchCheck("check", problem, owner=owner)
    )


def change(scene: Scene, name: str, *paths: str, importance: int = 3) -> str:
    works = [Work(path, {path: "changed\n"}) for path in paths]
    return scene.agent(f"test_{name}.py::test_{name}", *works, importance=importance).task.slug


def test_of_a_task_with_several_pieces_only_the_guilty_one_is_blamed(scene: Scene) -> None:
    change(scene, "innocent", "b.py")
    guilty = change(scene, "guilty", "a.py", "c.py", "tests/t.py")
    assert blamed(scene, lambda changed: "a.py" not in changed) == (f"{guilty}/fix-1",)
    assert blamed(scene, lambda changed: "c.py" not in changed) == (f"{guilty}/fix-2",)
    assert blamed(scene, lambda changed: "tests/t.py" not in changed) == (f"{guilty}/others",)


def test_a_fix_that_breaks_a_test_is_blamed_before_the_test_that_came_with_it(scene: Scene) -> None:
    guilty = change(scene, "guilty", "a.py", "tests/t.py")
    assert blamed(scene, lambda changed: not {"a.py", "tests/t.py"} & changed) == (f"{guilty}/fix-1",)


@pytest.mark.parametrize("importance", [1, 5])
def test_of_two_that_cannot_live_together_the_less_needed_is_blamed(scene: Scene, importance: int) -> None:
    owner = change(scene, "owner", "a.py", importance=importance)
    other = change(scene, "other", "b.py", importance=3)
    change(scene, "bystander", "c.py", importance=2)
    guilty = owner if importance == 1 else other
    found = blamed(scene, lambda changed: "a.py" in changed and "b.py" not in changed, owner)
    assert found == (f"{guilty}/fix-1",)


def test_work_that_never_turned_its_own_test_green_is_blamed_whole(scene: Scene) -> None:
    owner = change(scene, "owner", "a.py", "tests/t.py")
    change(scene, "other", "b.py")
    assert set(blamed(scene, lambda _: False, owner)) == {f"{owner}/others", f"{owner}/fix-1"}


def test_what_was_red_before_and_belongs_to_nobody_blames_nobody(scene: Scene) -> None:
    change(scene, "other", "b.py")
    assert blamed(scene, lambda _: False) == ()
    assert blamed(scene, lambda _: False, "somebody-else") == ()
