"""The orchestrator's decisions in a simulated world: seeded faults, and a death at every entry of the journal."""

import random
from collections.abc import Callable
from typing import Any

import pytest
from msgspec.structs import replace

from mngr_tmr.engine.loop import Loop
from mngr_tmr.engine.retries import MOST_RETRIES
from mngr_tmr.engine.simulated import FAULTS, SimExecutor, SimWorld
from mngr_tmr.engine.state import RunState, fold
from mngr_tmr.engine.task_state import TaskPhase
from mngr_tmr.model.entry import Entry
from mngr_tmr.model.facts import RunPaused, RunResumed
from mngr_tmr.model.run import RunOptions, RunSpec
from mngr_tmr.model.task import agent_of, make_task

HOUR_S = 3600.0
KNOBS = RunOptions(slots=4, verifiers=2, timeout_s=600, idle_s=60, silence_s=300)


class KilledError(BaseException):
    """The orchestrator's death."""


def make_spec(tasks: int, options: RunOptions = KNOBS) -> RunSpec:
    found = tuple(make_task(f"tests/test_a.py::test_{number}") for number in range(tasks))
    return RunSpec("r1", "/repo", "c0ffee", 0.0, found, ("pytest",), options=options)


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


def run_on(spec: RunSpec, world: SimWorld, disk: Disk, **executor_options: Any) -> RunState:
    """One life of an orchestrator: new, or taking up what an earlier one left; resumed when it stopped launching."""
    while True:
        state = fold(spec, disk.entries)
        world.remove_leftovers({agent_of("r1", one.task, one.attempt) for one in state.hosts.held.values()})
        executor = SimExecutor(world, floor=state.last_at, **executor_options)
        loop = Loop(state, disk.append, executor)
        if disk.entries:
            loop.resume(Entry(executor.now(), "run", "noted", message="resumed", fact=RunResumed()))
        loop.go()
        if not state.stopped_why:
            return state


def check_end(spec: RunSpec, world: SimWorld, state: RunState) -> None:
    assert {task.phase for task in state.tasks.values()} == {TaskPhase.ENDED}
    assert set(world.launches.values()) <= {1}, "an attempt was launched twice"
    assert set(world.nudges.values()) <= {1}, "nudged twice"
    refused = {agent.name for agent in world.agents.values() if agent.fault == "model_refuses"}
    assert not refused & set(world.nudges), "nudged although no retry could help"
    for task in spec.tasks:
        ended = state.tasks[task.slug]
        fault = world.fault(task.slug, ended.attempt)
        key = task.slug, ended.attempt
        lost = [world.fault(task.slug, attempt) for attempt in range(1, ended.attempt)]
        assert {*lost} <= LOST, "a turn was paid twice"
        assert ended.attempt <= 1 + MOST_RETRIES
        assert fault not in LOST or ended.attempt == 1 + MOST_RETRIES, "it was not tried again"
        if fault == "idles_until_nudged" and "nudge: perhaps sent" in ended.notes:
            continue  # a death between writing that it is nudged and nudging it: it is not nudged twice
        if fault == "launch_hangs" and not ended.has_failed:
            assert world.verified[key] >= 1  # a freeze gave the launch the time that it took
        elif fault in ("", "idles_until_nudged", "stop_fails", "pull_unreachable", "verify_unreachable"):
            assert not ended.has_failed, (task.slug, fault, ended)
            assert world.pulled[key] >= 1
            assert world.verified[key] >= 1
        else:
            assert ended.has_failed, (task.slug, fault)
            assert ended.stage == STAGE[fault], (fault, ended)
            assert ended.message
    if spec.options.max_hosts:
        assert world.most_hosts <= spec.options.max_hosts
        kept = {state.tasks[slug].agent for slug in state.tasks if _may_live(world, state, slug)}
        left = {host for host in world.hosts if host not in kept}
        hung = sum(world.fault(slug, task.attempt) == "verify_hangs" for slug, task in state.tasks.items())
        assert not left & set(world.agents), "a host outlived its task"
        assert len(left) <= hung, "a copy outlived its verification"
        unsaved = {agent.name for agent in world.agents.values() if agent.name not in _saved(world)}
        assert unsaved <= world.stopped_hosts, "work that was not pulled went with its host"
    alive = {agent.name for agent in world.alive()}
    assert alive <= {state.tasks[slug].agent for slug in state.tasks if _may_live(world, state, slug)}


def _saved(world: SimWorld) -> set[str]:
    return {agent_of("r1", task, attempt) for task, attempt in world.brought}


STAGE = {
    "launch_fails": "launch",
    "launch_hangs": "launch",
    "crashes": "watch",
    "vanishes": "watch",
    "hangs": "watch",
    "idles": "watch",
    "model_refuses": "watch",
    "pull_fails": "pull",
    "pull_hangs": "pull",
    "verify_hangs": "verify",
    "launch_unreachable": "launch",
}
# What a host took with it before there was a result: it is tried again.
LOST = {"vanishes", "launch_unreachable"}


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


