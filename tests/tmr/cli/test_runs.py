"""`mngr tmr runs`, run for real."""

import os
from pathlib import Path

import pytest
from tests.cli.command import Mngr
from tests.tmr.report.desk import RunDesk, blocked

from mngr_tmr.model.integration import Integration


@pytest.mark.accept("J6", "O18")
def test_runs_are_listed_newest_first_with_counts_and_branch(mngr: Mngr) -> None:
    old = RunDesk(mngr.world.repo, "a", "b", name="old")
    old.measured(a="passed", b="passed")
    old.ended("a")
    old.ended("b", blocked("b"))
    old.integrated(Integration(old.base, "tmr/old/integrated", "c" * 40))
    RunDesk(mngr.world.repo, "a", name="new")
    os.utime(old.folder.spec, (1, 1))
    first, second = mngr.ok("tmr", "runs").stdout.splitlines()
    assert first.startswith("new  ")
    assert first.endswith("1 test (interrupted): 1 waiting")
    assert second.startswith("old  ")
    assert second.endswith("2 tests: 1 blocked, 1 already passing  tmr/old/integrated")
    rows = mngr.ok("tmr", "runs", "--json").json["runs"]
    assert [row["run"] for row in rows] == ["new", "old"]
    assert (rows[1]["tests"], rows[1]["counts"]) == (2, {"blocked": 1, "clean": 1})


def test_a_summary_that_is_older_than_the_journal_is_not_believed(mngr: Mngr) -> None:
    desk = RunDesk(mngr.world.repo, "a")
    mngr.ok("tmr", "report")
    assert mngr.ok("tmr", "runs", "--json").json["runs"][0]["counts"] == {"queued": 1}
    desk.failed("a")
    os.utime(desk.folder.summary, (1, 1))
    assert mngr.ok("tmr", "runs", "--json").json["runs"][0]["counts"] == {"infrastructure": 1}


@pytest.mark.accept("J5")
def test_a_damaged_run_is_a_row_that_says_so(mngr: Mngr) -> None:
    desk = RunDesk(mngr.world.repo, "a")
    Path(desk.folder.spec).write_text("{")
    RunDesk(mngr.world.repo, "a", name="r2")
    lines = mngr.ok("tmr", "runs").stdout.splitlines()
    assert len(lines) == 2
    assert any(line.startswith("r1") and "run.json cannot be read" in line for line in lines)


def test_no_runs_is_said_and_no_error(mngr: Mngr) -> None:
    done = mngr.ok("tmr", "runs")
    assert done.stdout == ""
    assert "mngr tmr run" in done.stderr
