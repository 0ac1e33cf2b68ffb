"""Hosts of a run in a simulated world: never more than the maximum, gone when their work is home, and nothing lost."""

import random

import pytest
from msgspec.structs import replace
from tests.tmr.engine.test_simulation import KNOBS, Disk, KilledError, be_down, check_end, make_spec, run_on

from mngr_tmr.engine.decide import decide
from mngr_tmr.engine.loop import Loop
from mngr_tmr.engine.simulated import SimExecutor, SimWorld
from mngr_tmr.engine.state import RunState, fold
from mngr_tmr.engine.task_state import TaskPhase
from mngr_tmr.model.entry import Entry
from mngr_tmr.model.facts import AgentStopped, RunResumed, StopRequest, VerdictsFound, WorkPulled

pytestmark = pytest.mark.accept("E2")

BOUNDED = replace(KNOBS, max_hosts=5)


@pytest.mark.parametrize("most", [1, 2, 3, 6, 30])
def test_hosts_of_tasks_and_verifications_together_never_exceed_the_maximum(most: int) -> None:
    spec = make_spec(30, replace(KNOBS, max_hosts=most))
    world = SimWorld("r1", most)
    check_end(spec, world, run_on(spec, world, Disk()))
    assert len(world.verified) == 30
    assert world.most_hosts == min(most, KNOBS.slots + KNOBS.verifiers)


@pytest.mark.parametrize("seed", range(12))
def test_the_bound_holds_with_every_fault_and_no_host_is_left(seed: int) -> None:
    spec, world = make_spec(30, BOUNDED), SimWorld("r1", seed, fault_share=0.6)
    check_end(spec, world, run_on(spec, world, Disk()))


@pytest.mark.parametrize("seed", range(12))
def test_the_bound_holds_through_deaths_and_downtime(seed: int) -> None:
    spec, world, disk = make_spec(20, BOUNDED), SimWorld("r1", seed, fault_share=0.4), Disk()
    chance, lives = random.Random(seed), 0
    while True:
        disk.dies_at = len(disk.entries) + chance.randrange(1, 40) if lives < 12 else None
        disk.dies_before_writing = chance.random() < 0.5
        lives += 1
        try:
            state = run_on(spec, world, disk, silent_polls=chance.randrange(3))
            break
        except KilledError:
            be_down(world, chance)
    check_end(spec, world, state)


def test_a_verification_gets_the_host_that_is_free_before_another_agent_does() -> None:
    spec = make_spec(3, replace(KNOBS, max_hosts=2))
    run = fold(spec, [Entry(1, "base", "intended"), Entry(2, "base", "done")])
    one, two, three = (task.slug for task in spec.tasks)
    for slug in (one, two):
        run.apply(Entry(3, "launch", "intended", slug, 1))
        run.apply(Entry(4, "launch", "done", slug, 1))
    assert decide(run, 5) == []
    run.apply(Entry(6, "watch", "done", one, 1, "result"))
    run.apply(Entry(7, "pull", "done", one, 1, fact=WorkPulled(verify=True)))
    (stop,) = decide(run, 8)
    assert (stop.step, stop.fact) == ("stop", StopRequest("end"))
    run.apply(stop)
    run.apply(Entry(9, "stop", "done", one, 1, fact=AgentStopped(host="end")))
    (verify,) = decide(run, 10)
    assert (verify.step, verify.task) == ("verify", one)
    run.apply(verify)
    assert decide(run, 11) == []
    run.apply(Entry(12, "verify", "done", one, 1, fact=VerdictsFound(verdicts={one: "passed"})))
    assert [(entry.step, entry.task) for entry in decide(run, 13)] == [("launch", three)]


