"""Single decisions: what the run does next in a given state at a given time."""

import pytest
from msgspec.structs import replace
from tests.tmr.engine.test_simulation import KNOBS, Disk, make_spec

from mngr_tmr.engine.decide import decide
from mngr_tmr.engine.loop import Loop
from mngr_tmr.engine.sight import Look, Mood, Seen
from mngr_tmr.engine.simulated import SimHands, SimWorld
from mngr_tmr.engine.state import Phase, RunState, fold
from mngr_tmr.model.entry import Entry
from mngr_tmr.model.run import Knobs

SPEC = make_spec(1)
SLUG = SPEC.tasks[0].slug


def working(knobs: Knobs = KNOBS) -> RunState:
    """A run of one task whose agent was launched at 10."""
    return fold(
        replace(SPEC, knobs=knobs),
        [
            Entry(1, "base", "intended"),
            Entry(2, "base", "done"),
            Entry(5, "launch", "intended", SLUG, 1),
            Entry(10, "launch", "done", SLUG, 1),
        ],
    )


def see(run: RunState, at: float, mood: Mood, *, result: bool = False, activity: str = "") -> None:
    agent = run.tasks[SLUG].agent
    run.see(Look(at, {agent: Seen(agent, mood, result, "so it is", activity)}))


def only(run: RunState, now: float) -> tuple[str, str, str]:
    (entry,) = decide(run, now)
    return entry.step, entry.kind, entry.message


@pytest.mark.accept("P5")
def test_an_agent_past_its_time_is_timed_out_though_it_is_busy() -> None:
    run = working()
    see(run, 609, "working", activity="a")
    assert decide(run, 609) == []
    assert only(run, 610) == ("watch", "failed", "timed out after 600 s")


@pytest.mark.accept("P4")
def test_an_agent_whose_screen_stands_still_is_given_up_before_its_time() -> None:
    run = working()
    see(run, 20, "working", activity="a")
    see(run, 100, "working", activity="b")
    see(run, 390, "working", activity="b")
    assert decide(run, 399) == []
    assert only(run, 400) == ("watch", "failed", "no sign of life for 300 s")


@pytest.mark.accept("M8")
def test_an_idle_agent_is_nudged_once_and_then_recorded() -> None:
    run = working()
    see(run, 20, "waiting")
    assert decide(run, 79) == []
    assert only(run, 80) == ("nudge", "intended", "")
    run.apply(Entry(80, "nudge", "intended", SLUG, 1))
    run.apply(Entry(81, "nudge", "done", SLUG, 1))
    assert decide(run, 139) == []
    assert only(run, 140)[2] == "idle without a result, also after a nudge: so it is"


@pytest.mark.accept("M8")
def test_work_after_a_nudge_starts_the_patience_anew() -> None:
    run = working()
    see(run, 20, "waiting")
    run.apply(Entry(80, "nudge", "intended", SLUG, 1))
    run.apply(Entry(81, "nudge", "done", SLUG, 1))
    see(run, 90, "working")
    see(run, 200, "waiting")
    assert decide(run, 259) == []
    assert only(run, 260)[:2] == ("watch", "failed")


@pytest.mark.accept("P1", "P2")
def test_a_result_of_an_agent_at_rest_is_fetched_at_once_and_of_a_busy_one_after_its_grace() -> None:
    resting, busy = working(), working()
    see(resting, 30, "waiting", result=True)
    see(busy, 30, "working", result=True)
    assert only(resting, 30) == ("watch", "done", "result")
    assert decide(busy, 49) == []
    assert only(busy, 50) == ("watch", "done", "result, still busy")


@pytest.mark.accept("P4")
def test_an_agent_that_ended_gets_its_grace_and_its_words_are_kept() -> None:
    run = working()
    see(run, 30, "ended")
    assert decide(run, 49) == []
    assert only(run, 50) == ("watch", "failed", "the agent ended without a result: so it is")


@pytest.mark.accept("P6")
def test_a_host_that_does_not_answer_makes_no_agent_disappear() -> None:
    run = working()
    see(run, 20, "working")
    run.see(Look(30, {}, is_whole=False))
    assert decide(run, 200) == []
    run.see(Look(210, {}))
    assert decide(run, 229) == []
    assert only(run, 230) == ("watch", "failed", "the agent disappeared")


@pytest.mark.accept("P4", "P6")
def test_a_state_that_stays_unknown_is_asked_once_and_given_up_when_nobody_is_there() -> None:
    run = working()
    agent = run.tasks[SLUG].agent
    run.see(Look(20, {agent: Seen(agent, "unknown", how="host silent")}, is_whole=False))
    assert decide(run, 200) == []
    see(run, 210, "unknown")
    assert decide(run, 269) == []
    assert only(run, 270) == ("nudge", "intended", "")
    run.apply(Entry(270, "nudge", "intended", SLUG, 1))
    assert decide(run, 271) == []
    run.apply(Entry(272, "nudge", "failed", SLUG, 1, "nobody would read it"))
    assert only(run, 272) == ("watch", "failed", "the agent is lost: so it is")


def test_an_agent_that_was_never_seen_has_disappeared_too_but_not_by_an_old_look() -> None:
    run = working()
    run.see(Look(9, {}))
    assert decide(run, 100) == []
    run.see(Look(100, {}))
    assert only(run, 120) == ("watch", "failed", "the agent disappeared")


