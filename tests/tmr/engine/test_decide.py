"""Single decisions: what the run does next in a given state at a given time."""

import pytest
from msgspec.structs import replace
from tests.tmr.engine.test_simulation import KNOBS, Disk, make_spec

from mngr_tmr.engine.decide import decide
from mngr_tmr.engine.loop import Loop
from mngr_tmr.engine.observation import Activity, AgentStatus, Poll
from mngr_tmr.engine.simulated import SimExecutor, SimWorld
from mngr_tmr.engine.state import RunState, fold, shared_with
from mngr_tmr.engine.task_state import TaskPhase
from mngr_tmr.model.entry import Entry
from mngr_tmr.model.facts import (
    AgentSilent,
    LaunchingStopped,
    PullRequest,
    RunInterrupted,
    RunPaused,
    RunResumed,
    VerdictsFound,
    WorkFailed,
    WorkPulled,
)
from mngr_tmr.model.run import RunOptions

SPEC = make_spec(1)
SLUG = SPEC.tasks[0].slug


def working(options: RunOptions = KNOBS) -> RunState:
    """A run of one task whose agent was launched at 10."""
    return fold(
        replace(SPEC, options=options),
        [
            Entry(1, "base", "intended"),
            Entry(2, "base", "done"),
            Entry(5, "launch", "intended", SLUG, 1),
            Entry(10, "launch", "done", SLUG, 1),
        ],
    )


def see(run: RunState, at: float, activity: Activity, *, result: bool = False, mark: str = "") -> None:
    agent = run.tasks[SLUG].agent
    run.apply_poll(Poll(at, {agent: AgentStatus(agent, activity, result, "so it is", mark)}))


def only(run: RunState, now: float) -> tuple[str, str, str]:
    (entry,) = decide(run, now)
    return entry.step, entry.kind, entry.message


@pytest.mark.accept("P5")
def test_an_agent_past_its_time_is_timed_out_though_it_is_busy() -> None:
    run = working()
    see(run, 609, "working", mark="a")
    assert decide(run, 609) == []
    assert only(run, 610) == ("watch", "failed", "timed out after 600 s")


def to_verify(*trees: str, slots: int = 1, verifiers: int = 1, busy: int = 0, queued: int = 0) -> RunState:
    """A run with a task that waits for a verification for each tree, and agents that are busy."""
    spec = make_spec(len(trees) + busy + queued, replace(KNOBS, slots=slots, verifiers=verifiers))
    run = fold(spec, [Entry(1, "base", "intended"), Entry(2, "base", "done")])
    slugs = [task.slug for task in spec.tasks]
    for slug in slugs[: len(trees) + busy]:
        run.apply(Entry(3, "launch", "intended", slug, 1))
        run.apply(Entry(3, "launch", "done", slug, 1))
    for slug, tree in zip(slugs, trees, strict=False):
        run.apply(Entry(4, "watch", "done", slug, 1, "result"))
        run.apply(Entry(5, "pull", "done", slug, 1, fact=WorkPulled(tree=tree, verify=True)))
        run.apply(Entry(6, "stop", "done", slug, 1))
    return run


def verifications(run: RunState) -> list[int]:
    """How many tasks each verification that begins now is for."""
    return [1 + len(shared_with(entry)) for entry in decide(run, 10) if entry.step == "verify"]


@pytest.mark.accept("M15")
def test_tasks_with_equal_trees_are_verified_together_and_others_are_not() -> None:
    assert verifications(to_verify("x", "y", "x", "x", "", "", busy=1)) == [3]
    assert verifications(to_verify("x", "y", "x", "x", "", "", verifiers=6, busy=1)) == [3, 1, 1, 1]
    assert verifications(to_verify(*("x" * 45), verifiers=2, busy=1)) == [8, 8]
    assert verifications(to_verify("", "", "", verifiers=2, busy=1)) == [1, 1]


