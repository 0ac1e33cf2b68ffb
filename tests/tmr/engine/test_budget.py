"""Budgets: what launches reserve, what readings change, and how far beyond a budget a run can get."""

import os
import random
from typing import Any

import pytest
from msgspec.structs import replace
from tests.tmr.engine.test_simulation import Disk, make_spec

from mngr_tmr.engine.admission import wait_of
from mngr_tmr.engine.budget import make_budget
from mngr_tmr.engine.decide import decide
from mngr_tmr.engine.loop import Loop
from mngr_tmr.engine.simulated import SimExecutor, SimWorld
from mngr_tmr.engine.state import RunState, fold
from mngr_tmr.engine.task_state import TaskPhase
from mngr_tmr.model.entry import Entry
from mngr_tmr.model.estimate import Estimate, Range, RunEstimate, total_of
from mngr_tmr.model.facts import (
    AgentsMetered,
    DaySpent,
    FinishRequest,
    LaunchingStopped,
    PullRequest,
    RunResumed,
    StepOverdue,
    WorkFailed,
    WorkPulled,
)
from mngr_tmr.model.limits import RunLimits
from mngr_tmr.model.money import Amount, Used
from mngr_tmr.model.run import RunOptions, RunSpec

# The acceptance line asks for 1,000; `make test` tries some of them.
SEEDS = int(os.environ.get("MNGR_TEST_BUDGET_SEEDS", "60"))
TASK = Estimate("test", Range(500_000, 1_000_000), Range(0.5, 1.0), samples=9)
FASTEST = 2_000_000 / 60


def budget_spec(tasks: int, slots: int = 4, **limits: Any) -> RunSpec:
    """Tasks that may each use a million tokens, which cost a dollar."""
    options = RunOptions(slots=slots, verifiers=2, timeout_s=3600, idle_s=60, silence_s=300)
    spec = make_spec(tasks, replace(options, limits=RunLimits(**limits)))
    estimates = {task.slug: TASK for task in spec.tasks}
    total = total_of(estimates.values(), slots)
    return replace(spec, estimate=RunEstimate(estimates, total, fast_usd=1.0, unpriced_usd=10.0))


def launched(spec: RunSpec, *numbers: int) -> RunState:
    run = fold(spec, [Entry(1, "base", "intended"), Entry(2, "base", "done")])
    for number in numbers:
        run.apply(Entry(3, "launch", "intended", spec.tasks[number].slug, 1))
        run.apply(Entry(4, "launch", "done", spec.tasks[number].slug, 1))
    return run


def metered(run: RunState, at: float, **used: float) -> None:
    """A reading; `t0=0.5` is half a dollar of the first task."""
    facts = {run.spec.tasks[int(name[1:])].slug: Used(round(usd * 1e6), usd) for name, usd in used.items()}
    run.apply(Entry(at, "meter", "intended"))
    run.apply(Entry(at, "meter", "done", fact=AgentsMetered(facts)))


def steps(run: RunState, now: float) -> list[str]:
    return [entry.step for entry in decide(run, now)]


@pytest.mark.accept("O4")
def test_launches_reserve_their_upper_end_and_the_next_one_waits() -> None:
    spec = budget_spec(4, budget="2.5usd")
    run = launched(spec, 0)
    assert steps(run, 15) == ["meter", "launch"]
    run = launched(spec, 0, 1)
    assert "launch" not in steps(run, 15)
    wait = wait_of(run, spec.tasks[2].slug, 5)
    assert wait is not None
    assert (wait.reason, wait.text) == (
        "budget",
        "it may use $1.00, and $0.50 of the budget of $2.50 is free",
    )
    slug = spec.tasks[0].slug
    run.apply(Entry(6, "pull", "done", slug, 1, fact=WorkPulled(used=Used(300_000, 0.3))))
    run.apply(Entry(7, "stop", "done", slug, 1))
    assert run.budget.committed == Used(1_300_000, 1.3)
    assert wait_of(run, spec.tasks[2].slug, 8) is None


