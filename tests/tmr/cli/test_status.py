"""`mngr tmr status`, run for real."""

import pytest
from tests.cli.command import Mngr
from tests.tmr.report.desk import RunDesk, blocked, escalation, node, result, task

from mngr_tmr.engine.journal import Journal


@pytest.mark.accept("U2", "M13", "J3")
def test_a_running_run_tells_counts_slots_and_how_to_attach_to_the_slowest(mngr: Mngr) -> None:
    desk = RunDesk(mngr.world.repo, "a", "b", "c", "d")
    journal = Journal(desk.folder.journal)
    try:
        desk.ended("a", blocked("a"))
        desk.launched("b", "c")
        done = mngr.ok("tmr", "status")
        record = mngr.ok("tmr", "status", "--json").json
    finally:
        journal.close()
    assert done.stdout.startswith("run r1: running, ")
    assert "4 tests: 1 blocked, 2 running, 1 waiting" in done.stdout
    assert "slots: 2 of 4, 2 working" in done.stdout
    assert f"mngr connect tmr-r1-{task('b').slug}" in done.stdout
    assert "1 failure, 1 cause so far:" in done.stdout
    assert [live["test"] for live in record["live"]] == [node("b"), node("c")]
    assert record["live"][0]["attach"] == f"mngr connect tmr-r1-{task('b').slug}"
    assert (record["schema"], record["state"], record["used_slots"]) == (1, "running", 2)


@pytest.mark.accept("M16", "P10")
def test_an_interrupted_run_says_how_to_go_on_and_what_was_raised(mngr: Mngr) -> None:
    desk = RunDesk(mngr.world.repo, "a", "b")
    desk.ended("a", result("a", escalations=(escalation("the till \x1b[31mis slow"),)))
    done = mngr.ok("tmr", "status", "r1")
    assert "run r1: interrupted, " in done.stdout
    assert "mngr tmr resume r1" in done.stdout
    assert "  1 x bug: the till [31mis slow" in done.stdout


def test_watching_a_run_that_is_over_ends_at_once(mngr: Mngr) -> None:
    desk = RunDesk(mngr.world.repo, "a")
    desk.ended("a")
    assert "finished" in mngr.ok("tmr", "status", "--watch").stdout


@pytest.mark.accept("U2")
def test_watching_shows_changes_until_the_run_is_over(mngr: Mngr) -> None:
    desk = RunDesk(mngr.world.repo, "a")
    journal = Journal(desk.folder.journal)
    child = mngr.start("tmr", "status", "--watch", "--json")
    assert child.stdout is not None
    try:
        assert b'"queued":1' in child.stdout.readline()
        desk.launched("a")
        assert b'"running":1' in child.stdout.readline()
    finally:
        journal.close()
    out, err = child.communicate(timeout=120)
    assert (child.returncode, err) == (0, b"")
    assert b'"state":"interrupted"' in out


def test_there_must_be_a_run(mngr: Mngr) -> None:
    done = mngr("tmr", "status")
    assert done.code == 4
    assert "no run yet" in done.stderr