@pytest.mark.accept("L5")
def test_slots_that_no_agent_needs_verify_too() -> None:
    trees = [str(number) for number in range(9)]
    assert len(verifications(to_verify(*trees, slots=4, busy=4))) == 1
    assert len(verifications(to_verify(*trees, slots=4, busy=2))) == 3
    assert len(verifications(to_verify(*trees, slots=4, busy=2, queued=2))) == 1
    assert len(verifications(to_verify(*trees, slots=4))) == 4
    assert len(verifications(to_verify(*trees, slots=2, verifiers=5))) == 5


@pytest.mark.accept("M15")
def test_what_a_shared_verification_leaves_open_is_verified_alone() -> None:
    run = to_verify("x", "x", "x", busy=1)
    (intention,) = decide(run, 10)
    run.apply(intention)
    first, second, third = (run.tasks[task.slug] for task in run.spec.tasks[:3])
    assert {first.phase, second.phase, third.phase} == {TaskPhase.VERIFYING}
    found = VerdictsFound(verdicts={first.slug: "failed", second.slug: "passed"})
    touched = run.apply(Entry(20, "verify", "done", first.slug, 1, fact=found))
    assert touched == (first.slug, second.slug, third.slug)
    assert [run.tasks[slug].phase for slug in touched] == [
        TaskPhase.ENDED,
        TaskPhase.ENDED,
        TaskPhase.TO_VERIFY,
    ]
    (again,) = decide(run, 30)
    assert (again.task, again.fact) == (third.slug, None)
    run.apply(again)
    run.apply(Entry(40, "verify", "failed", third.slug, 1, "no host"))
    assert (run.tasks[third.slug].phase, run.tasks[third.slug].stage) == (TaskPhase.ENDED, "verify")


@pytest.mark.accept("M15", "P4")
def test_a_shared_verification_that_never_answers_fails_nobody_at_once() -> None:
    run = to_verify("x", "x", busy=1)
    (intention,) = decide(run, 10)
    run.apply(intention)
    late = 10 + 2 * run.options.verify_deadline_s
    assert [entry for entry in decide(run, late - 1) if entry.step == "verify"] == []
    (overdue,) = (entry for entry in decide(run, late) if entry.step == "verify")
    run.apply(overdue)
    states = [run.tasks[task.slug] for task in run.spec.tasks[:2]]
    assert [(state.phase, state.alone, state.stage) for state in states] == [
        (TaskPhase.TO_VERIFY, True, "")
    ] * 2


@pytest.mark.accept("P4")
def test_an_agent_whose_screen_stands_still_is_given_up_before_its_time() -> None:
    run = working()
    see(run, 20, "working", mark="a")
    for at in (100, 200, 300, 390):
        see(run, at, "working", mark="b")
    (note,) = decide(run, 399)
    assert (note.kind, note.fact) == ("noted", AgentSilent(100.0))
    run.apply(note)
    assert decide(run, 399) == []
    assert only(run, 400) == ("watch", "failed", "no sign of life for 300 s")


@pytest.mark.accept("P4", "P6")
def test_an_agent_is_not_given_up_because_looks_at_it_are_slow() -> None:
    run = working()
    for at in (100, 250, 420):
        see(run, at, "working", mark="a")
    assert [entry.kind for entry in decide(run, 430)] == ["noted"]
    see(run, 430, "working", mark="a")
    assert only(run, 430) == ("watch", "failed", "no sign of life for 300 s")


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


@pytest.mark.accept("M8", "U2")
def test_that_an_agent_waits_for_a_person_is_written_down_once_and_again_when_it_goes_on() -> None:
    run, agent = working(), ""
    agent = run.tasks[SLUG].agent
    for at, question in ((20.0, "Delete 3 files?"), (25.0, "Delete 4 files?"), (30.0, "Push?")):
        run.apply_poll(Poll(at, {agent: AgentStatus(agent, "waiting", asks="permission", question=question)}))
        for entry in decide(run, at):
            assert (entry.step, entry.kind) == ("watch", "noted")
            run.apply(entry)
        assert decide(run, at) == []
        assert (run.tasks[SLUG].asks, run.tasks[SLUG].phase) == ("permission", TaskPhase.WORKING)
        assert run.tasks[SLUG].question == ("Push?" if at == 30.0 else "Delete 3 files?")
    see(run, 40, "working")
    (entry,) = decide(run, 40)
    run.apply(entry)
    assert (run.tasks[SLUG].asks, run.tasks[SLUG].notes) == ("", ())


