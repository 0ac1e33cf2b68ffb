"""`mngr tmr delete`, run for real: with agents, branches and folders."""

import json
import time

import pytest
from msgspec.structs import replace
from tests.cli.command import Mngr
from tests.tmr.report.desk import RunDesk

from mngr_tmr.engine.journal import Journal

TASK, INTEGRATED = "tmr/r1/a-123", "tmr/r1/integrated"


def scene(mngr: Mngr) -> RunDesk:
    """A run that left an agent, a branch of a task and the integrated one; others have some of each too."""
    desk = RunDesk(mngr.world.repo, "a")
    RunDesk(mngr.world.repo, "a", name="r2")
    tree = ("commit-tree", "HEAD^{tree}", "-p", "HEAD", "-m", "work of its own")
    commit = desk.git(*tree).strip()
    for branch in (TASK, INTEGRATED, "tmr/r2/a-123", "tmr/r10/x", "mine"):
        desk.git("branch", branch, commit)
    for name, run in (("tmr-r1-a", "r1"), ("tmr-r2-a", "r2")):
        mngr.ok("create", name, "--no-connect", "--label", f"tmr.run={run}", "--", "sleep", "600")
    return desk


def branches(desk: RunDesk) -> set[str]:
    return set(desk.git("for-each-ref", "--format=%(refname:lstrip=2)", "refs/heads").split())


def agents(mngr: Mngr) -> set[str]:
    return {agent["name"] for agent in mngr.ok("list", "--json").json["agents"]}


@pytest.mark.accept("O18", "P12")
def test_delete_takes_agents_task_branches_and_folder_and_nothing_else(mngr: Mngr) -> None:
    desk = scene(mngr)
    others = branches(desk) - {TASK, "mngr/tmr-r1-a"}
    done = mngr.ok("tmr", "delete", "r1", "--yes")
    assert f"branch {TASK} at" in done.stderr
    assert f"stays: branch {INTEGRATED}" in done.stderr
    assert done.stdout.startswith("deleted r1: 1 agent, 1 branch, ")
    assert agents(mngr) == {"tmr-r2-a"}
    assert branches(desk) == others
    assert not desk.path.exists()
    assert (desk.path.parent / "r2" / "run.json").exists()
    assert mngr("tmr", "status", "r1").code == 4


@pytest.mark.accept("O18")
def test_the_integrated_branch_goes_when_asked_for_unless_it_is_checked_out(mngr: Mngr) -> None:
    desk = scene(mngr)
    desk.git("switch", "-q", INTEGRATED)
    done = mngr.ok("tmr", "delete", "r1", "--branches", "--yes", "--json")
    assert done.json["runs"][0]["notes"] == [f"branch {INTEGRATED} is checked out and stays"]
    assert INTEGRATED in branches(desk)
    assert TASK not in branches(desk)
    desk.git("switch", "-q", "main")
    desk = RunDesk(mngr.world.repo, "a")
    mngr.ok("tmr", "delete", "r1", "--branches", "-y")
    assert INTEGRATED not in branches(desk)


@pytest.mark.accept("O18")
def test_nothing_goes_without_a_word(mngr: Mngr) -> None:
    desk = scene(mngr)
    before = (branches(desk), agents(mngr))
    done = mngr("tmr", "delete", "r1")
    assert done.code == 6
    assert "say --yes" in done.stderr
    done = mngr.ok("tmr", "delete", "r1", "--dry-run")
    assert done.stdout.startswith("would delete r1: 1 agent, 1 branch, ")
    assert mngr("tmr", "delete", "--yes").code == 2
    assert (branches(desk), agents(mngr)) == before
    assert desk.path.exists()


def test_on_a_terminal_it_asks(mngr: Mngr) -> None:
    desk = RunDesk(mngr.world.repo, "a")
    terminal = mngr.terminal("tmr", "delete", "r1")
    terminal.wait_for("delete r1?")
    terminal.type("n\n")
    assert terminal.end() == 6
    assert desk.path.exists()
    terminal = mngr.terminal("tmr", "delete", "r1")
    terminal.wait_for("delete r1?")
    terminal.type("y\n")
    assert terminal.end() == 0
    assert not desk.path.exists()


@pytest.mark.accept("Q7")
def test_an_unknown_run_is_named_with_the_nearest_and_the_others_still_go(mngr: Mngr) -> None:
    desk = RunDesk(mngr.world.repo, "a", name="nightly")
    assert mngr("tmr", "delete", "nigthly", "--yes").code == 4
    done = mngr("tmr", "delete", "nightly", "gone", "--yes")
    assert done.code == 3
    assert 'no run "gone"' in done.stderr
    assert not desk.path.exists()


def test_a_run_that_is_going_on_is_refused(mngr: Mngr) -> None:
    desk = RunDesk(mngr.world.repo, "a")
    journal = Journal(desk.folder.journal)
    done = mngr("tmr", "delete", "r1", "--yes")
    journal.close()
    assert done.code == 6
    assert "is going on" in done.stderr
    assert desk.path.exists()


