"""The orchestrator's decisions in a simulated world: seeded faults, and a death at every entry of the journal."""

import random
from collections.abc import Callable

import pytest

from mngr_tmr.engine.loop import Loop
from mngr_tmr.engine.simulated import FAULTS, SimHands, SimWorld
from mngr_tmr.engine.state import Phase, RunState, fold
from mngr_tmr.model.entry import Entry
from mngr_tmr.model.run import Knobs, RunSpec
from mngr_tmr.model.task import make_task

KNOBS = Knobs(slots=4, verifiers=2, timeout_s=600, idle_s=60, silence_s=300)


class KilledError(BaseException):
    """The orchestrator's death."""


def make_spec(tasks: int, knobs: Knobs = KNOBS) -> RunSpec:
    found = tuple(make_task(f"tests/test_a.py::test_{number}") for number in range(tasks))
    return RunSpec("r1", "/repo", "c0ffee", 0.0, found, ("pytest",), knobs=knobs)


class Disk:
    """A journal in memory that can end its writer at a given entry, before or after writing it."""

    def __init__(self) -> None:
        self.entries: list[Entry] = []
        self.dies_at: int | None = None
        self.dies_before_writing = False

    def append(self, *entries: Entry) -> None:
        for entry in entries:
            if self.dies_at == len(self.entries) and self.dies_before_writing:
                raise KilledError
            self.entries.append(entry)
            if self.dies_at == len(self.entries) - 1:
                raise KilledError


def run_on(spec: RunSpec, world: SimWorld, disk: Disk) -> RunState:
    """One life of an orchestrator: new, or taking up what an earlier one left."""
    state = fold(spec, disk.entries)
    hands = SimHands(world)
    loop = Loop(state, disk.append, hands)
    if disk.entries:
        loop.resume(Entry(world.now, "run", "noted", message="resumed"))
    return loop.go()


def check_end(spec: RunSpec, world: SimWorld, state: RunState) -> None:
    assert {task.phase for task in state.tasks.values()} == {Phase.ENDED}
    assert set(world.launches.values()) <= {1}, "an attempt was launched twice"
    assert set(world.nudges.values()) <= {1}, "nudged twice"
    for task in spec.tasks:
        ended = state.tasks[task.slug]
        fault = world.fault(task.slug, ended.attempt)
        key = task.slug, ended.attempt
        if fault in ("", "idles_until_nudged", "stop_fails"):
            assert not ended.has_failed, (task.slug, fault, ended)
            assert world.pulled[key] >= 1
            assert world.verified[key] >= 1
        else:
            assert ended.has_failed, (task.slug, fault)
            assert ended.stage == STAGE[fault], (fault, ended)
            assert ended.message
    alive = {agent.name for agent in world.alive()}
    assert alive <= {state.tasks[slug].agent for slug in state.tasks if _may_live(world, state, slug)}


STAGE = {
    "launch_fails": "launch",
    "launch_hangs": "launch",
    "crashes": "watch",
    "vanishes": "watch",
    "hangs": "watch",
    "idles": "watch",
    "pull_fails": "pull",
    "pull_hangs": "pull",
    "verify_hangs": "verify",
}


def _may_live(world: SimWorld, state: RunState, slug: str) -> bool:
    """Only what could not be stopped, or was still being launched at the end: the final sweep's work."""
    return world.fault(slug, state.tasks[slug].attempt) in ("stop_fails", "launch_hangs")


@pytest.mark.accept("P3", "P7", "L5")
def test_every_task_ends_with_a_verdict_and_no_more_agents_run_than_slots() -> None:
    spec, world, disk = make_spec(40), SimWorld("r1", 1), Disk()
    state = run_on(spec, world, disk)
    check_end(spec, world, state)
    assert len(world.verified) == 40
    assert world.most_alive == KNOBS.slots


@pytest.mark.accept("Q2", "P4", "P5", "P6", "M8")
@pytest.mark.parametrize("seed", range(40))
def test_every_fault_ends_as_a_record_with_its_stage(seed: int) -> None:
    spec, world, disk = make_spec(30), SimWorld("r1", seed, fault_share=0.6), Disk()
    check_end(spec, world, run_on(spec, world, disk))


def test_the_faults_of_the_seeds_are_all_of_them() -> None:
    worlds = [SimWorld("r1", seed, fault_share=0.6) for seed in range(40)]
    met = {world.fault(task.slug, 1) for world in worlds for task in make_spec(30).tasks}
    assert met == {"", *FAULTS}


@pytest.mark.accept("Q1", "P10")
@pytest.mark.parametrize("before", [True, False], ids=["before", "after"])
def test_a_death_at_every_entry_of_the_journal_loses_and_repeats_nothing(before: bool) -> None:
    spec = make_spec(8)
    length = _entries_of(lambda disk: run_on(spec, SimWorld("r1", 7, fault_share=0.5), disk))
    for boundary in range(length):
        world, disk = SimWorld("r1", 7, fault_share=0.5), Disk()
        disk.dies_at, disk.dies_before_writing = boundary, before
        with pytest.raises(KilledError):
            run_on(spec, world, disk)
        disk.dies_at = None
        check_end(spec, world, run_on(spec, world, disk))


@pytest.mark.accept("Q1", "Q2")
@pytest.mark.parametrize("seed", range(20))
def test_many_deaths_in_one_run_lose_and_repeat_nothing(seed: int) -> None:
    spec, world, disk = make_spec(20), SimWorld("r1", seed, fault_share=0.4), Disk()
    chance, lives = random.Random(seed), 0
    while True:
        disk.dies_at = len(disk.entries) + chance.randrange(1, 40) if lives < 15 else None
        disk.dies_before_writing = chance.random() < 0.5
        lives += 1
        try:
            state = run_on(spec, world, disk)
            break
        except KilledError:
            continue
    check_end(spec, world, state)


@pytest.mark.accept("Q2")
def test_a_seed_replays_to_the_same_journal() -> None:
    journals = []
    for _ in range(2):
        disk = Disk()
        run_on(make_spec(20), SimWorld("r1", 3, fault_share=0.5), disk)
        journals.append(disk.entries)
    assert journals[0] == journals[1]


def _entries_of(run: Callable[[Disk], object]) -> int:
    disk = Disk()
    run(disk)
    return len(disk.entries)
