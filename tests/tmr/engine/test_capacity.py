"""Refusals of a provider for now, in a simulated world: they are waited out, and no task is lost to them."""

import random
from itertools import pairwise

import pytest
from msgspec.structs import replace
from tests.tmr.engine.test_simulation import KNOBS, Disk, KilledError, be_down, check_end, make_spec, run_on

from mngr_tmr.engine.decide import decide
from mngr_tmr.engine.simulated import SimWorld
from mngr_tmr.engine.state import RunState, fold
from mngr_tmr.engine.task_state import TaskPhase
from mngr_tmr.model.entry import Entry
from mngr_tmr.model.facts import ProviderRefusal, WorkPulled

pytestmark = pytest.mark.accept("E3")

MANY = replace(KNOBS, slots=20, max_hosts=30, launchers=20)


def test_a_minute_of_refusals_costs_no_task_and_few_tries() -> None:
    spec, world = make_spec(60, MANY), SimWorld("r1", 1)
    world.storms = ((0.0, 30.0), (60.0, 120.0))
    check_end(spec, world, run_on(spec, world, Disk()))
    assert len(world.verified) == 60
    assert 0 < world.refusals < 150, "launching did not slow down"


def test_a_limit_of_three_hosts_that_nobody_told_us_of_costs_no_task() -> None:
    spec, world = make_spec(40, MANY), SimWorld("r1", 2)
    world.host_limit = 3
    state = run_on(spec, world, Disk())
    check_end(spec, world, state)
    assert world.most_hosts == 3
    assert len(world.verified) == 40
    assert {task.attempt for task in state.tasks.values()} == {1}


@pytest.mark.parametrize("seed", range(10))
def test_refusals_faults_deaths_and_downtime_together_lose_nothing(seed: int) -> None:
    spec = make_spec(20, replace(KNOBS, max_hosts=5))
    world, disk = SimWorld("r1", seed, fault_share=0.3), Disk()
    chance, lives = random.Random(seed), 0
    world.host_limit = chance.choice((0, 2, 3))
    while True:
        disk.dies_at = len(disk.entries) + chance.randrange(1, 60) if lives < 8 else None
        disk.dies_before_writing = chance.random() < 0.5
        lives += 1
        start = world.now + chance.uniform(0, 60)
        world.storms = ((start, start + 60),)
        try:
            state = run_on(spec, world, disk)
            break
        except KilledError:
            be_down(world, chance)
    check_end(spec, world, state)


def begun(run: RunState, now: float) -> list[str]:
    """What begins now; it is under way afterwards."""
    entries = decide(run, now)
    for entry in entries:
        run.apply(entry)
    return [entry.task for entry in entries]


def test_after_a_refusal_one_launch_is_tried_then_two_then_as_many_as_before() -> None:
    spec = make_spec(40, replace(KNOBS, slots=40, launchers=40))
    run = fold(spec, [Entry(1, "base", "intended"), Entry(2, "base", "done")])
    slugs = begun(run, 3)
    assert len(slugs) == 40
    for slug in slugs:
        run.apply(Entry(4, "launch", "later", slug, 1, "no more", ProviderRefusal(seed=7)))
    assert {task.phase for task in run.tasks.values()} == {TaskPhase.QUEUED}
    assert (run.capacity.rounds, run.capacity.at) == (1, 4)
    assert 1.5 <= run.capacity.until - 4 <= 2.5
    assert begun(run, run.capacity.until - 0.1) == []
    now = 10.0
    for most in (1, 2, 4, 8, 16):
        found = begun(run, now)
        assert len(found) == min(most, 40)
        assert begun(run, now) == [], "more are tried before it is known whether they are taken"
        run.apply(Entry(now + 1, "launch", "done", found[0], 1))
        for slug in found[1:]:
            run.in_flight.pop(("launch", slug))
        now += 10
    assert run.capacity.rounds == 0


def test_waits_grow_differ_by_their_seed_and_are_as_long_as_the_provider_asks() -> None:
    def waits(seed: int, asked_s: float = 0.0) -> list[float]:
        spec = make_spec(1)
        run, now, found = fold(spec, [Entry(1, "base", "done")]), 10.0, []
        (slug,) = run.tasks
        for _ in range(8):
            assert begun(run, now) == [slug]
            run.apply(Entry(now, "launch", "later", slug, 1, "no", ProviderRefusal(asked_s, seed)))
            found.append(run.capacity.until - now)
            now = run.capacity.until
        return found

    one = waits(1)
    assert one == waits(1)
    assert one != waits(2)
    assert [round(later / earlier) for earlier, later in pairwise(one[:5])] == [2] * 4
    assert all(45 <= wait <= 75 for wait in one[5:])
    assert min(waits(1, 90.0)) == 90.0


@pytest.mark.parametrize("step", ["pull", "stop", "verify", "nudge"])
def test_a_step_that_is_refused_is_tried_again_and_its_task_is_where_it_was(step: str) -> None:
    spec = make_spec(1)
    run = fold(spec, [Entry(1, "base", "done")])
    (slug,) = run.tasks
    path = [
        Entry(2, "launch", "intended", slug, 1),
        Entry(3, "launch", "done", slug, 1),
        Entry(4, "watch", "done", slug, 1, "result"),
        Entry(5, "pull", "intended", slug, 1),
        Entry(6, "pull", "done", slug, 1, fact=WorkPulled(verify=True)),
        Entry(7, "stop", "intended", slug, 1),
        Entry(8, "stop", "done", slug, 1),
        Entry(9, "verify", "intended", slug, 1),
    ]
    if step == "nudge":
        path = [*path[:2], Entry(9, "nudge", "intended", slug, 1)]
    for entry in path:
        before = run.tasks[slug]
        run.apply(entry)
        if (entry.step, entry.kind) == (step, "intended"):
            break
    run.apply(Entry(9, entry.step, "later", slug, 1, "no", ProviderRefusal(seed=1)))
    after = run.tasks[slug]
    assert (after.phase, after.nudged_at, after.stage, after.attempt) == (before.phase, None, "", 1)
    assert not run.in_flight
    if step != "nudge":
        assert [one.step for one in decide(run, 60)] == [step]