@pytest.mark.accept("O4")
def test_a_reservation_is_topped_up_while_there_is_budget_and_then_the_agent_is_asked_once() -> None:
    spec = budget_spec(2, budget="2.5usd", meter_s=10.0)
    run, slug = launched(spec, 0), spec.tasks[0].slug
    metered(run, 10, t0=1.2)
    assert run.budget.running[slug].reserved.usd == pytest.approx(2.2)
    assert [step for step in steps(run, 15) if step != "launch"] == []
    metered(run, 20, t0=2.4)
    (asked,) = decide(run, 21)
    assert (asked.step, asked.fact) == ("nudge", FinishRequest("the budget of $2.50 is used up"))
    run.apply(asked)
    run.apply(Entry(22, "nudge", "done", slug, 1))
    assert steps(run, 25) == []
    metered(run, 30, t0=2.6)
    assert steps(run, 35) == []
    given_up = next(entry for entry in decide(run, 41) if entry.step == "watch")
    assert (given_up.kind, given_up.fact) == ("failed", WorkFailed("budget"))
    assert given_up.message == "the budget of $2.50 is used up; it was asked to finish and did not"
    run.apply(given_up)
    pull = next(entry for entry in decide(run, 45) if entry.step == "pull")
    assert pull.fact == PullRequest(salvage=True, stop_first=True)


@pytest.mark.accept("O4")
def test_what_is_not_run_is_named_and_the_rest_is_integrated() -> None:
    spec = budget_spec(2, budget="1.2usd")
    run, slug = launched(spec, 0), spec.tasks[0].slug
    run.apply(Entry(5, "watch", "done", slug, 1, "result"))
    run.apply(Entry(6, "pull", "done", slug, 1, fact=WorkPulled(used=Used(900_000, 0.9))))
    assert steps(run, 7) == ["stop"]
    run.apply(Entry(8, "stop", "done", slug, 1))
    (stopped,) = decide(run, 9)
    reason = "budget: it may use $1.00, and $0.30 of the budget of $1.20 is free"
    assert stopped.fact == LaunchingStopped(reason, "budget")
    run.apply(stopped)
    assert run.is_over
    assert run.can_integrate
    assert run.stopped_why == reason
    changed = {"limits": {"budget": "3usd"}}
    run.apply(Entry(20, "run", "noted", fact=RunResumed(changed)))
    assert not run.can_integrate
    assert [entry.task for entry in decide(run, 21) if entry.step == "launch"] == [spec.tasks[1].slug]
    assert run.budget.spent == Used(900_000, 0.9)


@pytest.mark.accept("O4")
def test_an_agent_budget_bounds_each_agent_and_what_it_reserves() -> None:
    spec = budget_spec(3, agent_budget="300ktok", budget="2usd")
    run = launched(spec, 0, 1)
    assert run.budget.committed == Used(600_000, 2.0)
    metered(run, 10, t0=0.2, t1=0.31)
    assert run.budget.used_up(spec.tasks[0].slug) == ""
    assert run.budget.used_up(spec.tasks[1].slug) == "the agent budget of 300k tokens is used up"


@pytest.mark.accept("O4")
def test_a_daily_budget_counts_what_other_runs_used_today_and_not_what_this_one_used_before() -> None:
    spec = budget_spec(3, daily_budget="5usd")
    run, slug = launched(spec, 0), spec.tasks[0].slug
    run.apply(Entry(6, "pull", "done", slug, 1, fact=WorkPulled(used=Used(2_000_000, 2.0))))
    run.apply(Entry(7, "stop", "done", slug, 1))
    run.apply(Entry(8, "run", "noted", fact=DaySpent(Used(4_500_000, 4.5))))
    assert run.budget.lacking(spec.tasks[1].slug) == (
        "it may use $1.00, and $0.50 of the daily budget of $5.00 is free"
    )
    run.apply(Entry(9, "run", "noted", fact=DaySpent(Used(3_000_000, 3.0))))
    assert run.budget.lacking(spec.tasks[1].slug) == ""


def test_an_agent_whose_records_are_lost_counts_as_what_was_set_aside() -> None:
    spec = budget_spec(2, budget="9usd", meter_s=30.0)
    run = launched(spec, 0)
    metered(run, 5, t0=0.2)
    run.apply(Entry(6, "watch", "failed", spec.tasks[0].slug, 1, "gone", WorkFailed("disappeared")))
    run.apply(Entry(7, "pull", "failed", spec.tasks[0].slug, 1, "gone"))
    run.apply(Entry(8, "stop", "done", spec.tasks[0].slug, 1))
    assert run.budget.committed.usd == pytest.approx(1.0 + 1.0), "and what it may have used since the reading"
    late = spec.tasks[1].slug
    run.apply(Entry(9, "launch", "intended", late, 1))
    run.apply(Entry(10, "launch", "failed", late, 1, fact=StepOverdue()))
    assert run.budget.committed.usd == pytest.approx(3.0)
    run = launched(spec)
    run.apply(Entry(9, "launch", "intended", late, 1))
    run.apply(Entry(10, "launch", "later", late, 1))
    assert run.budget.committed == Used()


