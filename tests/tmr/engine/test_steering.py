"""A run is steered while it runs: pauses, new options, tests that are tried again or given up."""

import itertools
import random
from typing import Any, get_args

import pytest
from msgspec.structs import replace
from tests.tmr.engine.test_simulation import KNOBS, Disk, KilledError, make_spec

from mngr_tmr.engine.admission import wait_of
from mngr_tmr.engine.loop import Loop
from mngr_tmr.engine.simulated import SimExecutor, SimWorld
from mngr_tmr.engine.state import RunState, fold
from mngr_tmr.engine.task_state import TaskPhase
from mngr_tmr.model.entry import Entry
from mngr_tmr.model.facts import AgentLaunched, RunResumed, RunSteered, SteeringAction

pytestmark = pytest.mark.accept("O20")

SPEC = make_spec(6, replace(KNOBS, slots=2))
NUMBERS = itertools.count()
SLUGS = [task.slug for task in SPEC.tasks]


def request(action: SteeringAction, task: str = "", name: str = "", at: float = 0.0, **options: Any) -> Entry:
    fact = RunSteered(name or f"{next(NUMBERS)}", action, "ann@desk", options)
    return Entry(at, "run", "noted", task, fact=fact)


class Desk:
    """A run in a simulated world, step by step."""

    def __init__(self, disk: Disk | None = None, world: SimWorld | None = None) -> None:
        self.disk, self.world = disk or Disk(), world or SimWorld("r1", 1, work_s=(100, 200))
        self.run = fold(SPEC, self.disk.entries)
        self.executor = SimExecutor(self.world, floor=self.run.last_at)
        self.loop = Loop(self.run, self.disk.append, self.executor)

    def ask(self, *requests: Entry) -> str:
        """Why the last of them was refused; empty when it was not."""
        self.loop.handle([replace(one, at=self.executor.now()) for one in requests])
        fact = self.disk.entries[-1].fact
        assert isinstance(fact, RunSteered)
        return fact.refused

    def go(self, seconds: float) -> None:
        until = self.executor.now() + seconds
        while self.executor.now() < until and not self.run.is_over:
            self.loop.run_due()
            self.loop.handle(self.executor.results(0.5))

    def phases(self) -> dict[TaskPhase, int]:
        found = [task.phase for task in self.run.tasks.values()]
        return {phase: found.count(phase) for phase in found}


def test_a_paused_run_launches_nothing_and_takes_what_is_finished_until_it_is_resumed() -> None:
    desk = Desk()
    desk.go(10)
    assert desk.ask(request("pause")) == ""
    wait = wait_of(desk.run, SLUGS[-1], 20)
    assert wait is not None
    assert (wait.reason, wait.text) == ("paused", "paused by ann@desk")
    desk.go(600)
    assert desk.phases() == {TaskPhase.ENDED: 2, TaskPhase.QUEUED: 4}
    assert not desk.run.is_over
    assert desk.ask(request("pause")) == "it is paused already, by ann@desk"
    assert desk.ask(request("resume")) == ""
    assert desk.ask(request("resume")) == "it is not paused"
    desk.go(600)
    assert desk.phases() == {TaskPhase.ENDED: 6}


def test_other_slots_hold_at_once_and_stop_no_agent() -> None:
    desk = Desk()
    desk.go(10)
    assert desk.ask(request("set", slots=5)) == ""
    desk.go(10)
    assert desk.run.used_slots == 5
    assert desk.ask(request("set", slots=1)) == ""
    desk.go(5)
    assert desk.run.used_slots == 5
    desk.go(600)
    assert (desk.phases(), desk.world.most_alive) == ({TaskPhase.ENDED: 6}, 5)
    assert not any(task.has_failed for task in desk.run.tasks.values())


@pytest.mark.parametrize(
    ("options", "why"),
    [
        ({"slots": 0}, "slots and verifiers are 1 to 10000"),
        ({"slots": "many"}, "Expected `int`, got `str` - at `$.slots`"),
        ({"timeout_s": 0}, "a timeout is more than 0 s and at most 2.592e+06 s"),
        ({"setup": "make"}, "setup cannot change while a run goes on"),
        ({}, "no option is named"),
        ({"budget": "much"}, 'budget cannot be "much"'),
        ({"budget": 30}, "Expected `str`, got `int` - at `$.budget`"),
        ({"budget": "30usd"}, "it has no estimate in dollars to keep a budget by; give the budget in tokens"),
    ],
)
def test_what_cannot_be_set_is_refused_and_changes_nothing(options: dict[str, Any], why: str) -> None:
    desk = Desk()
    assert desk.ask(request("set", **options)) == why
    assert desk.run.options == SPEC.options


def test_a_budget_that_is_set_holds_launches_back_and_a_larger_one_lets_them_go_on() -> None:
    desk = Desk()
    assert desk.ask(request("set", budget="100ktok", slots=6)) == ""
    assert desk.disk.entries[-1].message == "budget none → 100ktok, slots 2 → 6, set by ann@desk"
    desk.go(20)
    assert desk.run.used_slots == 2, "each agent may use 50,000 tokens"
    assert desk.ask(request("set", budget="1Mtok")) == ""
    desk.go(10)
    assert desk.run.used_slots == 6
    assert fold(SPEC, desk.disk.entries).budget.rules == desk.run.budget.rules


