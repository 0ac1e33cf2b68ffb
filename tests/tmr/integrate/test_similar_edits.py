"""Three or more edits that look alike are one shared problem, with counts."""

from pathlib import Path

import pytest
from tests.tmr.integrate.scene import Scene, Work

pytestmark = pytest.mark.accept("R9")


def test_similar_edits_in_three_files_are_named_as_one_problem(tmp_path: Path) -> None:
    names = ("a", "b", "c", "d")
    text = "import app\n\n\ndef test_{0}():\n    app.start('{0}')\n    assert app.done('{0}')\n"
    scene = Scene(tmp_path, {f"tests/test_{name}.py": text.format(name) for name in names})
    for name in names:
        changed = text.format(name).replace(f"app.start('{name}')", f"app.start('{name}', wait=30)")
        scene.agent(f"test_{name}.py::test_{name}", Work("wait", {f"tests/test_{name}.py": changed}))
    scene.agent(
        "test_e.py::test_e", Work("else", {"tests/test_e.py": "def test_e():\n    assert 1 + 1 == 2\n"})
    )
    done = scene.integrate()
    assert len(done.shared_problems) == 1
    problem = done.shared_problems[0]
    assert problem["count"] == 4
    assert problem["files"] == [f"tests/test_{name}.py" for name in names]
    assert problem["tasks"] == sorted(record.task.slug for record in scene.records[:4])
    assert "wait=30" in problem["example"]


def test_two_are_chance_and_imports_are_noise(tmp_path: Path) -> None:
    names = ("a", "b", "c", "d")
    scene = Scene(tmp_path, {f"{name}.py": f"x = '{name}'\nprint(x)\n" for name in names})
    for name in names:
        scene.agent(
            f"test_{name}.py::test_{name}",
            Work("import", {f"{name}.py": f"import os\nx = '{name}'\nprint(x)\n"}),
        )
    for name in names[:2]:
        scene.agent(
            f"test_{name}.py::test_2{name}",
            Work("more", {f"{name}.py": f"x = '{name}'\nprint(x, file=log, end='{name}')\n"}),
        )
    assert scene.integrate().shared_problems == ()
