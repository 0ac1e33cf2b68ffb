"""The page of a run: what an agent did, its tries, its recordings, and every key that a record names."""

import json
import sys
from pathlib import Path
from typing import Any

import msgspec
import pytest
from tests.e2e_kit.view.desk import RunDesk as Tries
from tests.e2e_kit.view.desk import record, write_cast, write_records
from tests.support.needs import needs
from tests.tmr.report.desk import (
    HOSTILE,
    T0,
    RunDesk,
    blocked,
    escalation,
    node,
    result,
    task,
    with_repository,
)

import mngr
from mngr_tmr.engine.journal import Journal
from mngr_tmr.model.integration import Fix, FixWitness, Integration, WeakenedAssertion
from mngr_tmr.model.result import Try
from mngr_tmr.model.run import RunOptions
from mngr_tmr.report.out.page.source import TmrSource
from mngr_view.records import Detail, Run
from mngr_view.records import Test as PageRow
from mngr_view.template import TEMPLATE

PYTEST = (sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider")
TUTORIAL = "# pay\nshop pay\n\n# leave\nshop leave\n"


@pytest.fixture
def repo(tmp_path: Path) -> Path:
    needs("the built page (make web)", "test", "-f", TEMPLATE)
    return with_repository(tmp_path)


def run_of(source: TmrSource) -> Run:
    (run,) = source.index().runs
    return run


def row_of(source: TmrSource, name: str) -> PageRow:
    return next(row for row in run_of(source).tests if row.id == node(name))


def detail_of(source: TmrSource, row: PageRow, tab: int) -> Detail:
    data = source.chunk(row.attempts[tab].chunk)
    assert data is not None
    return msgspec.json.decode(data, type=Detail)


def busy_agent(desk: RunDesk) -> None:
    """An agent that ran its test twice with the kit, talked and was recorded."""
    tries = (Try("try-1", "as it was", False), Try("try-2", "with the till mended", True))
    path = desk.ended("a", result("a", attempts=tries))
    for number, (name, status) in enumerate((("try-1", "failed"), ("try-2", "passed"))):
        kit = Tries(path / "outbox" / "artifacts", name)
        folder = kit.attempt(node("a"), status, start=T0 + 100 * number)  # type: ignore[arg-type]
        write_records(folder, record("shop pay", T0 + 100 * number + 5, (0.0, f"{name} paid\n")))
        write_cast(folder, "1-shell.cast", T0 + 100 * number, (0.5, "in the shell"))
    turns = [{"role": "user", "text": "mend it", "at": T0}, {"role": "agent", "text": "mended", "at": T0 + 9}]
    (path / "conversation.jsonl").write_text("".join(json.dumps(turn) + "\n" for turn in turns) + "{half")
    (path / "prompt.md").write_text("# your task")
    header = {"version": 2, "width": 100, "height": 30, "timestamp": int(T0)}
    (path / "recording.cast").write_text(f"{json.dumps(header)}\n{json.dumps([150.0, 'o', 'thinking'])}\n")


@pytest.mark.accept("M11", "P13", "J5")
def test_every_try_is_a_tab_of_its_own_with_its_description_beside_the_agents_recording(repo: Path) -> None:
    desk = RunDesk(repo, "a")
    busy_agent(desk)
    source = TmrSource(desk.folder)
    row = row_of(source, "a")
    assert [one.label for one in row.attempts] == ["agent", "try-1: as it was", "try-2: with the till mended"]
    assert [one.number for one in row.attempts] == [1, 2, 3]
    assert [one.status for one in row.attempts[1:]] == ["failed", "passed"]
    second = detail_of(source, row, 2)
    assert [one.command for one in second.commands] == ["shop pay"]
    assert "try-2 paid" in second.commands[0].output[0].text
    assert [cast.title for cast in second.casts] == ["shell", "the agent"]
    assert [(seek.cast, seek.second) for seek in second.commands[0].seeks] == [(0, 0.5), (1, 105.0)]


@pytest.mark.accept("M15", "V2")
def test_our_own_checks_at_the_base_and_at_the_agents_commit_are_tabs_with_their_transcripts(
    repo: Path,
) -> None:
    desk = RunDesk(repo, "a", "b")
    desk.measured(a="failed", b="passed")
    base = Tries(Path(desk.folder.base_artifacts) / "copy-1" / "artifacts", "base-1")
    write_records(base.attempt(node("a"), "failed"), record("shop pay", T0, (0.0, "before\n")))
    base.attempt(node("b"))
    path = desk.ended("a")
    Tries(path / "verify" / "copy-2" / "artifacts", "check-2").attempt(node("a"), "passed")
    check = Tries(path / "verify" / "copy-2" / "artifacts", "check-1")
    write_records(check.attempt(node("a"), "passed"), record("shop pay", T0, (0.0, "after\n")))
    source = TmrSource(desk.folder)
    row = row_of(source, "a")
    assert [(one.label, one.status) for one in row.attempts] == [
        ("check at the base", "failed"),
        ("agent", "failed"),
        ("check", "passed"),
        ("check, 2", "passed"),
    ]
    said = [detail_of(source, row, tab).commands[0].output[0].text for tab in (0, 2)]
    assert said == ["before\n", "after\n"]
    assert [one.label for one in row_of(source, "b").attempts] == ["check at the base"]


@pytest.mark.accept("J5")
def test_the_agents_own_tab_has_conversation_result_prompt_and_recording(repo: Path) -> None:
    desk = RunDesk(repo, "a")
    busy_agent(desk)
    source = TmrSource(desk.folder)
    detail = detail_of(source, row_of(source, "a"), 0)
    assert [(turn.role, turn.text) for turn in detail.conversation] == [
        ("user", "mend it"),
        ("agent", "mended"),
    ]
    assert [text.title for text in detail.texts] == ["the result as it was received", "its prompt"]
    assert "1 damaged line of the conversation left out" in detail.notes
    (cast,) = detail.casts
    assert (cast.cols, cast.duration_s) == (100, 150.0)
    assert source.chunk(cast.chunk)


@pytest.mark.accept("J5", "V4")
def test_every_key_that_a_record_names_is_in_the_page_once(repo: Path) -> None:
    desk = RunDesk(repo, "a", "b", "c")
    busy_agent(desk)
    desk.ended("b", blocked("b"))
    tip = desk.git("commit-tree", "HEAD^{tree}", "-p", "HEAD", "-m", "mend").strip()
    desk.integrated(Integration(desk.base, "tmr/r1/integrated", tip, squashed=tip))
    source = TmrSource(desk.folder)
    run = run_of(source)
    chunks = list(source.chunks())
    found: dict[str, Any] = {key: msgspec.json.decode(data) for key, data in chunks}
    assert len(found) == len(chunks)
    details = [one.chunk for row in run.tests for one in row.attempts]
    casts = [cast["chunk"] for key in details for cast in found[key]["casts"]]
    assert set(found) == {*details, *casts, *(commit.chunk for commit in run.commits)}
    assert all(source.chunk(key) == data for key, data in chunks)
    assert source.chunk("detail/../../etc") is None
    assert source.chunk("commit/" + "0" * 40) is None


@pytest.mark.accept("J4", "M15", "M16")
def test_the_index_has_sections_causes_lanes_matters_and_both_sides_of_a_claim(repo: Path) -> None:
    desk = RunDesk(repo, "a", "b", "c", "d")
    desk.measured(a="failed", b="passed", c="failed", d="passed")
    desk.ended("a", result("a", passed_before=False, escalations=(escalation("the till is slow"),)))
    desk.ended("b")
    desk.ended("c", result("c", "failed", passed_before=False, passed_after=False))
    source = TmrSource(desk.folder)
    run = run_of(source)
    assert run.kind == "pipeline"
    assert [(one.id, one.tests) for one in run.sections] == [
        ("disputed", (node("a"),)),
        ("failing", (node("c"),)),
        ("queued", (node("d"),)),
        ("clean", (node("b"),)),
    ]
    assert {row.section for row in run.tests} == {one.id for one in run.sections}
    assert [(len(one.tests), one.fixed) for one in run.causes] == [(2, ())]
    assert [(one.title, one.tests) for one in run.matters] == [("the till is slow", (node("a"),))]
    work = row_of(source, "a").work
    assert work is not None
    assert (work.claimed, work.verdict, work.matters) == ("passed", "failed", (0,))
    assert [lane.test for lane in run.lanes] == [node("a"), node("b"), node("c"), node("d")]
    assert [span.kind for span in run.lanes[0].spans] == ["queue", "launch", "work", "pull", "stop"]
    assert [row.status for row in run.tests] == ["failed", "failed", "not run", "passed"]


@pytest.mark.accept("R16", "R17", "R18")
def test_commits_of_the_branch_carry_witness_weakenings_flags_and_how_to_take_them_back(repo: Path) -> None:
    desk = RunDesk(repo, "a")
    (repo / "till.py").write_text("open = True\n")
    desk.git("add", "till.py")
    desk.git("commit", "-q", "-m", "mend the till")
    tip = desk.git("rev-parse", "HEAD").strip()
    fix = Fix(
        tip,
        1,
        "mend the till",
        "1 test",
        4,
        (task("a").slug,),
        ("till.py",),
        depends_on=("d" * 40,),
        witness=FixWitness(False, True, False, True),
        surface=("option --fast",),
        doubts=("the old test passes without it",),
    )
    top = Fix("a" * 40, 2, "on top", "why", 2, ("b",), ("x.py",), depends_on=(tip,), surface=("--slow",))
    weak = WeakenedAssertion("removed", "till.py", "test_a", "assert x")
    conflict = {"tasks": [task("a").slug], "files": ["till.py"], "resolution": "t", "resolved_by": "tmr-r1-x"}
    desk.integrated(
        Integration(
            desk.base,
            "tmr/r1/integrated",
            tip,
            fixes=(fix, top),
            weakenings=(weak,),
            conflicts=(conflict,),
        )
    )
    source = TmrSource(desk.folder)
    commit, second = run_of(source).commits
    assert second.flags[0] == "new public surface: --slow"
    assert commit.tests == (node("a"),)
    assert commit.witness is not None
    assert (commit.witness.old_test_old_code, commit.witness.old_test_new_code) == (False, True)
    assert [one.before for one in commit.weakenings] == ["assert x"]
    assert commit.flags == (
        "the old test passes without it",
        "depends on dddddddddddd",
        "a conflict in till.py was resolved by tmr-r1-x",
    )
    assert commit.recipes[0].command == (
        f"git switch tmr/r1/integrated && git revert --no-edit aaaaaaaaaaaa {tip[:12]}"
    )
    assert b"+open = True" in (source.chunk(commit.chunk) or b"")


@pytest.mark.accept("J5")
def test_the_command_to_run_a_test_again_does_so(repo: Path, tmp_path: Path) -> None:
    tests = repo / "tests" / "e2e"
    tests.mkdir(parents=True)
    (tests / "test_shop.py").write_text("import os\ndef test_a():\n    assert os.path.exists('ready')\n")
    desk = RunDesk(repo)
    desk.git("add", ".")
    desk.git("commit", "-q", "-m", "tests")
    desk = RunDesk(repo, "a", name="r2", options=RunOptions(setup="touch ready"), pytest=PYTEST)
    desk.ended("a", commit=desk.base)
    work = row_of(TmrSource(desk.folder), "a").work
    assert work is not None
    commands = {recipe.label: recipe.command for recipe in work.recipes}
    script = commands["run it at its commit, by hand"]
    done = mngr.run_program(["sh", "-c", script], cwd="/", timeout_s=60.0)
    assert done.code == 0, done
    assert "1 passed" in done.text
    assert commands["check it again in a fresh copy"] == f"mngr tmr verify r2 {task('a').slug}"


@pytest.mark.accept("M13")
def test_a_running_row_says_how_to_attach(repo: Path) -> None:
    desk = RunDesk(repo, "a")
    desk.launched("a")
    row = row_of(TmrSource(desk.folder), "a")
    assert row.work is not None
    assert row.work.recipes[0].command == f"mngr connect tmr-r1-{task('a').slug}"


@pytest.mark.accept("J3", "V7")
def test_the_live_pages_version_changes_with_the_journal_the_branch_and_the_runs_end(repo: Path) -> None:
    desk = RunDesk(repo, "a")
    source = TmrSource(desk.folder)
    versions = [source.version()]
    assert source.version() == versions[0]
    journal = Journal(desk.folder.journal)
    versions.append(source.version())
    desk.launched("a")
    versions.append(source.version())
    assert run_of(source).is_running
    desk.integrated(Integration(desk.base, "b", desk.base))
    versions.append(source.version())
    journal.close()
    versions.append(source.version())
    assert len(set(versions)) == len(versions)
    assert not run_of(source).is_running


@pytest.mark.accept("Y15")
def test_rows_and_blocks_of_the_tutorial_name_each_other(repo: Path) -> None:
    (repo / "tutorial.sh").write_text(TUTORIAL)
    desk = RunDesk(repo)
    desk.git("add", "tutorial.sh")
    desk.git("commit", "-q", "-m", "tutorial")
    desk = RunDesk(repo, name="r2", tutorial="tutorial.sh")
    tasks = (task("a", blocks=("# pay\nshop pay",)),)
    desk.folder.writer.write_json(desk.folder.spec, msgspec.structs.replace(desk.spec, tasks=tasks))
    run = run_of(TmrSource(desk.folder))
    assert run.tutorial is not None
    pay = next(block for block in run.tutorial.blocks if "shop pay" in block.text)
    assert pay.tests == (node("a"),)
    assert run.tests[0].blocks == (pay.id,)


@pytest.mark.accept("Q5", "V4")
def test_links_floods_and_escapes_in_an_outbox_do_no_harm(repo: Path, tmp_path: Path) -> None:
    desk = RunDesk(repo, "a", "b")
    path = desk.ended("a", result("a", summary=HOSTILE))
    elsewhere = Tries(tmp_path / "private", "run-1")
    elsewhere.attempt(node("a"), "passed")
    (path / "outbox" / "artifacts").symlink_to(tmp_path / "private")
    (path / "outbox" / HOSTILE.replace("/", "").replace("\x00", "")).write_text("x")
    (path / "conversation.jsonl").symlink_to("/etc/passwd")
    (path / "recording.cast").write_bytes(b"\xff\x00 no recording")
    other = desk.ended("b")
    (other / "outbox" / "artifacts" / "try-1" / "x" / "attempt-1").mkdir(parents=True)
    (other / "outbox" / "artifacts" / "try-2").symlink_to(elsewhere.path)
    (other / "outbox" / "artifacts" / "try-1" / "x" / "attempt-1" / "meta.json").write_text("{")
    source = TmrSource(desk.folder)
    index = source.index()
    data = b"".join(data for _, data in source.chunks())
    assert b"root:" not in data
    assert [len(row.attempts) for row in index.runs[0].tests] == [1, 2]
    detail = detail_of(source, row_of(source, "a"), 0)
    assert detail.conversation == ()
    assert detail.casts[0].problem
    assert not any("\x1b" in name for name in detail.files)


def test_an_earlier_attempt_of_an_agent_keeps_its_tab(repo: Path) -> None:
    desk = RunDesk(repo, "a")
    desk.attempt("a").mkdir(parents=True)
    (desk.attempt("a") / "prompt.md").write_text("first")
    desk.attempt("a", 2).mkdir()
    desk.note("launch", "failed", "a", "no slot")
    source = TmrSource(desk.folder)
    assert [one.label for one in row_of(source, "a").attempts] == ["agent, attempt 1", "agent, attempt 2"]
