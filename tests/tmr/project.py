"""A project with a real suite in a world of its own, for tests that run pytest in copies of it."""

import sys
from collections.abc import Iterator
from pathlib import Path
from textwrap import dedent

import pytest
from tests.support.world import LEAN_FLAGS, World

from mngr_tmr.model.run import RunOptions, RunSpec

PYTHON = Path(sys.executable).parent


class Project:
    """A repository whose `pytest` is the one that runs these tests."""

    def __init__(self, world: World) -> None:
        self.world, self.repo = world, world.repo
        world.env["PATH"] = f"{PYTHON}:{world.env['PATH']}"
        world.env["GIT_CONFIG_GLOBAL"] = "/dev/null"
        self.manager = world.manager()

    def write(self, **files: str) -> None:
        """Writes files without committing them; `__` in a name stands for `/`, every file is Python."""
        for name, text in files.items():
            inner = name.removesuffix("____init__").replace("__", "/")
            path = self.repo / (f"{inner}/__init__.py" if name.endswith("__init__") else f"{inner}.py")
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(dedent(text))

    def commit(self, message: str = "more", **files: str) -> str:
        self.write(**files)
        self.world.git("add", "-A")
        self.world.git("commit", "-q", "--allow-empty", "-m", message)
        return self.head()

    def head(self) -> str:
        return self.world.git("rev-parse", "HEAD").strip()

    def run(
        self,
        *args: str,
        base: str = "",
        folder: str = "",
        tutorial: str = "",
        options: RunOptions | None = None,
    ) -> RunSpec:
        return RunSpec(
            id="r1",
            repo=str(self.repo),
            base=base or self.head(),
            created_at=0.0,
            tasks=(),
            pytest=("pytest", *LEAN_FLAGS),
            pytest_args=args,
            folder=folder,
            tutorial=tutorial,
            options=options or RunOptions(verify_deadline_s=120.0),
        )


@pytest.fixture
def project(tmp_path: Path) -> Iterator[Project]:
    world = World(tmp_path)
    yield Project(world)
    try:
        assert world.left_behind() == []
    finally:
        world.end()