@pytest.mark.accept("M19")
def test_an_error_of_the_model_that_no_retry_changes_ends_the_wait_at_once() -> None:
    run = working()
    agent = run.tasks[SLUG].agent
    run.apply_poll(
        Poll(20, {agent: AgentStatus(agent, "working", error="billing: no credit", error_kind="billing")})
    )
    assert decide(run, 20) == []
    run.apply_poll(
        Poll(21, {agent: AgentStatus(agent, "waiting", error="billing: no credit", error_kind="billing")})
    )
    (entry,) = decide(run, 21)
    assert (entry.step, entry.kind, entry.message) == ("watch", "failed", "billing: no credit")
    run.apply(entry)
    (pull,) = decide(run, 22)
    assert (pull.step, pull.fact) == ("pull", PullRequest(salvage=True))


@pytest.mark.accept("M19")
def test_the_third_equal_error_of_the_model_stops_the_launching_until_a_resume() -> None:
    spec = make_spec(9, replace(KNOBS, slots=9))
    run = fold(spec, [Entry(1, "base", "done")])
    for number, kind in enumerate(("billing", "model", "billing", "billing")):
        assert run.repeated_error is None
        slug = spec.tasks[number].slug
        run.apply(Entry(2, "launch", "intended", slug, 1))
        run.apply(Entry(3, "launch", "done", slug, 1))
        run.apply(Entry(4, "watch", "failed", slug, 1, f"{kind}: no", WorkFailed("model_error", kind)))
    (entry,) = decide(run, 5)
    assert (entry.step, entry.kind, entry.task) == ("run", "noted", "")
    assert entry.fact == LaunchingStopped("3 agents ended with the same error of the model: billing: no")
    run.apply(entry)
    assert {one.step for one in decide(run, 5)} == {"pull"}
    run.apply(Entry(6, "run", "noted", message="resumed", fact=RunResumed()))
    assert run.stopped_why == ""
    assert "launch" in {one.step for one in decide(run, 7)}


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
    run.apply_poll(Poll(30, {}, is_whole=False))
    assert [entry.kind for entry in decide(run, 200)] == ["noted"]
    run.apply_poll(Poll(210, {}))
    assert decide(run, 229) == []
    assert only(run, 230) == ("watch", "failed", "the agent disappeared")


@pytest.mark.accept("P4", "P6")
def test_a_state_that_stays_unknown_is_asked_once_and_given_up_when_nobody_is_there() -> None:
    run = working()
    agent = run.tasks[SLUG].agent
    run.apply_poll(Poll(20, {agent: AgentStatus(agent, "unknown", how="host silent")}, is_whole=False))
    assert decide(run, 200) == []
    see(run, 210, "unknown")
    assert decide(run, 269) == []
    assert only(run, 270) == ("nudge", "intended", "")
    run.apply(Entry(270, "nudge", "intended", SLUG, 1))
    assert decide(run, 271) == []
    run.apply(Entry(272, "nudge", "failed", SLUG, 1, "nobody would read it"))
    assert only(run, 272) == ("watch", "failed", "the agent's state cannot be read: so it is")


def test_an_agent_that_was_never_seen_has_disappeared_too_but_not_by_an_old_look() -> None:
    run = working()
    run.apply_poll(Poll(9, {}))
    assert decide(run, 100) == []
    run.apply_poll(Poll(100, {}))
    assert only(run, 120) == ("watch", "failed", "the agent disappeared")


