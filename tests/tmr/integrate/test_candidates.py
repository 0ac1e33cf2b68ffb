"""Whose work may be integrated, and what is said of the others."""

from pathlib import Path
from typing import Any, get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace
from tests.tmr.integrate.scene import Scene, Work

from mngr_tmr.integrate.split.candidates import rejection, select_candidates
from mngr_tmr.model.record import Commit, TaskRecord
from mngr_tmr.model.result import Blocked, Claim, Outcome, Result
from mngr_tmr.model.task import make_task
from mngr_tmr.model.verdict import Verdict, Verified

COMMIT = Commit("a" * 40, "fix", "implementation", "implementation", ("app.py",))


def record(name: str = "test_a", **more: Any) -> TaskRecord:
    task = make_task(f"tests/test_a.py::{name}")
    good = TaskRecord(
        task=task,
        end="result",
        claim=Claim(Result(task.node_id, "fixed", False, True, "done")),
        before=Verified(task.node_id, "b" * 40, "failed"),
        after=Verified(task.node_id, "a" * 40, "passed"),
        commit="a" * 40,
        commits=(COMMIT,),
    )
    return replace(good, **more)


def seen(verdict: Verdict, reason: str = "") -> Verified:
    return Verified("tests/test_a.py::test_a", "a" * 40, verdict, reason)


def claim(outcome: Outcome, **more: Any) -> Claim:
    return Claim(Result("tests/test_a.py::test_a", outcome, False, True, "done", **more))


@pytest.mark.accept("R7")
def test_verified_work_is_a_candidate() -> None:
    assert rejection(record()) is None


@pytest.mark.accept("R7", "R8")
@pytest.mark.parametrize(
    ("more", "kind", "why"),
    [
        ({"end": "failed", "stage": "launch", "message": "no room"}, "failed", "launch: no room"),
        ({"end": "running"}, "excluded", "its agent still runs"),
        ({"end": "not_run", "claim": None}, "nothing", "it was not run"),
        ({"claim": None}, "failed", "it handed over no result"),
        ({"claim": Claim(problem="not JSON", raw="{")}, "excluded", "its result cannot be used: not JSON"),
        ({"claim": claim("blocked", blocked=Blocked("env", "no db"))}, "excluded", "blocked at env: no db"),
        ({"claim": claim("failed")}, "excluded", "its result says that it failed"),
        ({"after": None}, "excluded", "it was not verified"),
        (
            {"after": seen("failed", "boom")},
            "excluded",
            "it claims that its test passes; the check saw failed: boom",
        ),
        (
            {"before": seen("passed"), "after": seen("failed")},
            "excluded",
            "regression: its test passed before and is failed at its commit",
        ),
        ({"after": seen("flaky")}, "excluded", "its test is flaky at its commit"),
        (
            {"after": seen("wrong_code", "app comes from /usr")},
            "excluded",
            "other code than its own was tested: app comes from /usr",
        ),
        (
            {"after": seen("cannot_tell", "it started tool")},
            "excluded",
            "it is unknown which code was tested: it started tool",
        ),
        ({"commits": (), "after": seen("passed")}, "nothing", "it changed nothing"),
        ({"commits": (replace(COMMIT, id="--output=x"),)}, "excluded", "its commits have no proper ids"),
    ],
)
def test_everything_else_says_why_not(more: dict[str, Any], kind: str, why: str) -> None:
    account = rejection(record(**more))
    assert account is not None
    assert (account.kind, account.why) == (kind, why)


verdicts = st.none() | st.sampled_from([seen(verdict) for verdict in get_args(Verdict)])
claims = st.none() | st.sampled_from([Claim(problem="?"), *(claim(outcome) for outcome in get_args(Outcome))])


@pytest.mark.accept("R8")
@given(
    st.lists(
        st.fixed_dictionaries(
            {
                "end": st.sampled_from(["result", "failed", "running", "queued", "not_run"]),
                "claim": claims,
                "before": verdicts,
                "after": verdicts,
                "commits": st.sampled_from([(), (COMMIT,)]),
            }
        )
    )
)
def test_every_task_is_a_candidate_or_has_an_account(rows: list[dict[str, Any]]) -> None:
    records = [record(f"test_{number}", **row) for number, row in enumerate(rows)]
    done = select_candidates(records)
    named = [one.task.slug for one in done.candidates] + [account.task for account in done.accounts]
    assert sorted(named) == sorted(one.task.slug for one in records)
    assert all(one.after and one.after.verdict == "passed" for one in done.candidates)


@pytest.mark.accept("R8", "P9")
def test_a_branch_that_did_not_arrive_or_starts_elsewhere_is_named(tmp_path: Path) -> None:
    scene = Scene(tmp_path, {"app.py": "x = 1\n"})
    scene.agent("test_a.py::test_a", Work("two", {"app.py": "x = 2\n"}))
    scene.agent("test_b.py::test_b", Work("three", {"app.py": "x = 3\n"}))
    gone = "0123456789" * 4
    lost = replace(scene.records[0], commit=gone, commits=(replace(COMMIT, id=gone),))
    orphan = scene.commits("orphan", "", [Work("elsewhere", {"app.py": "y\n"})])[0]
    foreign = replace(scene.records[1], commit=orphan, commits=(replace(COMMIT, id=orphan),))
    scene.records = [lost, foreign]
    done = scene.integrate()
    assert done.tip == scene.base
    whys = [account.why for account in done.accounts]
    assert whys == ["its branch is not in this repository, or does not start at the base commit"] * 2
