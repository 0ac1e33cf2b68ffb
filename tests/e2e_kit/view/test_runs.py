"""Rows from what is on disk, whatever is on disk."""

import os
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tests.e2e_kit.view.desk import T0, RunDesk

from mngr_e2e.session.alive import hold
from mngr_e2e.view.runs import find_runs
from mngr_view.chunks import encode
from mngr_view.records import Attempt

A = "tests/test_a.py::test_one"


@pytest.fixture
def run(tmp_path: Path) -> RunDesk:
    return RunDesk(tmp_path)


@pytest.mark.accept("V3")
def test_a_row_has_the_status_of_its_last_attempt(run: RunDesk) -> None:
    run.attempt(A, "failed", 1, T0)
    run.attempt(A, "error", 2, T0 + 20)
    run.attempt(A, "passed", 10, T0 + 40)
    run.attempt("tests/test_a.py::TestX::test_two[a::b]", "skipped", 1, T0 + 60)
    found = run.load()
    one, two = run.rows()[A], run.rows()["tests/test_a.py::TestX::test_two[a::b]"]
    assert (one.name, one.file, one.status, one.duration_s) == ("test_one", "tests/test_a.py", "passed", 10.0)
    assert [(one.number, one.status, one.start) for one in one.attempts] == [
        (1, "failed", T0),
        (2, "error", T0 + 20),
        (10, "passed", T0 + 40),
    ]
    assert len({one.chunk for one in one.attempts}) == 3
    assert (two.name, two.status) == ("TestX::test_two[a::b]", "skipped")
    assert (found.start, found.duration_s, found.is_running, found.warnings) == (T0, 70.0, False, ())


@pytest.mark.accept("V2")
def test_a_failing_row_says_why(run: RunDesk) -> None:
    said = "def test_one():\n>   f()\n\nE   AssertionError: 'a' is not in 'b'\nE     more\n"
    (run.attempt(A, "failed") / "failure.txt").write_text(said)
    assert run.rows()[A].reason == "AssertionError: 'a' is not in 'b'"


@pytest.mark.accept("V7")
def test_what_still_runs_is_running_while_its_run_lives_and_an_error_afterwards(run: RunDesk) -> None:
    run.attempt(A, "running")
    (run.path / "just-begun" / "attempt-1").mkdir(parents=True)
    with hold(str(run.path)):
        assert run.load().is_running
        assert {row.status for row in run.rows().values()} == {"running"}
    assert not run.load().is_running
    assert {(row.status, row.reason) for row in run.rows().values()} == {
        ("error", "the run ended before this test did")
    }


@pytest.mark.accept("V7")
def test_a_test_whose_recordings_are_not_finished_is_still_running(run: RunDesk) -> None:
    recorders = run.attempt(A, "passed") / "casts" / ".recorders"
    recorders.mkdir(parents=True)
    (recorders / "1.log").touch()
    with hold(str(run.path)):
        assert run.rows()[A].status == "running"
        (recorders / "1.log").unlink()
        assert run.rows()[A].status == "passed"


@pytest.mark.accept("Q5", "Q7", "V4")
def test_each_bad_meta_is_a_row_that_says_so(run: RunDesk, tmp_path: Path) -> None:
    outside = tmp_path / "meta.json"
    outside.write_text('{"node_id": "canary", "status": "passed"}')

    def broken(name: str) -> Path:
        (run.path / name / "attempt-1").mkdir(parents=True)
        return run.path / name / "attempt-1" / "meta.json"

    broken("empty").write_text("")
    broken("half").write_text('{"node_id": "tests/test_a.py::te')
    broken("status").write_text('{"node_id": "x::y", "status": "excellent\\n"}')
    broken("deep").write_text("[" * 100_000)
    broken("link").symlink_to(outside)
    os.mkfifo(broken("pipe"))
    broken("folder").mkdir()
    with broken("huge").open("wb") as file:
        file.truncate(1 << 33)
    rows = run.rows()
    assert {row.status for row in rows.values()} == {"error"}
    reasons = {name: row.reason for name, row in rows.items()}
    assert reasons.keys() == {"empty", "half", "x::y", "deep", "link", "pipe", "folder", "huge"}
    assert "damaged" in reasons["empty"]
    assert "damaged" in reasons["half"]
    assert "damaged" in reasons["deep"]
    assert "'excellent\\\\n' is not known" in reasons["x::y"]
    assert "link, which is not followed" in reasons["link"]
    assert "no plain file" in reasons["pipe"]
    assert "too large: 8589.9 MB" in reasons["huge"]


@pytest.mark.accept("V4", "Q5")
def test_links_among_runs_tests_and_attempts_are_named_and_not_followed(run: RunDesk, tmp_path: Path) -> None:
    run.attempt(A)
    other = RunDesk(tmp_path / "elsewhere", "other")
    other.attempt("canary.py::test_canary")
    (run.path / "linked").symlink_to(next(other.path.iterdir()))
    (run.path / "tested").mkdir()
    (run.path / "tested" / "attempt-1").symlink_to(next(other.path.iterdir()) / "attempt-1")
    (run.path.parent / "run-2").symlink_to(other.path)
    assert list(run.rows()) == [A]
    assert set(run.load().warnings) == {
        "linked is a link and was not followed",
        "tested/attempt-1 is no folder and was not opened",
    }
    assert [found.id for found in find_runs(str(run.path.parent))] == ["run-1"]


def test_two_folders_that_claim_one_test_are_two_rows(run: RunDesk) -> None:
    meta = run.attempt(A) / "meta.json"
    (run.path / "liar" / "attempt-1").mkdir(parents=True)
    (run.path / "liar" / "attempt-1" / "meta.json").write_bytes(meta.read_bytes())
    rows = run.rows()
    assert len(rows) == 2
    assert {row.name for row in rows.values()} == {"test_one"}


@pytest.mark.accept("V4", "Q7")
def test_hostile_names_are_text_and_never_keys(run: RunDesk) -> None:
    name = '"><script>alert(1)<\n\x1b[2J\udcff'
    (run.path / name / "attempt-1").mkdir(parents=True)
    (row,) = run.load().tests
    assert row.id == '"><script>alert(1)<\\n\\x1b[2J\\udcff'
    assert set(row.attempts[0].chunk) <= set("abcdef0123456789/detail")
    encode(row)
    (run.path / name / "attempt-1" / "meta.json").write_text(
        '{"node_id": "a::b\\n\\u001b[2J", "status": "passed"}'
    )
    assert list(run.rows()) == ["a::b\\n\\x1b[2J"]


@pytest.mark.accept("Q5", "Q7")
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(
    st.binary()
    | st.fixed_dictionaries(
        {},
        optional={
            "node_id": st.text(),
            "status": st.sampled_from(["passed", "running", "", "no"]),
            "start": st.floats(allow_nan=False, allow_infinity=False) | st.integers(),
            "duration_s": st.floats(allow_nan=False, allow_infinity=False) | st.text(),
            "blocks": st.lists(st.text()),
            "reason": st.text(),
        },
    ).map(encode)
)
def test_whatever_a_meta_holds_there_is_one_row_that_can_be_shown(run: RunDesk, data: bytes) -> None:
    folder = run.path / "test" / "attempt-1"
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "meta.json").write_bytes(data)
    (row,) = run.load().tests
    encode(row)
    (attempt,) = row.attempts
    assert isinstance(attempt, Attempt)
    assert row.id
    assert "\n" not in row.reason + row.id
    assert 0 <= attempt.start < 1e11
