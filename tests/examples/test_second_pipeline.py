"""A pipeline of another kind from the same verbs: an agent per source file, patches and a report back."""

import ast
import os
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.support.needs import needs
from tests.support.world import World

from mngr.process import OnlyEnv, run
from mngr_tmr.example.make import make_example

pytestmark = [pytest.mark.slow, pytest.mark.accept("X2", "X4", "K3", "L6")]

EXAMPLES = Path(__file__).parents[2] / "examples"
PIPELINE, PLAYBOOK = EXAMPLES / "docstrings_pipeline.py", EXAMPLES / "docstrings_playbook.json"


@pytest.fixture
def world(tmp_path: Path) -> Iterator[World]:
    needs("tmux", "tmux", "-V")
    world = World(tmp_path)
    world.env["GIT_CONFIG_GLOBAL"] = "/dev/null"
    yield world
    world.end()


def test_an_agent_per_source_file_writes_its_docstrings(world: World) -> None:
    repo = Path(make_example(str(world.folder / "pantry")).repo)
    before = {file.name: shape(file) for file in (repo / "pantry").glob("*.py")}
    words = ("pantry/*.py", "--type", "scripted", "--arg", str(PLAYBOOK), "--slots", "3")
    done = run([sys.executable, str(PIPELINE), *words], cwd=str(repo), env=OnlyEnv(world.env), timeout_s=600)
    assert done.code == 0, done.complaint
    assert {file.name: shape(file) for file in (repo / "pantry").glob("*.py")} == before
    assert [name for file in (repo / "pantry").glob("*.py") for name in undocumented(file)] == []
    report = (repo / "docstrings" / "report.md").read_text()
    assert [line for line in report.splitlines() if line.startswith("## ")] == [
        f"## pantry/{name}.py" for name in ("__main__", "browse", "files", "money", "shelf")
    ]
    assert "- `write_csv`\n- `read_csv`\n- `sync`" in report
    assert world.git("log", "--oneline", cwd=repo).count("\n") == 1
    assert os.listdir(world.paths.agents) == []


def test_a_file_whose_agent_fails_is_named_and_the_others_are_done(world: World, tmp_path: Path) -> None:
    (world.repo / "good.py").write_text("def good():\n    return 1\n")
    (world.repo / "bad.py").write_text("def bad():\n    return 2\n")
    (world.repo / "told.py").write_text('def told():\n    """Known."""\n')
    world.git("add", ".")
    world.git("commit", "-q", "-m", "sources")
    playbook = tmp_path / "play.json"
    playbook.write_text(PLAYBOOK.read_text().replace("python3 - ", "test $file = good.py && python3 - "))
    done = run(
        [sys.executable, str(PIPELINE), "*.py", "--type", "scripted", "--arg", str(playbook), "--slots", "2"],
        cwd=str(world.repo),
        env=OnlyEnv(world.env),
        timeout_s=300,
    )
    assert done.code == 1
    assert "bad.py: no patch came back" in done.complaint
    assert (undocumented(world.repo / "good.py"), undocumented(world.repo / "bad.py")) == ([], ["bad"])
    assert "told.py" not in (world.repo / "docstrings" / "report.md").read_text()


def undocumented(file: Path) -> list[str]:
    nodes = ast.walk(ast.parse(file.read_text()))
    wanted = (ast.FunctionDef, ast.ClassDef)
    return [node.name for node in nodes if isinstance(node, wanted) and not ast.get_docstring(node)]


def shape(file: Path) -> list[str]:
    """The code without its docstrings."""
    nodes = ast.walk(ast.parse(file.read_text()))
    return [type(node).__name__ for node in nodes if not isinstance(node, ast.Expr | ast.Constant)]