@pytest.mark.accept("P2")
def test_the_order_is_pull_then_stop_then_verify() -> None:
    disk = Disk()
    Loop(RunState(SPEC), disk.append, SimExecutor(SimWorld("r1", 1))).go()
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
    executor = SimExecutor(world)
    loop = Loop(run, disk.append, executor)
    loop.run_due()
    while len(world.agents) < KNOBS.slots:
        loop.handle(executor.results(1.0))
        loop.run_due()
    loop.record((Entry(world.now, "run", "noted", message="interrupted", fact=RunInterrupted()),))
    loop.go()
    assert len(world.agents) == len(world.verified) == KNOBS.slots
    assert len(run.queue) == 12 - KNOBS.slots
    resumed = Loop(fold(spec, disk.entries), disk.append, SimExecutor(world))
    resumed.resume(Entry(world.now, "run", "noted", message="resumed", fact=RunResumed()))
    resumed.go()
    assert len(world.verified) == 12
    assert set(world.launches.values()) == {1}


@pytest.mark.accept("P11", "P12")
def test_two_interrupts_stop_the_agents_and_a_resumed_run_tries_them_again() -> None:
    spec, disk, world = make_spec(6), Disk(), SimWorld("r1", 2)
    run = RunState(spec)
    executor = SimExecutor(world)
    loop = Loop(run, disk.append, executor)
    loop.run_due()
    while len(world.agents) < KNOBS.slots:
        loop.handle(executor.results(1.0))
        loop.run_due()
    loop.record((Entry(world.now, "run", "noted", message="interrupted", fact=RunInterrupted(abort=True)),))
    loop.go()
    assert world.alive() == []
    assert not world.verified
    again = Loop(fold(spec, disk.entries), disk.append, SimExecutor(world))
    again.resume(Entry(world.now, "run", "noted", message="resumed", fact=RunResumed()))
    state = again.go()
    assert {task.phase for task in state.tasks.values()} == {TaskPhase.ENDED}
    assert sorted(task.attempt for task in state.tasks.values()) == [1, 1, 2, 2, 2, 2]
    assert not any(task.has_failed for task in state.tasks.values())
    assert len(world.verified) == 6


@pytest.mark.accept("M11")
def test_a_late_word_about_an_earlier_attempt_changes_nothing() -> None:
    entries = [
        Entry(1, "base", "done"),
        Entry(5, "launch", "intended", SLUG, 1),
        Entry(6, "launch", "failed", SLUG, 1, "no slot"),
        Entry(7, "run", "noted", message="resumed", fact=RunResumed(again=(SLUG,))),
        Entry(8, "launch", "intended", SLUG, 2),
    ]
    run = fold(SPEC, entries)
    run.apply(Entry(9, "launch", "failed", SLUG, 1, "late"))
    assert run.tasks[SLUG].phase == TaskPhase.LAUNCHING
    assert ("launch", SLUG) in run.in_flight


def test_no_more_tests_are_verified_at_once_than_there_are_verifiers_and_idle_slots() -> None:
    spec, disk = make_spec(20, RunOptions(slots=10, launchers=20, verifiers=2)), Disk()
    Loop(RunState(spec), disk.append, SimExecutor(SimWorld("r1", 4, work_s=(5, 6), trees=1000))).go()
    busy = agents = most = 0
    for entry in disk.entries:
        if entry.step in ("verify", "base"):
            busy += 1 if entry.kind == "intended" else -1
        elif (entry.step, entry.kind) == ("launch", "intended"):
            agents += 1
        elif (entry.step, entry.kind) == ("stop", "done"):
            agents -= 1
        most = max(most, busy)
        assert busy <= max(2, 2 + 10 - agents)
    assert 2 < most <= 10


@pytest.mark.accept("M13")
def test_agents_are_kept_when_that_was_asked() -> None:
    spec, world = make_spec(3, replace(KNOBS, keep=True)), SimWorld("r1", 1)
    Loop(RunState(spec), Disk().append, SimExecutor(world)).go()
    assert len(world.alive()) == 3


