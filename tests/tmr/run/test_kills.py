"""The orchestrator is killed again and again, for real, and resumed after up to two days: nothing is lost or repeated.

The days are made by shifting the times in the journal.
"""

import os
import random
from collections import Counter
from pathlib import Path

import msgspec
import pytest
from tests.tmr.run.lives import be_down, kill_when, length, live_to_the_end, prompts
from tests.tmr.run.pipeline import KNOBS, UNCHANGED, Pipeline

import mngr
from mngr_tmr.engine.journal import read_journal
from mngr_tmr.model.facts import AgentLaunched
from mngr_tmr.run.polling import agents_of

KILLS = int(os.environ.get("MNGR_TEST_KILLS", "10"))
_TASKS = 6 + KILLS // 2


@pytest.mark.slow
@pytest.mark.accept("Q1", "Q12", "P10")
def test_killed_at_any_moment_a_resumed_run_loses_and_repeats_nothing(pipeline: Pipeline) -> None:
    """TH-H3."""
    plays = {f"test_{number}": [{"sleep": 1.0}, UNCHANGED] for number in range(_TASKS)}
    spec = pipeline.spec(plays, msgspec.structs.replace(KNOBS, slots=3))
    folder, chance = pipeline.folder(spec), random.Random(KILLS)
    for _ in range(KILLS):
        wanted = length(folder) + chance.randrange(1, 9)
        kill_when(pipeline, lambda: length(folder) >= wanted, chance.uniform(0.0, 0.6))  # noqa: B023
        be_down(folder, _downtime_s(chance))
    live_to_the_end(pipeline)

    records = pipeline.records(folder)
    assert {record.end for record in records.values()} == {"result"}, records
    assert {record.attempt for record in records.values()} == {1}
    created = Counter(
        entry.task
        for entry in read_journal(folder.journal)
        if entry.step == "launch"
        and entry.kind == "done"
        and not (isinstance(entry.fact, AgentLaunched) and entry.fact.adopted)
    )
    assert max(created.values()) == 1
    agents = agents_of(spec.id, pipeline.manager)
    assert Counter(agent.labels["tmr.task"] for agent in agents) == Counter(
        record.task.slug for record in records.values()
    )
    assert {agent.state for agent in agents} <= {"STOPPED", "DONE"}
    assert set(prompts(pipeline)) == {1}, "a turn was paid twice"
    for path in Path(folder.path).rglob("*.json"):
        msgspec.json.decode(path.read_bytes())
    everyone = mngr.list_agents(manager=pipeline.manager).agents
    assert sorted(agent.name for agent in everyone) == sorted(agent.name for agent in agents), (
        "a copy is left"
    )


def _downtime_s(chance: random.Random) -> float:
    """None, seconds to hours, or hours to two days; now and then the clock was set back."""
    times = (0.0, 10 ** chance.uniform(0, 4), chance.uniform(4, 48) * 3600, -chance.uniform(0, 3600))
    return chance.choices(times, weights=(2, 3, 3, 1))[0]
