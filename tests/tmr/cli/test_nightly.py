"""`mngr tmr nightly`: what keeps it from starting a run, and what lets it."""

import time

import pytest
from tests.cli.command import Mngr
from tests.tmr.report.desk import RunDesk, task

from mngr_tmr.engine.journal import Journal
from mngr_tmr.model.entry import Entry
from mngr_tmr.model.facts import AgentsMetered
from mngr_tmr.model.money import Used
from mngr_tmr.run_folder.hold import hold

pytestmark = pytest.mark.accept("O13")

RUN = "nightly-20260301"
BRANCH = f"tmr/{RUN}/integrated"


def scene(mngr: Mngr, change: str = "more\n") -> RunDesk:
    """A nightly run of long ago whose branch changes a file."""
    desk = RunDesk(mngr.world.repo, "a", name=RUN)
    desk.git("switch", "-qc", BRANCH)
    commit(desk, change)
    desk.git("switch", "-q", "main")
    return desk


def commit(desk: RunDesk, text: str) -> None:
    with open(desk.repo / "notes.txt", "a") as file:
        file.write(text)
    desk.git("add", "notes.txt")
    desk.git("-c", "user.name=Ada", "-c", "user.email=a@example.com", "commit", "-qm", "notes")


def answer(mngr: Mngr, *words: str) -> str:
    done = mngr.ok("tmr", "nightly", "tests", "--dry-run", *words)
    (line,) = done.stdout.splitlines()
    assert line.startswith("nightly: ")
    return line


def test_it_does_not_overlap(mngr: Mngr) -> None:
    desk = RunDesk(mngr.world.repo, "a", name=RUN)
    with hold(str(desk.path.parent / "nightly.lock")) as is_ours:
        assert is_ours
        assert answer(mngr) == "nightly: nothing started: another one is going on"
    journal = Journal(desk.folder.journal)
    assert answer(mngr) == f"nightly: nothing started: {RUN} is going on"
    journal.close()
    assert "would start" in answer(mngr)


def test_it_waits_for_a_review_of_the_branch_and_says_how(mngr: Mngr) -> None:
    desk = scene(mngr)
    line = answer(mngr)
    assert f"the branch {BRANCH} waits for a review" in line
    assert mngr.ok("tmr", "nightly", "--reviewed", RUN).stdout == f"nightly: {BRANCH} is marked as reviewed\n"
    assert "would start" in answer(mngr)
    desk.git("switch", "-q", BRANCH)
    commit(desk, "and more\n")
    desk.git("switch", "-q", "main")
    assert answer(mngr) == line, "what came after the mark was not reviewed"
    desk.git("branch", "-D", BRANCH)
    assert "would start" in answer(mngr)
    assert mngr("tmr", "nightly", "--reviewed", RUN).code == 4


@pytest.mark.parametrize("how", [("merge", "-q"), ("merge", "-q", "--squash"), ("cherry-pick",)])
def test_a_branch_is_merged_however_it_was_merged(mngr: Mngr, how: tuple[str, ...]) -> None:
    desk = scene(mngr)
    commits = {"user.name": "Ada", "user.email": "a@example.com"}
    settings = [word for name, value in commits.items() for word in ("-c", f"{name}={value}")]
    (desk.repo / "other.txt").write_text("main goes on")
    desk.git("add", "other.txt")
    desk.git(*settings, "commit", "-qm", "other")
    assert "waits for a review" in answer(mngr)
    desk.git(*settings, *how, BRANCH)
    if "--squash" in how:
        desk.git(*settings, "commit", "-qm", "squashed")
    assert "would start" in answer(mngr)
    assert "waits for a review" in answer(mngr, "--base", "HEAD~1")


def test_runs_of_other_names_and_branches_without_work_do_not_matter(mngr: Mngr) -> None:
    scene(mngr)
    assert "would start" in answer(mngr, "--name", "weekly")
    commit(RunDesk(mngr.world.repo, "a", name="other"), "main goes on\n")
    RunDesk(mngr.world.repo, "a", name="weekly-20260301").git("branch", "tmr/weekly-20260301/integrated")
    for base in ("HEAD", "HEAD~1"):
        assert "would start" in answer(mngr, "--name", "weekly", "--base", base)


def test_a_run_is_due_once_in_a_while_so_that_a_missed_one_starts_at_the_next_call(mngr: Mngr) -> None:
    desk = RunDesk(mngr.world.repo, "a", name=RUN)
    line = answer(mngr, "--every", "100000h")
    assert f"{RUN} began " in line
    assert line.endswith("one is due every 100000h")
    assert "would start" in answer(mngr)
    (desk.path / "run.json").write_text("{")
    assert "would start" in answer(mngr, "--every", "100000h")
    assert mngr("tmr", "nightly", "tests", "--every", "soon").code == 2
    assert mngr("tmr", "nightly", "tests", "--base", "no-such").code == 2


def test_it_starts_nothing_once_the_daily_budget_is_used_up(mngr: Mngr) -> None:
    desk = RunDesk(mngr.world.repo, "a")
    used = {task("a").slug: Used(900_000, 4.5)}
    Journal(desk.folder.journal).append(Entry(time.time(), "watch", "noted", fact=AgentsMetered(used)))
    mngr.ok("config", "set", "tmr.daily_budget", "4.50usd")
    line = answer(mngr)
    assert line == "nightly: nothing started: the agents of today used $4.50 of the daily budget of 4.50usd"
    mngr.ok("config", "set", "tmr.daily_budget", "1Mtok")
    assert "would start" in answer(mngr)


def test_what_keeps_a_run_from_starting_is_the_line_of_the_log_too(mngr: Mngr) -> None:
    done = mngr("tmr", "nightly", "tests", "--type", "no-such-type")
    assert done.code == 2
    (line,) = done.stdout.splitlines()
    assert line.startswith("nightly: nightly-")
    assert " failed: " in line
