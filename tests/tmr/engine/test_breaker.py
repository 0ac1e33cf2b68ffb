"""Tasks that fail alike: one alert, and launches that pause until one succeeds; in the simulated world."""

import os
import random

import pytest
from msgspec.structs import replace
from tests.tmr.engine.test_simulation import KNOBS, Disk, KilledError, be_down, make_spec, run_on

from mngr_tmr.engine.admission import wait_of
from mngr_tmr.engine.loop import Loop
from mngr_tmr.engine.simulated import SimExecutor, SimWorld
from mngr_tmr.engine.state import RunState, fold
from mngr_tmr.engine.task_state import TaskPhase
from mngr_tmr.model.entry import Entry
from mngr_tmr.model.facts import BreakerProbe, CauseRepeated, LaunchingStopped, RunResumed
from mngr_tmr.model.limits import RunLimits

PAUSE = replace(KNOBS, limits=RunLimits(breaker="pause"))
# Random faults of single tasks are part of a clean run; `MNGR_TEST_CLEAN_RUNS=1000` is the whole check.
CLEAN_RUNS = int(os.environ.get("MNGR_TEST_CLEAN_RUNS", "30"))


def facts(disk: Disk, kind: type) -> list[Entry]:
    return [entry for entry in disk.entries if isinstance(entry.fact, kind)]


def failures(disk: Disk, step: str) -> list[Entry]:
    return [entry for entry in disk.entries if (entry.step, entry.kind) == (step, "failed")]


def go(world: SimWorld, disk: Disk, tasks: int = 60, options: object = PAUSE) -> RunState:
    spec = make_spec(tasks, options)  # type: ignore[arg-type]
    return Loop(RunState(spec), disk.append, SimExecutor(world)).go()


@pytest.mark.accept("O8", "O7")
def test_equal_failures_give_one_alert_during_the_run_with_likely_cause_and_next_step() -> None:
    world, disk = SimWorld("r1", 1), Disk()
    world.outage = ("crashes", 0.0, 1e9)
    state = go(world, disk, 30, KNOBS)
    (told,) = facts(disk, CauseRepeated)
    assert (told.step, told.kind) == ("alert", "intended")
    assert told.message.startswith(
        "5 tasks failed at watch with the same cause: the agent ended without a result"
    )
    assert "Likely cause: " in told.message
    assert "Next: " in told.message
    assert "paused" not in told.message
    assert disk.entries.index(told) < len(disk.entries) / 2
    assert not state.queue


@pytest.mark.accept("O8")
def test_fewer_than_were_asked_for_and_failures_that_differ_give_none() -> None:
    world, disk = SimWorld("r1", 1), Disk()
    world.outage = ("crashes", 0.0, 1e9)
    go(world, disk, 4)
    go(world, disk, 30, replace(KNOBS, limits=RunLimits(breaker="off")))
    assert not facts(disk, CauseRepeated)
    go(SimWorld("r1", 1), disk)
    assert not facts(disk, CauseRepeated)


@pytest.mark.accept("O10")
def test_an_outage_pauses_launches_within_a_minute_and_a_probe_that_passes_ends_it() -> None:
    world, disk = SimWorld("r1", 2), Disk()
    world.outage = ("launch_fails", 40.0, 400.0)
    state = go(world, disk)
    (told,) = facts(disk, CauseRepeated)
    broken = failures(disk, "launch")
    assert told.at - broken[4].at <= 60
    probes = facts(disk, BreakerProbe)
    assert 2 <= len(probes) <= 5
    launches = [entry for entry in disk.entries if (entry.step, entry.kind) == ("launch", "intended")]
    paused = [entry.task for entry in launches if told.at < entry.at < probes[-1].at]
    assert set(paused) <= {entry.task for entry in probes}
    assert len(broken) <= 5 + KNOBS.slots + len(probes)
    assert not state.queue
    assert len(world.verified) == 60 - len(broken)


@pytest.mark.accept("O10")
def test_agents_that_fail_alike_pause_launches_until_the_work_of_one_has_a_result() -> None:
    world, disk = SimWorld("r1", 2), Disk()
    world.outage = ("crashes", 40.0, 400.0)
    state = go(world, disk)
    broken, probes = failures(disk, "watch"), facts(disk, BreakerProbe)
    assert len(facts(disk, CauseRepeated)) == 1
    assert 2 <= len(probes) <= 5
    assert len(broken) <= 5 + KNOBS.slots + len(probes)
    assert not state.queue
    assert len(world.verified) == 60 - len(broken)


@pytest.mark.accept("O10")
def test_an_outage_without_end_stops_the_run_after_some_probes_and_resume_takes_up_the_rest() -> None:
    world, disk = SimWorld("r1", 2), Disk()
    world.outage = ("launch_fails", 40.0, 1e9)
    state = go(world, disk)
    assert len(facts(disk, BreakerProbe)) == 6
    (stopped,) = facts(disk, LaunchingStopped)
    assert stopped.fact
    assert "6 tries in a row failed alike" in state.stopped_why
    left = len(state.queue)
    assert left > 30
    world.outage = ("", 0.0, 0.0)
    resumed = Loop(fold(state.spec, disk.entries), disk.append, SimExecutor(world, floor=state.last_at))
    resumed.resume(Entry(state.last_at, "run", "noted", message="resumed", fact=RunResumed()))
    assert not resumed.go().queue


@pytest.mark.accept("O10")
def test_a_paused_task_says_why_and_a_person_can_resume() -> None:
    world, disk = SimWorld("r1", 2), Disk()
    world.outage = ("launch_fails", 0.0, 1e9)
    spec = make_spec(30, PAUSE)
    loop = Loop(RunState(spec), disk.append, SimExecutor(world))
    while not loop.run.breaker.cause:
        loop.run_due()
        loop.handle(loop._executor.results(1.0))
    slug = next(iter(loop.run.queue))
    wait = wait_of(loop.run, slug, world.now)
    assert wait
    assert wait.text.startswith("paused after equal failures: ")
    loop.run.apply(Entry(world.now, "run", "noted", message="resumed", fact=RunResumed()))
    assert wait_of(loop.run, slug, world.now) is None


@pytest.mark.accept("O10")
@pytest.mark.parametrize("before", [True, False], ids=["before", "after"])
def test_a_death_during_an_outage_loses_nothing(before: bool) -> None:
    chance = random.Random(3)
    spec, world, disk = make_spec(12, PAUSE), SimWorld("r1", 2), Disk()
    world.outage = ("launch_fails", 5.0, 200.0)
    run_on(spec, world, disk)
    assert facts(disk, BreakerProbe)
    for boundary in range(0, len(disk.entries), 2):
        world, killed = SimWorld("r1", 2), Disk()
        world.outage = ("launch_fails", 5.0, 200.0)
        killed.dies_at, killed.dies_before_writing = boundary, before
        with pytest.raises(KilledError):
            run_on(spec, world, killed)
        killed.dies_at = None
        be_down(world, chance)
        state = run_on(spec, world, killed)
        assert {task.phase for task in state.tasks.values()} == {TaskPhase.ENDED}
        assert set(world.launches.values()) <= {1}


@pytest.mark.accept("O10")
def test_clean_runs_are_never_paused() -> None:
    for seed in range(CLEAN_RUNS):
        world, disk = SimWorld("r1", seed, fault_share=0.05), Disk()
        go(world, disk, 40)
        assert not facts(disk, CauseRepeated), seed