def test_nothing_is_read_without_a_budget_and_one_reading_at_a_time_with_one() -> None:
    assert steps(launched(budget_spec(1), 0), 100) == []
    run = launched(budget_spec(1, budget="9usd", meter_s=10.0), 0)
    assert steps(run, 15) == ["meter"]
    run.apply(Entry(15, "meter", "intended"))
    assert steps(run, 30) == []
    run.apply(Entry(31, "meter", "failed", message="no answer"))
    assert steps(run, 31) == ["meter"]


def test_the_overshoot_is_what_all_agents_may_use_in_one_interval_and_grace() -> None:
    spec = budget_spec(2, budget="9usd", agent_rate="6Mtok", meter_s=10.0)
    rules = make_budget(spec).rules
    assert rules.window_s == 10 + spec.options.grace_s + 15
    assert rules.overshoot(2) == Used(round(rules.window_s * 2e5), pytest.approx(rules.window_s * 0.2))  # type: ignore[arg-type]
    dollars = make_budget(budget_spec(2, budget="9usd", agent_rate="6usd")).rules
    assert dollars.overshoot(2) == rules.overshoot(2)


def run_with_budget(spec: RunSpec, world: SimWorld, disk: Disk, **changed: Any) -> RunState:
    """One life, from the beginning or resumed with changed limits."""
    state = fold(spec, disk.entries)
    loop = Loop(state, disk.append, SimExecutor(world, floor=state.last_at))
    if disk.entries:
        fact = RunResumed({"limits": changed} if changed else {})
        loop.resume(Entry(world.now, "run", "noted", message="resumed", fact=fact))
    return loop.go()


@pytest.mark.accept("O4")
def test_no_seed_gets_further_beyond_its_budget_than_is_said_first() -> None:
    """Costs with heavy tails, agents that ignore what they are asked, and some that vanish or hang."""
    worst, over = 0.0, 0
    for seed in range(SEEDS):
        chance = random.Random(seed)
        total = Amount(usd=round(chance.uniform(1.0, 20.0), 2))
        asked = {"budget": f"{total.usd}usd", "meter_s": chance.choice((2.0, 10.0, 30.0))}
        if chance.random() < 0.5:
            asked["agent_budget"] = f"{chance.uniform(0.3, 3.0):.2f}usd"
        spec = budget_spec(chance.randrange(4, 24), chance.randrange(1, 8), **asked)
        world, disk = SimWorld("r1", seed, fault_share=0.2, fastest=FASTEST), Disk()
        world.faults = ("launch_fails", "crashes", "vanishes", "hangs", "idles", "pull_fails")
        state = run_with_budget(spec, world, disk)
        rules = state.budget.rules
        bound = rules.overshoot(min(spec.options.slots, len(spec.tasks))).usd
        used = world.used().usd
        assert used <= total.value + bound, (seed, used, total, bound)
        worst, over = max(worst, (used - total.value) / bound), over + (used > total.value)
        if rules.agent:
            most = rules.agent.value + rules.overshoot(1).usd
            assert all(agent.used(world.now).usd <= most for agent in world.agents.values()), seed
        check_rest(spec, world, disk, state)
    assert over, "no seed came near its budget: this proves nothing"
    print(f"{SEEDS} seeds: {over} over their budget, by at most {worst:.0%} of what was said")


def check_rest(spec: RunSpec, world: SimWorld, disk: Disk, state: RunState) -> None:
    """What was not run is named, and with more budget it is run, each attempt once."""
    phases = {task.phase for task in state.tasks.values()}
    assert phases <= {TaskPhase.ENDED, TaskPhase.QUEUED}
    assert state.can_integrate
    if state.queue:
        assert state.stopped_why.startswith("budget: it may use $")
    before = dict(world.launches)
    assert not {(slug, state.tasks[slug].attempt) for slug in state.queue} & set(before)
    more = run_with_budget(spec, world, disk, budget="", agent_budget="")
    assert {task.phase for task in more.tasks.values()} == {TaskPhase.ENDED}
    assert set(world.launches.values()) <= {1}, "paid twice"
    assert all(world.launches[key] == 1 for key in before)
