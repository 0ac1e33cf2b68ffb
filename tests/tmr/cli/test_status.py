"""`mngr tmr status`, run for real."""

import msgspec
import pytest
from tests.cli.command import Mngr
from tests.tmr.report.desk import T0, RunDesk, blocked, escalation, node, result, task

from mngr.testing.waiting import PATIENCE_S
from mngr_tmr.engine.journal import Journal
from mngr_tmr.report.out.page.page import make_run
from mngr_tmr.report.out.page.source import TmrSource


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


@pytest.mark.accept("U2", "M13")
def test_of_many_tests_those_that_need_a_person_or_hang_come_first(mngr: Mngr) -> None:
    waiting = [f"w{number}" for number in range(12)]
    desk = RunDesk(mngr.world.repo, *waiting, "busy", "hung", "asks")
    journal = Journal(desk.folder.journal)
    try:
        for name in waiting:
            desk.ended(name, commit="c" * 40)
        desk.launched("busy", "hung", "asks")
        desk.note("watch", "noted", "hung", silent_since=T0 + 500)
        desk.note("watch", "noted", "asks", "May I?", asks="permission")
        lines = mngr.ok("tmr", "status").stdout.splitlines()
        record = mngr.ok("tmr", "status", "--json").json
    finally:
        journal.close()
    rows = [line.split(maxsplit=1)[1] for line in lines if "::test_" in line and " x " not in line]
    assert [row.rpartition("_")[2] for row in rows] == ["asks", "hung", "busy"]
    assert rows[1].startswith("no sign of life")
    assert "  12 tests waiting for verification" in lines
    assert len(record["live"]) == 15


@pytest.mark.accept("M16", "P10")
def test_an_interrupted_run_says_how_to_go_on_and_what_was_raised(mngr: Mngr) -> None:
    desk = RunDesk(mngr.world.repo, "a", "b")
    desk.ended("a", result("a", escalations=(escalation("the till \x1b[31mis slow"),)))
    done = mngr.ok("tmr", "status", "r1")
    assert "run r1: interrupted, " in done.stdout
    assert "mngr tmr resume r1" in done.stdout
    assert "  1 x bug: the till [31mis slow" in done.stdout


@pytest.mark.accept("O20")
def test_who_paused_the_run_and_what_was_cancelled_is_told(mngr: Mngr) -> None:
    desk = RunDesk(mngr.world.repo, "a", "b")
    journal = Journal(desk.folder.journal)
    try:
        steered = {"fact": "steered", "by": "ann@desk"}
        desk.note("run", "noted", request="1", action="pause", **steered)
        desk.note("run", "noted", "a", "cancelled by ann@desk", request="2", action="cancel", **steered)
        desk.ended("b")
        lines = mngr.ok("tmr", "status").stdout
        running = mngr("tmr", "resume", "--slots", "3")
    finally:
        journal.close()
    assert "\npaused by ann@desk, " in lines
    assert ": mngr tmr resume r1\n" in lines
    assert (running.code, "mngr tmr set r1 slots=4" in running.stderr) == (6, True)
    over = mngr.ok("tmr", "status").stdout
    assert over.startswith("run r1: finished, "), "a test that was cancelled is not left to run"
    mngr.ok("tmr", "report")
    (row,) = (row for row in desk.summary()["rows"] if row["test"] == node("a"))
    assert (row["section"], row["why"]) == ("not_run", "cancelled by ann@desk")


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


@pytest.mark.accept("U2", "J3")
def test_a_run_that_integrates_says_so_and_is_watched_until_the_branch_is_there(mngr: Mngr) -> None:
    desk = RunDesk(mngr.world.repo, "a")
    desk.measured(a="passed")
    desk.ended("a")
    journal = Journal(desk.folder.journal)
    try:
        desk.note("integrate", "intended")
        desk.note("integrate", "noted", message="gate suite, 12 tests")
        now, runs = mngr.ok("tmr", "status").stdout, mngr.ok("tmr", "runs").stdout
        record = mngr.ok("tmr", "status", "--json").json
        mngr.ok("tmr", "report")
        page = make_run(TmrSource(desk.folder).model(), {}, "r1")
        child = mngr.start("tmr", "status", "--watch", "--json")
        assert child.stdout is not None
        assert b'"state":"integrating"' in child.stdout.readline()
        desk.note("integrate", "noted", message="evidence for each fix")
        assert b"evidence for each fix" in child.stdout.readline()
        desk.note("integrate", "done", tip=desk.base)
    finally:
        journal.close()
    out, _ = child.communicate(timeout=PATIENCE_S)
    last = msgspec.json.decode(out.splitlines()[-1])
    assert (last["state"], last["exit_code"], last["integration"]["seconds"]) == ("finished", 0, 30.0)
    assert last["elapsed_s"] == 90.0, "the time that integration took is the run's"
    assert now.startswith("run r1: integrating, ")
    assert "integration: gate suite, 12 tests, " in now
    assert "finished" not in now + runs
    assert "1 test (integrating: gate suite, 12 tests, " in runs
    assert (record["state"], record["exit_code"]) == ("integrating", None)
    assert (desk.summary()["state"], desk.summary()["exit_code"]) == ("integrating", None)
    assert page.is_running
    assert ("state", "integrating") in [(fact.label, fact.value) for fact in page.facts]
    assert page.lanes[-1].label == "integration"
    assert [span.kind for span in page.lanes[-1].spans] == ["preparing", "gate suite, 12 tests"]


@pytest.mark.accept("U2")
def test_an_integration_that_failed_or_was_killed_is_not_finished(mngr: Mngr) -> None:
    desk = RunDesk(mngr.world.repo, "a")
    desk.ended("a")
    desk.note("integrate", "intended")
    killed = mngr.ok("tmr", "status").stdout
    desk.note("integrate", "failed", message="no space left on device")
    failed = mngr.ok("tmr", "status").stdout
    assert killed.startswith("run r1: interrupted, ")
    assert "mngr tmr resume r1" in killed
    assert failed.startswith("run r1: failed, ")
    assert "integration failed after 0:10: no space left on device" in failed
    assert "mngr tmr integrate r1" in failed


def test_there_must_be_a_run(mngr: Mngr) -> None:
    done = mngr("tmr", "status")
    assert done.code == 4
    assert "no run yet" in done.stderr