def test_a_host_whose_work_could_not_be_pulled_is_stopped_and_not_ended() -> None:
    spec = make_spec(1, BOUNDED)
    (slug,) = (task.slug for task in spec.tasks)
    run = fold(spec, [Entry(1, "base", "intended"), Entry(2, "base", "done")])
    run.apply(Entry(3, "launch", "intended", slug, 1))
    run.apply(Entry(4, "launch", "done", slug, 1))
    run.apply(Entry(5, "watch", "done", slug, 1))
    run.apply(Entry(5, "pull", "failed", slug, 1, "no room on the disk"))
    (stop,) = decide(run, 6)
    assert (stop.step, stop.fact) == ("stop", StopRequest("stop"))
    run.apply(stop)
    run.apply(Entry(7, "stop", "done", slug, 1, fact=AgentStopped(host="live")))
    assert run.free_hosts(8) == BOUNDED.max_hosts - 1, "one that cannot be stopped still counts"
    assert run.tasks[slug].phase == TaskPhase.ENDED
    assert decide(run, 1000) == []


def test_hosts_that_cannot_be_ended_are_tried_again_and_at_last_stop_the_launching() -> None:
    spec, disk = make_spec(4, replace(KNOBS, max_hosts=1, slots=1)), Disk()

    class Stuck(SimExecutor):
        """No host can be ended."""

        def _ends_at_last(self, intention: Entry) -> bool:
            return False

    world = SimWorld("r1", 1, fault_share=1.0)
    world.faults = ("stop_fails",)
    state = Loop(RunState(spec), disk.append, Stuck(world)).go()
    assert world.most_hosts == 1
    assert len(world.agents) == 1
    stops = [entry for entry in disk.entries if (entry.step, entry.kind) == ("stop", "intended")]
    assert len(stops) == 7
    assert [entry.message for entry in disk.entries if entry.step == "run"] == ["launching stopped"]
    (ended,) = (task for task in state.tasks.values() if task.phase == TaskPhase.ENDED)
    assert (ended.stage, ended.message.partition(",")[0]) == ("verify", "1 hosts could not be ended")


def test_without_a_maximum_stops_are_as_they_were() -> None:
    spec, disk = make_spec(4), Disk()
    run_on(spec, SimWorld("r1", 1), disk)
    assert all(entry.fact in (None, AgentStopped()) for entry in disk.entries if entry.step == "stop")


def test_a_journal_of_an_older_version_is_resumed_with_a_maximum() -> None:
    """Its stops say nothing of hosts, and its failures not whether the step had answered."""
    spec = make_spec(3)
    one, two, three = (task.slug for task in spec.tasks)
    old = [Entry(1, "base", "intended"), Entry(2, "base", "done")]
    for slug in (one, two, three):
        old += [Entry(3, "launch", "intended", slug, 1), Entry(4, "launch", "done", slug, 1)]
    old += [
        Entry(5, "watch", "done", one, 1, "result"),
        Entry(6, "pull", "intended", one, 1),
        Entry(7, "pull", "done", one, 1, fact=WorkPulled("c1", verify=True)),
        Entry(8, "stop", "intended", one, 1),
        Entry(9, "stop", "done", one, 1, fact=AgentStopped(True)),
        Entry(10, "verify", "intended", one, 1),
        Entry(11, "verify", "failed", one, 1, "no answer within 1800 s"),
        Entry(12, "run", "noted", message="resumed", fact=RunResumed({"max_hosts": 3})),
    ]
    run = fold(spec, old)
    assert run.free_hosts(13) == 1
    assert sorted(held.task for held in run.hosts.held.values()) == sorted((two, three))


def test_a_thousand_tasks_over_a_hundred_hosts_lose_nothing() -> None:
    """With faults, a minute of refusals, a provider with room for ninety, and two deaths."""
    spec = make_spec(1000, replace(KNOBS, slots=80, launchers=20, verifiers=20, max_hosts=100))
    world, disk = SimWorld("r1", 2, fault_share=0.05), Disk()
    world.faults = ("crashes", "idles_until_nudged", "pull_fails", "stop_fails")
    world.host_limit, world.storms = 90, ((100.0, 160.0),)
    for entries in (1500, 4000, None):
        disk.dies_at = entries
        try:
            state = run_on(spec, world, disk)
        except KilledError:
            continue
    check_end(spec, world, state)
    assert 80 <= world.most_hosts <= 90
    assert len(world.verified) >= 950