def test_the_longest_known_task_starts_first() -> None:
    seconds = (1.0, 9.0, 5.0)
    tasks = tuple(
        replace(task, expected_s=known) for task, known in zip(make_spec(3).tasks, seconds, strict=True)
    )
    run = RunState(replace(make_spec(3), tasks=tasks))
    assert [tasks.index(next(task for task in tasks if task.slug == slug)) for slug in run.queue] == [1, 2, 0]


def resumed(at: float) -> RunState:
    """The same run, taken up again at this time."""
    run = working()
    run.apply(Entry(at, "run", "noted", message="resumed", fact=RunResumed()))
    return run


@pytest.mark.accept("Q12")
def test_after_a_resume_no_deadline_counts_before_a_look_that_shows_all_agents() -> None:
    """TH-H3."""
    run = resumed(at=100_000)
    agent = run.tasks[SLUG].agent
    run.apply_poll(Poll(100_001, {}, is_whole=False))
    run.apply_poll(Poll(100_002, {agent: AgentStatus(agent, "unknown", how="host silent")}, is_whole=False))
    assert decide(run, 100_500) == []
    see(run, 100_500, "working", mark="a")
    see(run, 101_000, "working", mark="b")
    assert decide(run, 101_099) == []
    assert only(run, 101_100) == ("watch", "failed", "timed out after 600 s")


@pytest.mark.accept("Q12")
def test_a_look_is_complete_when_it_shows_all_agents_though_some_other_host_is_silent() -> None:
    run = resumed(at=100_000)
    agent = run.tasks[SLUG].agent
    for at in (100_010, 100_100, 100_200, 100_300):
        run.apply_poll(Poll(at, {agent: AgentStatus(agent, "working")}, is_whole=False))
    assert only(run, 100_310) == ("watch", "failed", "no sign of life for 300 s")


@pytest.mark.accept("Q12", "P6")
def test_a_host_that_is_gone_for_good_does_not_keep_a_resumed_run_from_ending() -> None:
    run = resumed(at=100_000)
    run.apply_poll(Poll(100_001, {}, is_whole=False))
    assert decide(run, 101_199) == []
    assert only(run, 101_200) == ("watch", "failed", "timed out after 600 s")


@pytest.mark.accept("Q12")
def test_a_step_in_flight_gets_a_new_deadline_after_a_resume() -> None:
    """TH-H3."""
    run = working()
    run.apply(Entry(30, "watch", "done", SLUG, 1, "result"))
    run.apply(Entry(31, "pull", "intended", SLUG, 1))
    run.apply(Entry(100_000, "run", "noted", message="resumed", fact=RunResumed()))
    assert decide(run, 100_001) == []
    see(run, 100_010, "waiting", result=True)
    assert decide(run, 100_309) == []
    assert only(run, 100_310) == ("pull", "failed", "no answer within 300 s")


@pytest.mark.accept("Q12")
def test_a_pause_of_the_orchestrator_counts_for_no_agent_and_ends_with_a_complete_look() -> None:
    run = working()
    see(run, 500, "working", mark="a")
    run.apply(Entry(40_000, "run", "noted", message="paused", fact=RunPaused(509.0)))
    assert decide(run, 40_000) == []
    see(run, 39_999, "working", mark="a")  # it was on its way since before the pause
    assert decide(run, 40_050) == []
    see(run, 40_050, "working", mark="b")
    assert decide(run, 40_150) == []
    assert only(run, 40_151) == ("watch", "failed", "timed out after 600 s")


@pytest.mark.accept("Q12", "P5")
def test_a_result_is_taken_though_the_time_is_over() -> None:
    run = working()
    see(run, 605, "working", result=True)
    assert decide(run, 612) == []
    assert only(run, 625) == ("watch", "done", "result, still busy")
