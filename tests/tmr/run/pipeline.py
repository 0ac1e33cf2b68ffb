"""A project whose tests have scripted agents: what each does is a playbook, written beside the repository."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec
import pytest
from msgspec.structs import replace
from tests.support.world import World
from tests.tmr.project import Project

from mngr_tmr.engine.state import RunState
from mngr_tmr.model.entry import Entry
from mngr_tmr.model.facts import RunResumed
from mngr_tmr.model.record import TaskRecord
from mngr_tmr.model.run import RunOptions, RunSpec
from mngr_tmr.model.task import make_task
from mngr_tmr.run.execution import run_tasks
from mngr_tmr.run_folder.folder import RunFolder, find_folder, make_folder, runs_folder
from mngr_tmr.run_folder.records import Records

Step = dict[str, Any]
UNCHANGED: Step = {"run": "mngr-result write --outcome unchanged --summary 'Nothing to change.'"}
KNOBS = RunOptions(
    type="scripted", slots=4, verifiers=1, timeout_s=120, grace_s=2, idle_s=120, verify_runs=1, record=False
)


class Pipeline:
    """One run of a small suite; `plays` are the playbooks by test name."""

    def __init__(self, world: World) -> None:
        self.world, self.project = world, Project(world)
        self.plays = world.folder / "plays"
        self.plays.mkdir()
        self.manager = self.project.manager
        self.seen: list[Entry] = []

    def spec(self, plays: dict[str, list[Step]], options: RunOptions = KNOBS) -> RunSpec:
        """A committed suite with a passing test per playbook."""
        body = "\n".join(f"def {name}():\n    assert True\n" for name in plays)
        self.project.commit("tests", tests__test_it=body)
        for name, steps in plays.items():
            (self.plays / f"{name}.json").write_bytes(msgspec.json.encode(steps))
        spec = self.project.run("tests", options=replace(options, args=(f"{self.plays}/{{test}}.json",)))
        tasks = tuple(make_task(f"tests/test_it.py::{name}") for name in plays)
        return replace(spec, tasks=tasks)

    def folder(self, spec: RunSpec) -> RunFolder:
        return make_folder(runs_folder(str(self.project.repo)), spec)

    def found(self) -> RunFolder:
        return find_folder(runs_folder(str(self.project.repo)), "r1")

    def run(self, plays: dict[str, list[Step]], options: RunOptions = KNOBS) -> dict[str, TaskRecord]:
        folder = self.folder(self.spec(plays, options))
        self.go(folder)
        return self.records(folder)

    def go(
        self, folder: RunFolder, env: dict[str, str] | None = None, resume: RunResumed | None = None
    ) -> RunState:
        return run_tasks(
            folder,
            manager=self.manager,
            env=env or {},
            observe=self._observe,
            resume=resume,
            tell=lambda line: None,
        )

    def records(self, folder: RunFolder) -> dict[str, TaskRecord]:
        return {record.task.node_id.rpartition("::")[2]: record for record in Records(folder).tasks()}

    def _observe(self, _run: RunState, entries: tuple[Entry, ...]) -> None:
        self.seen += entries


@pytest.fixture
def pipeline(tmp_path: Path) -> Iterator[Pipeline]:
    world = World(tmp_path)
    yield Pipeline(world)
    world.end()
