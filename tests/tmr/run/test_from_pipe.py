"""Lines at the end of a pipe: what they say of a run, and what is wrong with them."""

from typing import Any

import msgspec
import pytest

import mngr
from mngr_tmr.model.run import RunSpec
from mngr_tmr.model.task import make_task
from mngr_tmr.run.from_pipe import Carried, read_lines

AGENT: dict[str, Any] = {"id": "agent-1", "name": "a", "address": "a", "type": "scripted", "state": "STOPPED"}


def line(test: str, *, run: str = "r1", tests: int = 2, **fields: object) -> bytes:
    spec = RunSpec(run, "/repo", "0" * 40, 1.0, (), ("pytest",))
    carried = Carried(make_task(f"tests/test_a.py::{test}"), spec, tests)
    return msgspec.json.encode({"tmr": carried, "other": [1], **fields}) + b"\n"


@pytest.mark.accept("K2")
def test_lines_make_one_run_whatever_else_they_carry() -> None:
    arrivals = read_lines(line("test_b", **AGENT) + b"\n" + line("test_a", **AGENT))
    assert [task.node_id for task in arrivals.spec.tasks] == [
        "tests/test_a.py::test_a",
        "tests/test_a.py::test_b",
    ]
    assert (arrivals.spec.id, arrivals.spec.options.type, arrivals.problems) == ("r1", "scripted", ())
    assert [one.agent.id for one in arrivals.lines if one.agent] == ["agent-1", "agent-1"]


@pytest.mark.accept("P4")
def test_a_line_that_failed_before_there_was_an_agent_says_why() -> None:
    (only,) = read_lines(line("test_a", tests=1, error={"message": "no room", "hint": ""})).lines
    assert (only.agent, only.error) == (None, "no room")


@pytest.mark.accept("P4")
def test_lines_that_are_no_tests_and_tests_that_did_not_come_are_told() -> None:
    arrivals = read_lines(b'{"name": "mine"}\n\xff\n' + line("test_a", tests=3, **AGENT))
    first, second, third = arrivals.problems
    assert first.startswith("line 1 belongs to no test of a run")
    assert second.startswith("line 2 belongs to no test of a run")
    assert third == "2 of 3 tests did not come through the pipe"


def test_nothing_and_two_runs_at_once_are_refused() -> None:
    with pytest.raises(mngr.UsageError, match="no test came through the pipe"):
        read_lines(b"")
    with pytest.raises(mngr.UsageError, match="several runs: r1, r2"):
        read_lines(line("test_a", **AGENT) + line("test_b", run="r2", **AGENT))