@pytest.mark.accept("P2")
def test_the_order_is_pull_then_stop_then_verify() -> None:
    disk = Disk()
    Loop(RunState(SPEC), disk.append, SimHands(SimWorld("r1", 1))).go()
    steps = [(entry.step, entry.kind) for entry in disk.entries if entry.task]
    assert steps == [
        (step, kind)
        for step in ("launch", "watch", "pull", "stop", "verify")
        for kind in ("intended", "done")
        if (step, kind) != ("watch", "intended")
    ]


@pytest.mark.accept("P6")
def test_a_launch_that_answers_after_it_was_given_up_is_stopped() -> None:
    run = fold(SPEC, [Entry(1, "base", "done"), Entry(5, "launch", "intended", SLUG, 1)])
    assert only(run, 605) == ("launch", "failed", "no answer within 600 s")
    run.apply(Entry(605, "launch", "failed", SLUG, 1, "no answer within 600 s"))
    assert run.is_over
    run.apply(Entry(700, "launch", "done", SLUG, 1))
    assert not run.is_over
    assert only(run, 700) == ("stop", "intended", "")
    run.apply(Entry(700, "stop", "intended", SLUG, 1))
    run.apply(Entry(701, "stop", "done", SLUG, 1))
    assert run.is_over
    assert run.tasks[SLUG].stage == "launch"


@pytest.mark.accept("P11")
def test_one_interrupt_launches_nothing_more_and_lets_what_runs_end() -> None:
    spec, disk, world = make_spec(12), Disk(), SimWorld("r1", 2)
    run = RunState(spec)
    hands = SimHands(world)
    loop = Loop(run, disk.append, hands)
    loop.settle()
    while len(world.agents) < KNOBS.slots:
        loop.hear(hands.news(1.0))
        loop.settle()
    loop.record((Entry(world.now, "run", "noted", message="interrupted"),))
    loop.go()
    assert len(world.agents) == len(world.verified) == KNOBS.slots
    assert len(run.queue) == 12 - KNOBS.slots
    resumed = Loop(fold(spec, disk.entries), disk.append, SimHands(world))
    resumed.resume(Entry(world.now, "run", "noted", message="resumed"))
    resumed.go()
    assert len(world.verified) == 12
    assert set(world.launches.values()) == {1}


@pytest.mark.accept("P11", "P12")
def test_two_interrupts_stop_the_agents_and_a_resumed_run_tries_them_again() -> None:
    spec, disk, world = make_spec(6), Disk(), SimWorld("r1", 2)
    run = RunState(spec)
    hands = SimHands(world)
    loop = Loop(run, disk.append, hands)
    loop.settle()
    while len(world.agents) < KNOBS.slots:
        loop.hear(hands.news(1.0))
        loop.settle()
    loop.record((Entry(world.now, "run", "noted", message="interrupted", data={"abort": True}),))
    loop.go()
    assert world.alive() == []
    assert not world.verified
    again = Loop(fold(spec, disk.entries), disk.append, SimHands(world))
    again.resume(Entry(world.now, "run", "noted", message="resumed"))
    state = again.go()
    assert {task.phase for task in state.tasks.values()} == {Phase.ENDED}
    assert sorted(task.attempt for task in state.tasks.values()) == [1, 1, 2, 2, 2, 2]
    assert not any(task.has_failed for task in state.tasks.values())
    assert len(world.verified) == 6


@pytest.mark.accept("M11")
def test_a_late_word_about_an_earlier_attempt_changes_nothing() -> None:
    entries = [
        Entry(1, "base", "done"),
        Entry(5, "launch", "intended", SLUG, 1),
        Entry(6, "launch", "failed", SLUG, 1, "no slot"),
        Entry(7, "run", "noted", message="resumed", data={"again": [SLUG]}),
        Entry(8, "launch", "intended", SLUG, 2),
    ]
    run = fold(SPEC, entries)
    run.apply(Entry(9, "launch", "failed", SLUG, 1, "late"))
    assert run.tasks[SLUG].phase == Phase.LAUNCHING
    assert ("launch", SLUG) in run.in_flight


def test_no_more_tests_are_verified_at_once_than_there_are_verifiers() -> None:
    spec, disk = make_spec(20, Knobs(slots=20, launchers=20, verifiers=2)), Disk()
    Loop(RunState(spec), disk.append, SimHands(SimWorld("r1", 4, work_s=(5, 6)))).go()
    busy = most = 0
    for entry in disk.entries:
        if entry.step in ("verify", "base"):
            busy += 1 if entry.kind == "intended" else -1
            most = max(most, busy)
    assert most == 2


@pytest.mark.accept("M13")
def test_agents_are_kept_when_that_was_asked() -> None:
    spec, world = make_spec(3, replace(KNOBS, keep=True)), SimWorld("r1", 1)
    Loop(RunState(spec), Disk().append, SimHands(world)).go()
    assert len(world.alive()) == 3


def test_the_longest_known_task_starts_first() -> None:
    seconds = (1.0, 9.0, 5.0)
    tasks = tuple(
        replace(task, expected_s=known) for task, known in zip(make_spec(3).tasks, seconds, strict=True)
    )
    run = RunState(replace(make_spec(3), tasks=tasks))
    assert [tasks.index(next(task for task in tasks if task.slug == slug)) for slug in run.queue] == [1, 2, 0]
