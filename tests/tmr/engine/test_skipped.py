"""A task without an agent: it waits for nothing, and gets one when its test does not pass at the base."""

import pytest
from msgspec.structs import replace
from tests.tmr.engine.test_simulation import make_spec

from mngr_tmr.engine.decide import decide
from mngr_tmr.engine.state import RunState, fold
from mngr_tmr.engine.task_state import TaskPhase
from mngr_tmr.model.dependencies import SkippedTask
from mngr_tmr.model.entry import Entry
from mngr_tmr.model.facts import BaseMeasured

TWO = make_spec(2)
FIRST, SECOND = (task.slug for task in TWO.tasks)
SPEC = replace(TWO, skipped={FIRST: SkippedTask("before"), SECOND: SkippedTask("before")})


def launched(run: RunState) -> list[str]:
    return [entry.task for entry in decide(run, 10.0) if entry.step == "launch"]


@pytest.mark.accept("O11")
def test_a_run_whose_tasks_are_all_skipped_measures_the_base_and_is_over() -> None:
    run = fold(SPEC, [])
    assert [entry.step for entry in decide(run, 1.0)] == ["base"]
    run.apply(Entry(1, "base", "intended"))
    assert not run.is_over
    run.apply(Entry(2, "base", "done", fact=BaseMeasured(2)))
    assert run.is_over
    assert run.can_integrate
    assert {task.phase for task in run.tasks.values()} == {TaskPhase.ENDED}


@pytest.mark.accept("O11")
@pytest.mark.parametrize(
    ("end", "expected"),
    [
        (Entry(2, "base", "done", fact=BaseMeasured(2, not_passed=(SECOND,))), [SECOND]),
        (Entry(2, "base", "done"), [FIRST, SECOND]),
        (Entry(2, "base", "failed"), [FIRST, SECOND]),
        (Entry(2, "base", "done", fact=BaseMeasured(2, not_passed=("no such task",))), []),
    ],
)
def test_what_does_not_pass_at_the_base_or_is_not_known_to_gets_its_agent(
    end: Entry, expected: list[str]
) -> None:
    run = fold(SPEC, [Entry(1, "base", "intended"), end])
    assert launched(run) == expected
    assert run.is_over is not bool(expected)


def test_a_skipped_task_that_is_not_there_is_left_out() -> None:
    spec = replace(TWO, skipped={"gone": SkippedTask("before")})
    base = [Entry(1, "base", "intended"), Entry(2, "base", "done", fact=BaseMeasured(2))]
    assert launched(fold(spec, base)) == [FIRST, SECOND]
