"""`mngr tmr report`, run for real."""

import os
import signal
import urllib.request
from pathlib import Path

import msgspec
import pytest
from tests.cli.command import Mngr
from tests.tmr.report.desk import RunDesk, blocked, node, result
from tests.view.desk import chunks_of

from mngr.process import wait_until
from mngr.testing.waiting import PATIENCE_S


@pytest.fixture
def desk(mngr: Mngr) -> RunDesk:
    desk = RunDesk(mngr.world.repo, "a", "b", "c")
    desk.measured(a="passed", b="failed", c="passed")
    desk.ended("a")
    desk.ended("b", blocked("b", "\x1b[2Jno network\x07"))
    return desk


@pytest.mark.accept("J1", "J2", "J5", "Q5")
def test_the_report_is_written_from_the_folder_and_told(mngr: Mngr, desk: RunDesk) -> None:
    done = mngr.ok("tmr", "report")
    assert f"page: {desk.path}/report.html" in done.stdout
    assert "1 blocked" in done.stdout
    assert "\x1b" not in done.stdout
    assert "mngr tmr resume r1" in done.stdout
    rows = {row["test"]: row["section"] for row in desk.summary()["rows"]}
    assert rows == {node("a"): "clean", node("b"): "blocked", node("c"): "queued"}
    assert mngr.ok("tmr", "report", "r1", "--json").json == desk.summary()


@pytest.mark.accept("J5")
def test_the_page_can_be_written_to_any_file_or_to_stdout(mngr: Mngr, desk: RunDesk, tmp_path: Path) -> None:
    target = tmp_path / "my page.html"
    assert mngr.ok("tmr", "report", "r1", "--html", str(target)).stdout == f"{target}\n"
    assert len(chunks_of(target.read_bytes())["index"]["runs"][0]["tests"]) == 3
    printed = mngr.ok("tmr", "report", "--html", "-").stdout
    assert chunks_of(printed.encode()).keys() == chunks_of(target.read_bytes()).keys()
    assert not (desk.path / "report.html").exists()


def test_a_run_elsewhere_is_found_by_its_folder_and_by_out(mngr: Mngr, tmp_path: Path) -> None:
    RunDesk(mngr.world.repo, "a", name="far", out=str(tmp_path / "runs"))
    assert mngr.ok("tmr", "report", "--out", str(tmp_path / "runs"), "--json").json["run"] == "far"
    assert mngr.ok("tmr", "report", str(tmp_path / "runs" / "far"), "--json").json["run"] == "far"


@pytest.mark.accept("Q7")
def test_an_unknown_run_is_exit_4_with_the_nearest_name(mngr: Mngr, desk: RunDesk) -> None:
    RunDesk(mngr.world.repo, "a", name="nightly")
    for command in ("report", "status"):
        done = mngr("tmr", command, "nightli")
        assert done.code == 4
        assert 'did you mean "nightly"?' in done.stderr


@pytest.mark.accept("Q7")
def test_a_damaged_run_json_is_one_clear_error(mngr: Mngr, desk: RunDesk) -> None:
    Path(desk.folder.spec).write_text("{")
    done = mngr("tmr", "report", "r1")
    assert done.code == 1
    assert "run.json cannot be read" in done.stderr
    assert "Traceback" not in done.stderr


@pytest.mark.accept("J3", "V7")
def test_the_live_page_changes_while_the_run_goes_on(mngr: Mngr, desk: RunDesk) -> None:
    child = mngr.start("tmr", "report", "--serve", "--no-open")
    try:
        assert child.stdout is not None
        url = child.stdout.readline().decode().strip()

        def sections() -> dict[str, str]:
            with urllib.request.urlopen(f"{url}data/index", timeout=PATIENCE_S) as answer:
                index = msgspec.json.decode(answer.read())
            assert index["is_live"]
            return {row["id"]: row["section"] for row in index["runs"][0]["tests"]}

        assert sections()[node("c")] == "queued"
        desk.launched("c")
        assert wait_until(lambda: sections()[node("c")] == "running", PATIENCE_S)
    finally:
        os.kill(child.pid, signal.SIGINT)
        out, err = child.communicate(timeout=PATIENCE_S)
    assert child.returncode == 130, (out, err)


def test_a_github_step_gets_its_summary(mngr: Mngr, desk: RunDesk, tmp_path: Path) -> None:
    target = tmp_path / "step.md"
    mngr.ok("tmr", "report", GITHUB_STEP_SUMMARY=str(target))
    assert "### Blocked (1)" in target.read_text()


@pytest.mark.accept("M15")
def test_a_lie_is_told_on_the_terminal(mngr: Mngr) -> None:
    desk = RunDesk(mngr.world.repo, "a")
    desk.measured(a="failed")
    desk.ended("a", result("a", passed_before=False))
    assert "agent was wrong" in mngr.ok("tmr", "report").stdout
