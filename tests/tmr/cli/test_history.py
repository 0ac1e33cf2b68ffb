"""`mngr tmr history` and `compare`, run for real on folders as runs leave them."""

import subprocess
import sys

import pytest
from tests.cli.command import Mngr
from tests.tmr.report.desk import HOSTILE, RunDesk, node

from mngr_tmr.model.verdict import Verdict

pytestmark = pytest.mark.accept("O14")


def scene(mngr: Mngr) -> None:
    """Two runs, of which the first left no summary: its process was killed."""
    first: Verdict = "failed"
    for name, verdict in (("r1", first), ("r2", "passed")):
        desk = RunDesk(mngr.world.repo, "a", "b", name=name)
        desk.measured(a=verdict, b="passed")
        for test in "ab":
            desk.ended(test)


def test_history_and_compare_read_the_folders_of_runs(mngr: Mngr) -> None:
    scene(mngr)
    mngr.ok("tmr", "report", "r2")
    done = mngr.ok("tmr", "history")
    assert f"{node('a')}: passed; failed in 1 of 2 runs" in done.stdout
    assert "gone" in done.stdout
    assert done.stderr == ""
    assert mngr.ok("tmr", "history", "--json").json["runs"] == 2
    lines = mngr.ok("tmr", "history", "test_a").stdout.splitlines()
    assert lines[0] == node("a")
    assert ["r2" in lines[1], "r1" in lines[2], "passed" in lines[1], "failed" in lines[2]] == [True] * 4
    done = mngr.ok("tmr", "compare", "r1", "r2")
    assert "1 test with another verdict, 1 the same" in done.stdout
    assert f"{node('a')}: fixed, failed → passed" in done.stdout
    (found,) = mngr.ok("tmr", "compare", "r2", "r1", "--json").json["tests"]
    assert found["change"] == "broken"


def test_without_a_run_it_says_how_to_start_one(mngr: Mngr) -> None:
    assert "mngr tmr run" in mngr.ok("tmr", "history").stdout
    assert mngr("tmr", "history", "test_a").code == 4
    assert mngr("tmr", "compare", "a", "b").code == 4
    assert not (mngr.world.repo / ".mngr" / "tmr").exists()


def test_a_damaged_index_is_one_line_and_what_agents_wrote_is_safe_to_print(mngr: Mngr) -> None:
    scene(mngr)
    desk = RunDesk(mngr.world.repo, "a", name="r3")
    desk.failed("a", message=HOSTILE)
    index = desk.path.parent / "history.sqlite3"
    index.write_text("no index")
    done = mngr.ok("tmr", "history")
    assert done.stderr == "the index of past runs is damaged: it is made again\n"
    assert "\x1b" not in done.stdout
    assert index.stat().st_mode & 0o777 == 0o600


def test_other_commands_do_not_load_sqlite() -> None:
    code = "import sys, mngr_tmr.cli.tmr, mngr_tmr.cli.report, mngr_tmr.cli.status; assert 'sqlite3' not in sys.modules"
    subprocess.run([sys.executable, "-c", code], check=True)
