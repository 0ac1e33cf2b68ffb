"""The orchestrator is killed again and again, for real, and resumed: nothing is lost, nothing is done twice."""

import contextlib
import os
import random
import subprocess
from collections import Counter
from pathlib import Path

import msgspec
import pytest
from tests.cli.command import ARGV, Mngr
from tests.tmr.run.pipeline import KNOBS, UNCHANGED, Pipeline

import mngr
from mngr.process import wait_until
from mngr_tmr.engine.journal import read_journal
from mngr_tmr.run.folder import RunFolder
from mngr_tmr.run.look import agents_of

KILLS = int(os.environ.get("MNGR_TEST_KILLS", "10"))
_TASKS = 6 + KILLS // 2
_PATIENCE_S = 300.0


@pytest.mark.slow
@pytest.mark.accept("Q1", "P10")
def test_killed_at_any_moment_a_resumed_run_loses_and_repeats_nothing(pipeline: Pipeline) -> None:
    plays = {f"test_{number}": [{"sleep": 1.0}, UNCHANGED] for number in range(_TASKS)}
    spec = pipeline.spec(plays, msgspec.structs.replace(KNOBS, slots=3))
    folder, chance = pipeline.folder(spec), random.Random(KILLS)
    for _ in range(KILLS):
        _live(pipeline, folder, chance.randrange(1, 9), chance.uniform(0.0, 0.6))
    _live(pipeline, folder)

    records = pipeline.records(folder)
    assert {record.end for record in records.values()} == {"result"}, records
    assert {record.attempt for record in records.values()} == {1}
    created = Counter(
        entry.task
        for entry in read_journal(folder.journal)
        if entry.step == "launch" and entry.kind == "done" and not entry.data.get("adopted")
    )
    assert max(created.values()) == 1
    agents = agents_of(spec.id, pipeline.manager)
    assert Counter(agent.labels["tmr.task"] for agent in agents) == Counter(
        record.task.slug for record in records.values()
    )
    assert {agent.state for agent in agents} <= {"STOPPED", "DONE"}
    for path in Path(folder.path).rglob("*.json"):
        msgspec.json.decode(path.read_bytes())
    everyone = mngr.list_agents(manager=pipeline.manager).agents
    assert sorted(agent.name for agent in everyone) == sorted(agent.name for agent in agents), (
        "a copy is left"
    )


def _live(pipeline: Pipeline, folder: RunFolder, entries: int | None = None, later_s: float = 0.0) -> None:
    """One life of the orchestrator, ended with KILL a while after so many entries were added; None: to its end."""
    before = _length(folder)
    env = {**Mngr(pipeline.world).env}
    child = subprocess.Popen(
        [*ARGV, "tmr", "resume", "r1", "--integrator", "mechanical"],
        cwd=pipeline.project.repo,
        env=env,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        start_new_session=True,
    )
    try:
        if entries is None:
            _, said = child.communicate(timeout=_PATIENCE_S)
            assert child.returncode in (0, 8), said.decode()
            return
        wanted = before + entries
        assert wait_until(lambda: _length(folder) >= wanted or child.poll() is not None, _PATIENCE_S)
        with contextlib.suppress(subprocess.TimeoutExpired):
            child.wait(later_s)
    finally:
        child.kill()
        child.communicate()


def _length(folder: RunFolder) -> int:
    return Path(folder.journal).read_bytes().count(b"\n") if os.path.exists(folder.journal) else 0
