"""What was lost with a host is tried again, at most twice; what an agent finished is not run again."""

import pytest
from msgspec.structs import replace
from tests.tmr.engine.test_decide import SLUG, only, see, working
from tests.tmr.engine.test_simulation import KNOBS, Disk, check_end, make_spec, run_on

from mngr_tmr.engine.decide import decide
from mngr_tmr.engine.observation import AgentStatus, Poll
from mngr_tmr.engine.simulated import SimWorld
from mngr_tmr.engine.state import RunState, fold
from mngr_tmr.engine.task_state import TaskPhase
from mngr_tmr.model.entry import Entry, Step
from mngr_tmr.model.facts import (
    AnyFact,
    HostFailed,
    LaunchingStopped,
    RunSteered,
    StepOverdue,
    TaskRetried,
    WorkFailed,
    WorkPulled,
)

pytestmark = pytest.mark.accept("O12")


def launch_fails(run: RunState, at: float, fact: AnyFact | None) -> None:
    attempt = run.tasks[SLUG].attempt
    run.apply(Entry(at, "launch", "intended", SLUG, attempt))
    run.apply(Entry(at + 1, "launch", "failed", SLUG, attempt, "no answer", fact))


def steps(run: RunState, now: float) -> list[Step]:
    return [entry.step for entry in decide(run, now)]


def test_a_launch_without_an_answer_is_tried_twice_more_and_each_wait_is_longer() -> None:
    run, now, waits = fold(make_spec(1), [Entry(1, "base", "done")]), 10.0, []
    for attempt in (1, 2):
        launch_fails(run, now, HostFailed())
        assert not run.is_over
        due = run.due_retries[SLUG].due_at
        assert decide(run, due - 0.1) == []
        (entry,) = decide(run, due)
        assert (entry.fact, entry.attempt) == (TaskRetried(), attempt)
        run.apply(entry)
        assert (run.tasks[SLUG].phase, run.tasks[SLUG].attempt) == (TaskPhase.QUEUED, attempt + 1)
        waits.append(due - now)
        now = due
    launch_fails(run, now, HostFailed())
    assert run.is_over
    assert run.tasks[SLUG].notes == tuple(f"attempt {n}: launch failed: no answer" for n in (1, 2))
    assert 3 < waits[0] < 8 < 20 < waits[1] < 40


@pytest.mark.parametrize("fact", [None, StepOverdue()])
def test_a_launch_that_another_host_would_refuse_or_that_may_yet_succeed_is_not(fact: AnyFact | None) -> None:
    run = fold(make_spec(1), [Entry(1, "base", "done")])
    launch_fails(run, 10, fact)
    assert run.is_over
    assert decide(run, 1000) == []


@pytest.mark.parametrize("cause", ["disappeared", "host_lost", "ended", "timeout", "model_error"])
def test_an_agent_that_was_lost_with_its_host_gets_a_new_attempt_and_no_other_does(cause: str) -> None:
    run = working()
    see(run, 20, "ended")
    if cause == "host_lost":
        agent = run.tasks[SLUG].agent
        run.apply_poll(Poll(20, {agent: AgentStatus(agent, "ended", has_lost_host=True)}))
        (entry,) = decide(run, 60)
        assert entry.fact == WorkFailed("host_lost")
    else:
        entry = Entry(60, "watch", "failed", SLUG, 1, "so it is", WorkFailed(cause))  # type: ignore[arg-type]
    run.apply(entry)
    run.apply(Entry(61, "pull", "failed", SLUG, 1, "no such host"))
    run.apply(Entry(62, "stop", "failed", SLUG, 1, "no such host"))
    assert bool(run.due_retries) == (cause in ("disappeared", "host_lost"))
    assert [entry.fact for entry in decide(run, 200)] == [TaskRetried()] * bool(run.due_retries)


def test_nothing_is_tried_again_once_a_person_gave_it_up_or_launching_stopped() -> None:
    run = fold(make_spec(1), [Entry(1, "base", "done")])
    launch_fails(run, 10, HostFailed())
    stopped = fold(make_spec(1), [Entry(1, "base", "done")])
    launch_fails(stopped, 10, HostFailed())
    stopped.apply(Entry(12, "run", "noted", fact=LaunchingStopped("enough")))
    assert stopped.is_over
    assert decide(stopped, 100) == []
    run.apply(Entry(12, "run", "noted", SLUG, 1, "again", RunSteered("1", "retry", "ann@desk")))
    run.apply(Entry(13, "run", "noted", SLUG, 2, "enough", RunSteered("2", "cancel", "ann@desk")))
    assert run.is_over
    assert decide(run, 100) == []


def test_a_finished_result_whose_host_does_not_answer_is_pulled_again_in_place() -> None:
    run = working()
    run.apply(Entry(20, "watch", "done", SLUG, 1, "result"))
    for at in (30.0, 100.0):
        assert only(run, at)[:2] == ("pull", "intended")
        run.apply(Entry(at, "pull", "intended", SLUG, 1))
        run.apply(Entry(at, "pull", "failed", SLUG, 1, "no answer", HostFailed()))
        assert run.tasks[SLUG].phase == TaskPhase.ENDING
        assert decide(run, at + 1) == []
    run.apply(Entry(200, "pull", "intended", SLUG, 1))
    third = replace(Entry(201, "pull", "done", SLUG, 1), fact=WorkPulled(verify=True))
    run.apply(third)
    run.apply(Entry(202, "stop", "done", SLUG, 1))
    assert steps(run, 203) == ["verify"]
    run.apply(Entry(203, "verify", "intended", SLUG, 1))
    run.apply(Entry(204, "verify", "failed", SLUG, 1, "no answer", HostFailed()))
    task = run.tasks[SLUG]
    assert (task.attempt, task.stage) == (1, "verify"), "two tries are what an attempt gets"
    assert len(task.notes) == 2


@pytest.mark.parametrize("seed", range(30))
def test_hosts_that_are_lost_at_any_step_cost_at_most_two_more_attempts(seed: int) -> None:
    spec, world = make_spec(20, replace(KNOBS, max_hosts=8)), SimWorld("r1", seed, fault_share=0.5)
    world.faults = ("vanishes", "launch_unreachable", "pull_unreachable", "verify_unreachable")
    state = run_on(spec, world, Disk())
    check_end(spec, world, state)
    assert set(world.pulled.values()) <= {1}