@pytest.mark.accept("M15", "L5")
def test_tasks_whose_commits_have_the_same_tree_share_working_copies() -> None:
    """Slots are busy, and there is one verifier, so that tasks wait for it."""
    spec = make_spec(80, replace(KNOBS, slots=20, launchers=20, verifiers=1))
    one, many = (SimWorld("r1", 1, work_s=(1, 2), trees=trees) for trees in (1, 1000))
    for world in (one, many):
        check_end(spec, world, run_on(spec, world, Disk()))
        assert len(world.verified) == 80
    assert many.copies >= 75
    assert one.copies < many.copies * 2 / 3


@pytest.mark.accept("Q2", "P4", "P5", "P6", "M8")
@pytest.mark.parametrize("seed", range(40))
def test_every_fault_ends_as_a_record_with_its_stage(seed: int) -> None:
    spec, world, disk = make_spec(30), SimWorld("r1", seed, fault_share=0.6), Disk()
    check_end(spec, world, run_on(spec, world, disk))


def test_the_faults_of_the_seeds_are_all_of_them() -> None:
    worlds = [SimWorld("r1", seed, fault_share=0.6) for seed in range(40)]
    met = {world.fault(task.slug, 1) for world in worlds for task in make_spec(30).tasks}
    assert met == {"", *FAULTS}


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


@pytest.mark.accept("Q1", "Q2", "Q12", "P10")
@pytest.mark.parametrize("before", [True, False], ids=["before", "after"])
@pytest.mark.parametrize("seed", [7, 1])
def test_a_death_and_downtime_at_every_entry_of_the_journal_loses_and_repeats_nothing(
    seed: int, before: bool
) -> None:
    """TH-H3."""
    spec, chance = make_spec(8), random.Random(seed)
    length = _entries_of(lambda disk: run_on(spec, SimWorld("r1", seed, fault_share=0.5), disk))
    for boundary in range(length):
        world, disk = SimWorld("r1", seed, fault_share=0.5), Disk()
        disk.dies_at, disk.dies_before_writing = boundary, before
        with pytest.raises(KilledError):
            run_on(spec, world, disk)
        disk.dies_at = None
        be_down(world, chance)
        check_end(spec, world, run_on(spec, world, disk, silent_polls=chance.randrange(4)))


@pytest.mark.accept("Q12", "Q2")
@pytest.mark.parametrize("seed", range(20))
def test_many_downtimes_clock_jumps_and_freezes_in_one_run_lose_no_result(seed: int) -> None:
    """TH-H3."""
    spec, world, disk = make_spec(20), SimWorld("r1", seed, fault_share=0.3), Disk()
    chance, lives = random.Random(seed), 0
    while True:
        disk.dies_at = len(disk.entries) + chance.randrange(1, 40) if lives < 10 else None
        disk.dies_before_writing = chance.random() < 0.5
        lives += 1
        freezes = tuple(chance.uniform(5, 40 * HOUR_S) for _ in range(chance.randrange(3)))
        try:
            state = run_on(spec, world, disk, silent_polls=chance.randrange(6), freezes=freezes)
            break
        except KilledError:
            be_down(world, chance)
    check_end(spec, world, state)


@pytest.mark.accept("Q12")
def test_an_orchestrator_that_stood_still_writes_that_down_and_takes_what_is_finished() -> None:
    spec, world, disk = make_spec(12), SimWorld("r1", 1), Disk()
    check_end(spec, world, run_on(spec, world, disk, freezes=(9 * HOUR_S,)))
    (pause,) = (entry for entry in disk.entries if isinstance(entry.fact, RunPaused))
    assert isinstance(pause.fact, RunPaused)
    assert pause.at - pause.fact.since >= 9 * HOUR_S


def be_down(world: SimWorld, chance: random.Random) -> None:
    """Time passes without an orchestrator, none to days, and the machine's clock may be set meanwhile."""
    world.now += chance.choice((0.0, 10 ** chance.uniform(0.0, 3.0), 10 ** chance.uniform(3.0, 5.3)))
    if chance.random() < 0.5:
        world.clock_error_s += chance.choice((-1, 1)) * 10 ** chance.uniform(0.0, 5.3)


@pytest.mark.accept("M19")
def test_a_run_without_credit_launches_few_agents_and_the_rest_can_be_resumed() -> None:
    spec, world, disk = make_spec(40), SimWorld("r1", 1), Disk()
    world.faults = ("model_refuses",)
    world.fault_share = 1.0
    state = RunState(spec)
    Loop(state, disk.append, SimExecutor(world)).go()
    assert 3 <= len(world.agents) <= 2 * KNOBS.slots
    assert len(state.queue) == 40 - len(world.agents)
    assert {task.message for task in state.tasks.values() if task.has_failed} == {"no credit"}
    assert [entry.message for entry in disk.entries if entry.step == "run"] == ["launching stopped"]
    world.fault_share = 0.0
    resumed = Loop(fold(spec, disk.entries), disk.append, SimExecutor(world))
    resumed.resume(Entry(world.now, "run", "noted", message="resumed", fact=RunResumed()))
    assert not resumed.go().queue
    assert len(world.verified) == 40 - len([task for task in state.tasks.values() if task.has_failed])


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
