"""How many agents are at work at once follows limits and memory; a limit makes tasks wait, and fails none."""

from itertools import pairwise
from typing import Any

import pytest
from msgspec.structs import replace
from tests.tmr.engine.test_decide import SLUG, see, working
from tests.tmr.engine.test_simulation import KNOBS, Disk, KilledError, check_end, make_spec, run_on

from mngr_tmr.engine.admission import wait_of
from mngr_tmr.engine.decide import decide
from mngr_tmr.engine.observation import AgentStatus, Poll
from mngr_tmr.engine.simulated import SimWorld
from mngr_tmr.engine.slots import SlotsState, SlotsUse, change_of_slots
from mngr_tmr.engine.state import RunState
from mngr_tmr.engine.task_state import TaskPhase
from mngr_tmr.model.entry import Entry
from mngr_tmr.model.facts import AgentLimited, LimitEnded, RunSteered, SlotsChanged, WorkFailed
from mngr_tmr.model.rate_limit import RateLimit

MANY = replace(KNOBS, slots=20, launchers=20, verifiers=20)
UNKNOWN = RateLimit()
BUSY = SlotsUse(20, 20)


def limited(at: float, until: float = 0.0, *, is_window: bool = False) -> Entry:
    return Entry(at, "watch", "noted", SLUG, 1, "429", AgentLimited(until, is_window))


def changes(state: SlotsState, use: SlotsUse, start: float, end: float) -> list[tuple[float, int, str]]:
    """Each change from one time to another, decided once a second and taken in."""
    found: list[tuple[float, int, str]] = []
    for now in range(int(start), int(end)):
        if fact := change_of_slots(state, 20, replace(use, active=min(use.active, state.of(20))), now):
            found.append((now, fact.slots, fact.reason))
            state = state.after(Entry(now, "run", "noted", fact=fact))
    return found


@pytest.mark.accept("O5")
def test_a_limit_cuts_by_a_fifth_once_and_quiet_brings_back_one_after_another_up_to_the_configured_number() -> (
    None
):
    state = SlotsState().after(limited(100)).after(limited(101))
    assert changes(state, BUSY, 101, 300) == [
        (101, 16, "rate_limit"),
        *((at, 17 + number, "quiet") for number, at in enumerate((116, 121, 126, 131))),
    ]


@pytest.mark.accept("O5")
def test_no_second_cut_before_the_first_had_an_effect_or_the_provider_is_to_be_asked_again() -> None:
    state = (
        SlotsState()
        .after(limited(100, until=160))
        .after(Entry(100, "run", "noted", fact=SlotsChanged(16, "rate_limit")))
    )
    again = state.after(limited(130))
    assert [at for at, *_ in changes(again, replace(BUSY, has_more=False), 130, 300)] == []
    later = again.after(limited(161))
    assert changes(later, replace(BUSY, used=16, has_more=False), 161, 300) == [(161, 12, "rate_limit")]


@pytest.mark.accept("O5")
def test_memory_cuts_while_it_is_short_to_one_at_the_least_and_nothing_grows_meanwhile() -> None:
    found = changes(SlotsState(), replace(BUSY, is_memory_short=True), 0, 400)
    assert [slots for _, slots, _ in found] == [16, 12, 9, 7, 5, 4, 3, 2, 1]
    assert {reason for *_, reason in found} == {"memory"}
    assert [later - earlier for (earlier, *_), (later, *_) in pairwise(found)] == [15] * 8


@pytest.mark.accept("O5")
@pytest.mark.parametrize("use", [SlotsUse(20, 11), SlotsUse(20, 20, has_more=False)])
def test_slots_that_are_not_used_do_not_grow(use: SlotsUse) -> None:
    state = SlotsState(allowed=12, reduced_at=1, calm_at=16)
    assert change_of_slots(state, 20, use, 1000) is None


@pytest.mark.accept("O5", "O20")
def test_a_person_who_sets_slots_begins_anew_and_fewer_configured_slots_hold_at_once() -> None:
    state = SlotsState(allowed=12, reduced_at=100, calm_at=115)
    assert (state.of(20), state.of(6)) == (12, 6)
    steered = RunSteered("1", "set", "ann@desk", {"slots": 8})
    assert state.after(Entry(110, "run", "noted", fact=steered)).of(8) == 8


def see_limit(run: RunState, at: float, limit: RateLimit = UNKNOWN) -> None:
    agent = run.tasks[SLUG].agent
    run.apply_poll(Poll(at, {agent: AgentStatus(agent, "waiting", error="429: slow down", limit=limit)}))


def decided(run: RunState, now: float) -> list[tuple[str, str, Any]]:
    """What is decided, with what each entry says; it is under way or known afterwards."""
    entries = [entry for entry in decide(run, now) if not isinstance(entry.fact, SlotsChanged)]
    for entry in entries:
        run.apply(entry)
    return [(entry.step, entry.kind, entry.fact) for entry in entries]