def test_a_folder_that_strangers_wrote_to_is_removed_without_following_links(mngr: Mngr) -> None:
    desk = RunDesk(mngr.world.repo, "a")
    keep = mngr.world.repo / "keep"
    keep.mkdir()
    (keep / "file").write_text("mine")
    (desk.path / "tasks").mkdir()
    (desk.path / "tasks" / "link").symlink_to(keep)
    (desk.path / "link").symlink_to(keep)
    mngr.ok("tmr", "delete", "r1", "--yes")
    assert (keep / "file").read_text() == "mine"
    assert not desk.path.exists()


def made(desk: RunDesk, days_ago: float) -> None:
    desk.folder.writer.write_json(
        desk.folder.spec, replace(desk.spec, created_at=time.time() - days_ago * 86400)
    )


@pytest.mark.accept("O18")
def test_by_age_go_the_runs_that_are_older_and_have_ended(mngr: Mngr) -> None:
    desks = {name: RunDesk(mngr.world.repo, "a", name=name) for name in ("old", "older", "young", "busy")}
    for name, days in (("old", 31), ("older", 300), ("young", 29), ("busy", 300)):
        made(desks[name], days)
    journal = Journal(desks["busy"].folder.journal)
    done = mngr.ok("tmr", "delete", "--older-than", "30d", "--dry-run", "--json")
    assert {one["run"] for one in done.json["runs"]} == {"old", "older"}
    mngr.ok("tmr", "delete", "older", "young", "--older-than", "30d", "--yes")
    assert {name for name, desk in desks.items() if desk.path.exists()} == {"old", "young", "busy"}
    mngr.ok("tmr", "delete", "--older-than", "30d", "--yes")
    journal.close()
    assert {name for name, desk in desks.items() if desk.path.exists()} == {"young", "busy"}
    done = mngr.ok("tmr", "delete", "--older-than", "10000d", "--yes")
    assert "no run is older than 10000d" in done.stderr
    assert mngr("tmr", "delete", "--older-than", "0s", "young", "--yes").code == 0
    assert not desks["young"].path.exists()


@pytest.mark.accept("O18")
def test_reports_stay_when_asked_for_and_tell_what_was_deleted(mngr: Mngr) -> None:
    desk = scene(mngr)
    desk.measured(a="failed")
    desk.ended("a")
    before = {words: mngr.ok("tmr", *words).stdout for words in (("runs",), ("history", "test_a"))}
    done = mngr.ok("tmr", "delete", "r1", "--keep-reports", "--yes")
    assert done.stdout.startswith("deleted r1: 1 agent, 1 branch, ")
    assert "; reports kept" in done.stdout
    assert {path.name for path in desk.path.iterdir()} == {
        *("run.json", "summary.json", "junit.xml", "report.html", "deleted.json")
    }
    assert (agents(mngr), TASK in branches(desk)) == ({"tmr-r2-a"}, False)
    deleted = json.loads((desk.path / "deleted.json").read_bytes())
    assert deleted["agents"] == ["tmr-r1-a"]
    assert deleted["branches"] == [TASK]
    assert deleted["bytes"] > 0
    assert {words: mngr.ok("tmr", *words).stdout for words in before} == before
    page = (desk.path / "report.html").read_bytes()
    for words in (
        ("report",),
        ("integrate",),
        ("resume",),
    ):
        assert "only the reports were kept" in mngr("tmr", *words, "r1").stderr
    assert (desk.path / "report.html").read_bytes() == page
    done = mngr.ok("tmr", "delete", "r1", "--older-than", "0s", "--keep-reports", "--yes")
    assert "nothing to delete" in done.stderr
    mngr.ok("tmr", "delete", "r1", "--yes")
    assert not desk.path.exists()


@pytest.mark.accept("O18")
def test_sizes_say_what_each_run_takes(mngr: Mngr) -> None:
    desk = scene(mngr)
    (desk.path / "tasks").mkdir()
    (desk.path / "tasks" / "recording").write_bytes(bytes(range(256)) * 8000)
    (desk.path / "tasks" / "link").symlink_to("/usr")
    rows = {row["run"]: row["sizes"] for row in mngr.ok("tmr", "runs", "--sizes", "--json").json["runs"]}
    assert 2_048_000 <= rows["r1"]["evidence"] < 2_500_000
    assert 0 < rows["r1"]["reports"] < 100_000
    assert rows["r1"]["agents"] == ["tmr-r1-a"]
    assert rows["r1"]["branches"] == [TASK, INTEGRATED]
    assert rows["r2"]["agents"] == ["tmr-r2-a"]
    lines = mngr.ok("tmr", "runs", "--sizes").stdout.splitlines()
    assert "2 branches; 1 agent: tmr-r1-a" in lines[1]
    assert lines[2].startswith("2 runs: 2.")
