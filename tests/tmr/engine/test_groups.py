"""Tests that fail alike get one agent first, in the simulated world and for single decisions."""

import random
from itertools import islice

import pytest
from msgspec.structs import replace
from tests.tmr.engine.test_simulation import KNOBS, Disk, KilledError, be_down, make_spec, run_on

from mngr_tmr.engine.admission import BASE_WAIT_S, wait_of
from mngr_tmr.engine.decide import decide
from mngr_tmr.engine.simulated import SimWorld
from mngr_tmr.engine.state import RunState, fold
from mngr_tmr.engine.task_state import TaskPhase
from mngr_tmr.model.entry import Entry
from mngr_tmr.model.facts import (
    BaseFailures,
    BaseMeasured,
    FailureGroup,
    ProviderRefusal,
    RunResumed,
    VerdictsFound,
    VerifyRequest,
    WorkPulled,
)
from mngr_tmr.model.limits import RunLimits
from mngr_tmr.model.run import RunOptions, RunSpec

NO_GROUP = replace(KNOBS, limits=RunLimits(group=False))


def world_of(spec: RunSpec, seed: int, sizes: tuple[int, ...], fault_share: float = 0.0) -> SimWorld:
    """A world in which the first tests fail alike, in groups of these sizes."""
    world, slugs = SimWorld("r1", seed, fault_share=fault_share), iter(task.slug for task in spec.tasks)
    world.alike = tuple(tuple(islice(slugs, size)) for size in sizes)
    return world


def launched(disk: Disk, group: tuple[str, ...]) -> list[str]:
    found = [
        entry.task
        for entry in disk.entries
        if (entry.step, entry.kind) == ("launch", "done") and entry.task in group
    ]
    return list(dict.fromkeys(found))


def check_groups(spec: RunSpec, world: SimWorld, disk: Disk) -> None:
    """Every task has had one agent or a fix that passes; a third of a group only when two have ended."""
    run, had = RunState(spec), {group: list[str]() for group in world.alike}
    for entry in disk.entries:
        if (entry.step, entry.kind) == ("launch", "intended"):
            base = run.in_flight.get(("base", ""))
            is_late = base is not None and entry.at - base.at >= BASE_WAIT_S
            assert run.groups.is_known or is_late, "launched before the base was measured"
            if is_late:
                run.apply(entry)
                continue
            first = had.get(next((one for one in world.alike if entry.task in one), ()), [])
            if entry.task not in first:
                busy = [slug for slug in first[:2] if slug in run.live or slug in run.to_verify]
                assert not busy, f"{entry.task} was launched beside {busy}"
                first.append(entry.task)
        run.apply(entry)
    assert {task.phase for task in run.tasks.values()} == {TaskPhase.ENDED}
    assert set(world.launches.values()) <= {1}, "an attempt was launched twice"
    for slug, task in run.tasks.items():
        agents = sum(count for (name, _), count in world.launches.items() if name == slug)
        if task.fix:
            assert not agents, "an agent was launched for what was fixed"
            assert world.trials[slug, task.fix] >= 1
            assert world.verdict(slug, task.fix) == "passed"
        else:
            assert agents or task.has_failed, f"{slug} has neither an agent nor a fix"
        if world.fault(slug, 1) != "verify_hangs":
            assert all(world.verdict(slug, fix) != "passed" for fix in task.tried)


@pytest.mark.accept("O19", "O7")
def test_one_agent_is_enough_for_forty_tests_that_fail_alike() -> None:
    spec, disk = make_spec(100, replace(KNOBS, slots=20, launchers=20)), Disk()
    world = world_of(spec, 1, (40,))
    state = run_on(spec, world, disk)
    check_groups(spec, world, disk)
    (group,) = world.alike
    assert launched(disk, group) == [group[0]]
    assert {state.tasks[slug].fix for slug in group[1:]} == {group[0]}
    assert sum(world.launches.values()) == 61