@pytest.mark.accept("O6")
def test_an_agent_that_met_a_limit_is_asked_to_go_on_and_its_waiting_counts_for_no_deadline() -> None:
    run = working()
    see(run, 100, "working")
    see_limit(run, 200)
    assert decided(run, 200) == [("watch", "noted", AgentLimited())]
    assert decided(run, 205) == []
    (task,) = run.tasks.values()
    assert 207 <= task.limited_until <= 213
    assert decided(run, 213) == [("nudge", "intended", LimitEnded())]
    run.apply(Entry(214, "nudge", "done", SLUG, 1, fact=LimitEnded()))
    assert decided(run, 214) == []
    see_limit(run, 229)
    assert decided(run, 229) == [("watch", "noted", AgentLimited())], "it ended again at once"
    second = run.tasks[SLUG].limited_until - 229
    assert 15 <= second <= 25
    assert decided(run, 1100) == [("nudge", "intended", LimitEnded())]
    run.apply(Entry(1101, "nudge", "done", SLUG, 1, fact=LimitEnded()))
    see(run, 1101, "working")
    assert decided(run, 1101) == []
    assert run.tasks[SLUG].nudged_at is None
    end = 10 + KNOBS.timeout_s + run.tasks[SLUG].limited_s
    see(run, end - 1, "working", mark="x")
    assert decided(run, end - 1) == []
    assert decided(run, end) == [("watch", "failed", WorkFailed("timeout"))]


@pytest.mark.accept("O6")
def test_an_agent_that_goes_on_by_itself_or_has_a_result_waits_no_longer() -> None:
    run = working()
    see_limit(run, 100)
    decided(run, 100)
    see(run, 101, "working")
    assert decided(run, 101) == [("watch", "noted", LimitEnded())]
    assert run.active_slots == run.used_slots == 1
    see_limit(run, 150)
    decided(run, 150)
    agent = run.tasks[SLUG].agent
    run.apply_poll(Poll(151, {agent: AgentStatus(agent, "waiting", has_result=True, limit=RateLimit())}))
    assert [step for step, *_ in decided(run, 152)] == ["watch"]
    assert run.tasks[SLUG].phase == TaskPhase.ENDING


@pytest.mark.accept("O6")
def test_a_closed_usage_window_is_one_wait_for_launches_and_agents_without_tries() -> None:
    spec = make_spec(2, replace(KNOBS, slots=1))
    run = RunState(spec)
    other = spec.tasks[1].slug
    for entry in (
        Entry(1, "base", "done"),
        Entry(2, "launch", "intended", SLUG, 1),
        Entry(3, "launch", "done", SLUG, 1),
    ):
        run.apply(entry)
    until = 4 * 3600.0
    see_limit(run, 100, RateLimit(until, is_window=True))
    decided(run, 100)
    wait = wait_of(run, other, 100)
    assert wait is not None
    assert wait.reason == "window"
    assert wait.text.startswith("waits until ")
    assert wait.text.endswith(":00: the usage window is closed")
    for now in range(101, int(until), 60):
        see_limit(run, now, RateLimit(until, is_window=True))
        assert decided(run, now) == []
    assert (run.allowed_slots, run.slots.closed_by) == (1, SLUG)
    see_limit(run, until + 20, RateLimit(0.0, is_window=True))
    assert wait_of(run, other, until + 20) is None
    assert {step for step, *_ in decided(run, until + 20)} == {"nudge"}


@pytest.mark.accept("O6")
def test_a_limit_without_an_end_is_a_failure_at_last() -> None:
    run, now = working(), 100.0
    while run.tasks[SLUG].phase == TaskPhase.WORKING and now < 1e6:
        see_limit(run, now)
        for step, kind, _ in decided(run, now):
            if (step, kind) == ("nudge", "intended"):
                run.apply(Entry(now, "nudge", "done", SLUG, 1, fact=LimitEnded()))
        now += 20
    assert 6 * 3600 <= now <= 10 * 3600
    assert run.tasks[SLUG].message == "a limit of the model's provider did not end: 429: slow down"


def finished(disk: Disk, start: float, end: float) -> int:
    return sum(
        (entry.step, entry.kind) == ("watch", "done") and start <= entry.at < end for entry in disk.entries
    )


@pytest.mark.accept("O6", "O5")
def test_a_storm_that_twenty_agents_meet_costs_no_task_and_a_minute_later_no_throughput() -> None:
    """The storm lasts from 100 s to 130 s; five minutes that begin a minute after it are compared with a calm run."""
    calm = stormy = 0
    for seed in range(5):
        for limits in ((), ((100.0, 130.0),)):
            spec, world, disk = make_spec(300, MANY), SimWorld("r1", seed), Disk()
            world.limits = limits
            state = run_on(spec, world, disk)
            check_end(spec, world, state)
            assert not any(task.has_failed or task.attempt > 1 for task in state.tasks.values())
            if limits:
                assert world.limited >= 20
                stormy += finished(disk, 190, 490)
            else:
                calm += finished(disk, 190, 490)
    assert stormy >= 0.95 * calm


@pytest.mark.accept("O5")
@pytest.mark.parametrize("seed", range(5))
def test_a_provider_that_takes_half_of_the_slots_gets_about_as_many_and_a_death_changes_nothing(
    seed: int,
) -> None:
    spec, world, disk = make_spec(100, MANY), SimWorld("r1", seed), Disk()
    world.most_active = 10
    disk.dies_at = 300
    with pytest.raises(KilledError):
        run_on(spec, world, disk)
    disk.dies_at = None
    check_end(spec, world, run_on(spec, world, disk))
    slots = [entry.fact.slots for entry in disk.entries if isinstance(entry.fact, SlotsChanged)]
    assert max(slots) <= 20
    late = slots[len(slots) // 2 :]
    assert 7 <= sum(late) / len(late) <= 15