def test_a_test_is_cancelled_wherever_it_waits_or_works_and_may_be_tried_again() -> None:
    desk = Desk()
    desk.go(10)
    working, queued = next(iter(desk.run.live)), SLUGS[-1]
    assert desk.ask(request("cancel", queued), request("cancel", working)) == ""
    desk.go(20)
    for slug in (working, queued):
        task = desk.run.tasks[slug]
        assert (task.phase, task.cause, task.message) == (
            TaskPhase.ENDED,
            "cancelled",
            "cancelled by ann@desk",
        )
    assert desk.world.agents[desk.run.tasks[working].agent].is_stopped
    assert (working, 1) in desk.world.brought
    assert desk.ask(request("cancel", working)) == "its agent is not at work: it is ended"
    assert desk.ask(request("retry", "tests-of-others")) == "the run has no such test"
    assert desk.ask(request("retry", queued)) == ""
    assert desk.ask(request("retry", queued)) == "it has not ended: it is queued"
    desk.go(600)
    assert desk.run.is_over
    assert (desk.run.tasks[queued].attempt, desk.run.tasks[queued].has_failed) == (2, False)
    assert (queued, 2) in desk.world.verified


def test_one_that_is_being_launched_is_stopped_when_it_is_there_and_only_then_tried_again() -> None:
    desk = Desk()
    slug = SLUGS[0]
    for entry in (Entry(1, "base", "done"), Entry(2, "launch", "intended", slug, 1)):
        desk.loop.record((entry,))
    assert desk.ask(request("cancel", slug)) == ""
    assert desk.ask(request("retry", slug)) == "a step of its last attempt has not answered yet"
    desk.world.launch(slug, 1)
    desk.loop.handle([Entry(9, "launch", "done", slug, 1, fact=AgentLaunched("a1"))])
    assert desk.ask(request("retry", slug)) == "a step of its last attempt has not answered yet"
    desk.loop.run_due()
    desk.go(10)
    assert desk.world.agents["tmr-r1-" + slug].is_stopped
    assert desk.ask(request("retry", slug)) == ""


def test_a_resume_goes_on_with_a_run_that_was_paused_and_tries_no_cancelled_test_again() -> None:
    desk = Desk()
    desk.ask(request("cancel", SLUGS[0]), request("set", slots=3), request("pause"))
    after = Desk(desk.disk)
    assert (after.run.steering.paused_by, after.run.options.slots) == ("ann@desk", 3)
    after.loop.resume(Entry(after.executor.now(), "run", "noted", fact=RunResumed()))
    after.go(600)
    assert after.run.is_over
    assert after.run.tasks[SLUGS[0]].attempt == 1
    assert len(after.world.verified) == 5


@pytest.mark.parametrize("seed", range(30))
def test_two_terminals_and_deaths_at_any_entry_take_each_request_once(seed: int) -> None:
    """Requests stay in their folder until the journal has them, as files do."""
    chance, world, disk = random.Random(seed), SimWorld("r1", seed, fault_share=0.3), Disk()
    left: dict[str, Entry] = {}
    for number in range(20):
        action = chance.choice(get_args(SteeringAction))
        options = {"slots": chance.randrange(1, 5)} if action == "set" else {}
        left[f"{number:02}"] = request(action, chance.choice(SLUGS), f"{number:02}", **options)
    left["20"] = request("resume", name="20")
    for life in range(10):
        state = fold(SPEC, disk.entries)
        disk.dies_at = len(disk.entries) + chance.randrange(1, 30) if life < 9 else None
        disk.dies_before_writing = chance.random() < 0.5
        try:
            live(state, world, disk, left, chance)
            break
        except KilledError:
            continue
    taken = [entry.fact.request for entry in disk.entries if isinstance(entry.fact, RunSteered)]
    assert len(taken) == len(set(taken)), "a request was taken twice"
    assert set(world.launches.values()) <= {1}
    assert {agent.fault for agent in world.alive()} <= {"stop_fails", "launch_hangs"}
    assert fold(SPEC, disk.entries).tasks == state.tasks


def live(state: RunState, world: SimWorld, disk: Disk, left: dict[str, Entry], chance: random.Random) -> None:
    """One life of the orchestrator, in which requests come now and then."""
    executor = SimExecutor(world, floor=state.last_at)
    loop = Loop(state, disk.append, executor)
    if disk.entries:
        loop.resume(Entry(executor.now(), "run", "noted", message="resumed", fact=RunResumed()))
    while not state.is_over:
        loop.run_due()
        loop.handle(executor.results(1.0))
        if left and (chance.random() < 0.2 or state.steering.paused_at):
            # One that was looked at before a death is looked at again, until the journal has it.
            loop.handle([replace(one, at=executor.now()) for one in list(left.values())[:2]])
            for name in state.steering.taken:
                left.pop(name, None)