@pytest.mark.accept("O19")
def test_after_two_agents_that_fixed_nothing_everybody_of_the_group_gets_one() -> None:
    spec, disk = make_spec(20), Disk()
    world = world_of(spec, 1, (12,))
    world.fixes = 0.0
    run_on(spec, world, disk)
    check_groups(spec, world, disk)
    assert sum(world.launches.values()) == 20
    assert not world.trials


@pytest.mark.accept("O19")
def test_those_that_the_first_fix_does_not_fix_get_a_second_agent_and_its_fix() -> None:
    spec, disk = make_spec(30), Disk()
    world = world_of(spec, 3, (30,))
    world.helps = 0.5
    state = run_on(spec, world, disk)
    check_groups(spec, world, disk)
    fixes = {task.fix for task in state.tasks.values()} - {""}
    assert fixes == set(launched(disk, world.alike[0])[:2])


@pytest.mark.accept("O19")
def test_without_grouping_every_test_gets_an_agent_at_once() -> None:
    spec, disk = make_spec(20, NO_GROUP), Disk()
    world = world_of(spec, 1, (20,))
    run_on(spec, world, disk)
    assert sum(world.launches.values()) == 20
    assert not world.trials
    order = [(entry.step, entry.kind) for entry in disk.entries]
    assert order.index(("launch", "intended")) < order.index(("base", "done"))


@pytest.mark.accept("O19")
@pytest.mark.parametrize("seed", range(40))
def test_groups_hold_whatever_fails(seed: int) -> None:
    spec, disk = make_spec(24), Disk()
    world = world_of(spec, seed, (9, 2, 5), fault_share=0.4)
    chance = random.Random(seed)
    world.fixes, world.helps = chance.choice((0.3, 0.7, 1.0)), chance.choice((0.0, 0.5, 1.0))
    run_on(spec, world, disk)
    check_groups(spec, world, disk)


@pytest.mark.accept("O19")
@pytest.mark.parametrize("before", [True, False], ids=["before", "after"])
def test_a_death_at_every_entry_of_the_journal_keeps_the_groups(before: bool) -> None:
    options = replace(KNOBS, limits=RunLimits())
    chance = random.Random(5)

    def new(boundary: int | None) -> tuple[RunSpec, SimWorld, Disk]:
        spec, disk = make_spec(10, options), Disk()
        world = world_of(spec, 11, (5, 3), fault_share=0.2)
        world.helps = 0.5
        disk.dies_at, disk.dies_before_writing = boundary, before
        return spec, world, disk

    spec, world, disk = new(None)
    run_on(spec, world, disk)
    assert world.trials
    for boundary in range(len(disk.entries)):
        spec, world, disk = new(boundary)
        with pytest.raises(KilledError):
            run_on(spec, world, disk)
        disk.dies_at = None
        be_down(world, chance)
        run_on(spec, world, disk, silent_polls=chance.randrange(4))
        check_groups(spec, world, disk)


SPEC = make_spec(3, RunOptions(slots=9, launchers=9))
A, B, C = (task.slug for task in SPEC.tasks)


def at_the_base() -> RunState:
    group = FailureGroup("E  boom", (A, B))
    return fold(SPEC, [Entry(1, "base", "intended"), Entry(2, "base", "noted", fact=BaseFailures((group,)))])


def why(run: RunState, slug: str) -> str:
    wait = wait_of(run, slug, 10)
    return wait.text if wait else ""


@pytest.mark.accept("O19")
def test_a_waiting_test_says_what_for_and_a_passing_one_does_not_wait() -> None:
    assert why(fold(SPEC, [Entry(1, "base", "intended")]), C) == "waits for the tests at the base commit"
    run = at_the_base()
    assert (why(run, A), why(run, B), why(run, C)) == ("", f"waits for {A}: same failure", "")
    for entry in (
        Entry(3, "launch", "intended", A, 1),
        Entry(4, "launch", "done", A, 1),
        Entry(5, "watch", "done", A, 1, "result"),
        Entry(6, "pull", "done", A, 1, fact=WorkPulled("c0ffee", "tree", verify=True)),
        Entry(7, "stop", "done", A, 1),
        Entry(8, "verify", "intended", A, 1),
    ):
        run.apply(entry)
        assert why(run, B) == f"waits for {A}: same failure"
    run.apply(Entry(9, "verify", "done", A, 1, fact=VerdictsFound("passed")))
    assert why(run, B) == f"waits for {A}: same failure, its fix is tried"


@pytest.mark.accept("O19")
def test_a_test_that_turns_out_to_be_flaky_waits_for_no_other() -> None:
    run = at_the_base()
    run.apply(Entry(3, "launch", "intended", A, 1))
    run.apply(Entry(4, "base", "done", fact=BaseMeasured(3)))
    assert why(run, B) == ""


def test_a_run_whose_base_cannot_be_measured_holds_nothing_back() -> None:
    run = fold(SPEC, [Entry(1, "base", "intended"), Entry(2, "base", "failed", message="no disk")])
    assert (why(run, A), why(run, B)) == ("", "")


@pytest.mark.accept("O19")
def test_a_base_that_takes_long_is_waited_for_five_minutes() -> None:
    run = RunState(make_spec(3))
    (base,) = decide(run, 0)
    assert (base.step, base.kind) == ("base", "intended")
    run.apply(base)
    wait = wait_of(run, run.spec.tasks[0].slug, BASE_WAIT_S - 1)
    assert wait is not None
    assert wait.reason == "base"
    assert {entry.step for entry in decide(run, BASE_WAIT_S - 1)} == set()
    assert {entry.step for entry in decide(run, BASE_WAIT_S)} == {"launch"}


@pytest.mark.accept("O19")
def test_a_first_one_that_turns_out_to_be_flaky_is_waited_for_and_no_longer() -> None:
    alike = FailureGroup("E  boom", (A, B, C))
    run = fold(SPEC, [Entry(1, "base", "intended"), Entry(2, "base", "noted", fact=BaseFailures((alike,)))])
    run.apply(Entry(3, "launch", "intended", A, 1))
    run.apply(Entry(4, "base", "done", fact=BaseMeasured(3, (replace(alike, tasks=(B, C)),))))
    assert why(run, B) == f"waits for {A}: same failure"
    run.apply(Entry(5, "launch", "failed", A, 1, "no room"))
    assert (why(run, B), why(run, C)) == ("", f"waits for {B}: same failure")


@pytest.mark.accept("O19")
def test_a_fixed_test_that_is_asked_for_again_gets_an_agent() -> None:
    run = at_the_base()
    for entry in (
        Entry(3, "launch", "intended", A, 1),
        Entry(4, "launch", "done", A, 1),
        Entry(5, "watch", "done", A, 1, "result"),
        Entry(6, "pull", "done", A, 1, fact=WorkPulled("c0ffee", "tree", verify=True)),
        Entry(7, "stop", "done", A, 1),
        Entry(8, "verify", "intended", A, 1),
        Entry(9, "verify", "done", A, 1, fact=VerdictsFound("passed")),
        Entry(9, "verify", "intended", B, 1, fact=VerifyRequest(fix=A, fix_attempt=1)),
        Entry(9, "verify", "done", B, 1, fact=VerdictsFound("passed")),
    ):
        run.apply(entry)
    assert (run.tasks[B].phase, run.tasks[B].fix) == (TaskPhase.ENDED, A)
    run.apply(Entry(10, "run", "noted", fact=RunResumed(again=(B,))))
    assert why(run, B) == ""
    steps = [(entry.step, entry.task) for entry in decide(run, 11)]
    assert ("launch", B) in steps
    assert ("verify", B) not in steps


@pytest.mark.accept("O19")
def test_a_launch_that_is_refused_for_now_does_not_count_as_an_agent() -> None:
    run = at_the_base()
    run.apply(Entry(3, "launch", "intended", A, 1))
    run.apply(Entry(4, "launch", "later", A, 1, "no room", ProviderRefusal()))
    assert (why(run, A), why(run, B)) == ("", f"waits for {A}: same failure")
