"""Reports of folders as runs leave them: whole, half, damaged."""

import os
from pathlib import Path

import pytest
from tests.support.needs import needs
from tests.tmr.report.desk import T0, RunDesk, blocked, node, result, task, with_repository
from tests.view.desk import chunks_of

import mngr
from mngr.process import wait_until
from mngr.testing.waiting import PATIENCE_S
from mngr_tmr.engine.journal import Journal
from mngr_tmr.engine.state import RunState
from mngr_tmr.model.entry import Entry
from mngr_tmr.model.integration import Account, Fix, Integration
from mngr_tmr.report.data.read_run import RunReader, read_run
from mngr_tmr.report.out.page.page import make_run
from mngr_tmr.report.report import write_report
from mngr_tmr.report.reporter import Reporter
from mngr_tmr.run_folder.folder import RunFolder
from mngr_tmr.run_folder.liveness import is_alive
from mngr_view.template import TEMPLATE


@pytest.fixture
def repo(tmp_path: Path) -> Path:
    needs("the built page (make web)", "test", "-f", TEMPLATE)
    return with_repository(tmp_path)


@pytest.mark.accept("J1", "J2", "J5")
def test_a_finished_run_is_told_in_every_file(repo: Path) -> None:
    desk = RunDesk(repo, "clean", "blocked", "lost")
    desk.measured(clean="passed", blocked="failed", lost="passed")
    desk.ended("clean")
    desk.ended("blocked", blocked("blocked"))
    desk.failed("lost", message="the agent ended without a result: exit code 1")
    reported = write_report(desk.folder, env={})
    assert reported.exit_code == 3
    assert reported.page == str(desk.path / "report.html")
    assert any("no network" in line for line in reported.lines)
    summary = desk.summary()
    assert (summary["collected"], summary["state"]) == (3, "finished")
    assert {row["test"]: row["section"] for row in summary["rows"]} == {
        node("clean"): "clean",
        node("blocked"): "blocked",
        node("lost"): "infrastructure",
    }
    index = chunks_of((desk.path / "report.html").read_bytes())["index"]
    assert [row["id"] for row in index["runs"][0]["tests"]] == [row["test"] for row in summary["rows"]]
    assert (desk.path / "junit.xml").stat().st_size


@pytest.mark.accept("J2", "J3")
def test_a_run_that_has_only_begun_has_a_row_for_every_test(repo: Path) -> None:
    desk = RunDesk(repo, "a", "b", "c")
    assert write_report(desk.folder, env={}).exit_code == 1
    assert desk.summary()["counts"] == {"queued": 3}
    desk.launched("a")
    desk.ended("b")
    write_report(desk.folder, env={})
    assert desk.summary()["counts"] == {"unverified": 1, "running": 1, "queued": 1}
    assert desk.summary()["state"] == "interrupted"


@pytest.mark.accept("J5")
@pytest.mark.parametrize(
    ("file", "said"),
    [
        ("base.json", "base.json cannot be read"),
        ("integration.json", "integration.json cannot be read"),
        ("journal.jsonl", "journal.jsonl: 1 damaged line left out"),
        ("tasks/{a}/attempt-1/pulled.json", "its files cannot be read"),
        ("tasks/{a}/attempt-1/verified.json", "its files cannot be read"),
    ],
)
def test_a_damaged_file_is_said_and_costs_no_other_row(repo: Path, file: str, said: str) -> None:
    desk = RunDesk(repo, "a", "b")
    desk.measured(a="passed", b="passed")
    desk.ended("a")
    desk.ended("b")
    path = desk.path / file.format(a=task("a").slug)
    with path.open("ab") as out:
        out.write(b'\x00{"half\n')
    reported = write_report(desk.folder, env={})
    assert any(said in line for line in reported.lines), reported.lines
    rows = {row["test"]: row["section"] for row in desk.summary()["rows"]}
    assert set(rows) == {node("a"), node("b")}
    assert rows[node("b")] in ("clean", "unverified")


@pytest.mark.accept("J5", "Q7")
def test_a_journal_that_speaks_of_unknown_tasks_is_still_reported(repo: Path) -> None:
    desk = RunDesk(repo, "a")
    desk.note("launch", "done", "stranger")
    desk.note("run", "noted", message="resumed", knobs={"slots": "many"})
    desk.ended("a")
    reported = write_report(desk.folder, env={})
    assert any("2 entries make no sense" in line for line in reported.lines)
    assert desk.summary()["counts"] == {"unverified": 1}


@pytest.mark.accept("J5")
def test_half_a_line_at_the_end_of_the_journal_is_no_problem(repo: Path) -> None:
    desk = RunDesk(repo, "a")
    desk.launched("a")
    with open(desk.folder.journal, "ab") as file:
        file.write(b'{"at": 1')
    assert read_run(desk.folder).problems == ()


@pytest.mark.accept("O1", "M11")
def test_what_an_attempt_used_counts_when_the_task_was_tried_again(repo: Path) -> None:
    desk = RunDesk(repo, "a", "b")
    desk.failed("a")
    desk.ended("b")
    desk.note("run", "noted", message="resumed", again=[task("a").slug])
    for name, number, cost, model in (("a", 1, 0.07, "old"), ("a", 2, 0.5, "new"), ("b", 1, 0.04, "new")):
        used = {"cost_usd": cost, "input_tokens": 1000, "models": [model]}
        desk.folder.writer.write_json(desk.folder.file(task(name).slug, number, "usage.json"), used)
    reported = write_report(desk.folder, env={})
    rows = {row["test"]: row["usage"] for row in desk.summary()["rows"]}
    assert rows[node("a")] == {
        "cost_usd": pytest.approx(0.57),
        "input_tokens": 2000,
        "models": ["new", "old"],
    }
    assert desk.summary()["usage"] == {
        "cost_usd": pytest.approx(0.61),
        "input_tokens": 3000,
        "models": ["new", "old"],
    }
    assert "agents used $0.61, 3,000 tokens, all attempts together" in reported.lines
    page = make_run(reported.model, {}, "r1")
    assert ("cost", "$0.61") in [(fact.label, fact.value) for fact in page.facts]
    (row,) = (test for test in page.tests if test.id == node("a"))
    assert row.work is not None
    assert ("cost", "$0.57") in [(fact.label, fact.value) for fact in row.work.facts]


@pytest.mark.accept("M12")
def test_a_result_that_cannot_be_read_is_shown_as_it_came(repo: Path) -> None:
    desk = RunDesk(repo, "a", "b", "c", "d")
    desk.ended("a", b"{half")
    desk.ended("b", b'{"test": "x", "outcome": "splendid"}')
    desk.ended("c")
    link = desk.attempt("c") / "outbox" / "result.json"
    link.unlink()
    link.symlink_to("/etc/passwd")
    desk.ended("d", result("other"))
    write_report(desk.folder, env={})
    rows = {row["test"]: row for row in desk.summary()["rows"]}
    assert {row["section"] for row in rows.values()} == {"malformed"}
    assert rows[node("a")]["raw"] == "{half"
    assert "splendid" in rows[node("b")]["raw"]
    assert rows[node("c")]["problem"] == "the result is a link, not a file"
    assert rows[node("d")]["problem"] == f"it is about {node('other')!r}"
    assert "root:" not in (desk.path / "summary.json").read_text()


@pytest.mark.accept("R13")
def test_a_branch_is_on_the_page_with_every_commit(repo: Path) -> None:
    desk = RunDesk(repo, "a", "b")
    tip = desk.git("commit-tree", "HEAD^{tree}", "-p", "HEAD", "-m", "mend the till").strip()
    desk.measured(a="failed", b="passed")
    desk.ended("a", result("a", "fixed", passed_before=False), tip)
    desk.verified("a", commit=tip)
    desk.ended("b")
    slug = task("a").slug
    fix = Fix(tip, 1, "mend the till", "1 test needs it", 3, (slug,), ("src/till.py",))
    account = Account(slug, "separate", into=tip)
    desk.integrated(Integration(desk.base, "tmr/r1/integrated", tip, fixes=(fix,), accounts=(account,)))
    reported = write_report(desk.folder, env={})
    assert reported.exit_code == 8
    row = next(row for row in desk.summary()["rows"] if row["test"] == node("a"))
    assert row["merged_as"] == [{"commit": tip, "kind": "separate", "rank": 1, "title": "mend the till"}]
    chunks = chunks_of((desk.path / "report.html").read_bytes())
    (commit,) = chunks["index"]["runs"][0]["commits"]
    assert (commit["id"], commit["tests"]) == (tip, [node("a")])
    assert set(chunks[commit["chunk"]]) == {"text", "note"}


def test_a_repository_that_is_gone_costs_no_report(repo: Path, tmp_path: Path) -> None:
    desk = RunDesk(repo, "a", out=str(tmp_path / "runs"), tutorial="tutorial.sh")
    desk.ended("a", commit="c" * 40)
    desk.integrated(Integration(desk.base, "tmr/r1/integrated", "c" * 40, squashed="c" * 40))
    os.rename(repo, tmp_path / "elsewhere")
    reported = write_report(desk.folder, env={})
    assert desk.summary()["collected"] == 1
    assert reported.page


def test_a_run_without_its_run_json_is_an_error_that_names_it(tmp_path: Path) -> None:
    (tmp_path / "run.json").write_text("{}")
    with pytest.raises(mngr.MngrError, match=r"run\.json cannot be read"):
        write_report(RunFolder(str(tmp_path)), env={})


@pytest.mark.accept("J3")
def test_a_run_is_alive_while_someone_holds_its_journal(repo: Path) -> None:
    desk = RunDesk(repo, "a")
    assert not is_alive(desk.folder)
    journal = Journal(desk.folder.journal)
    assert is_alive(desk.folder)
    assert read_run(desk.folder).is_alive
    journal.close()
    assert not is_alive(desk.folder)


@pytest.mark.accept("J3")
def test_the_report_follows_a_run_without_anyone_asking(repo: Path) -> None:
    desk = RunDesk(repo, "a", "b")
    heard: list[tuple[Entry, ...]] = []
    state, entry = RunState(desk.spec), Entry(T0, "run", "noted")
    with Reporter(desk.folder, observe=lambda _, entries: heard.append(entries), every_s=0.05) as reporter:
        desk.launched("a")
        reporter(state, (entry,))
        assert wait_until(lambda: counts(desk) == {"running": 1, "queued": 1}, PATIENCE_S)
        desk.ended("b")
        reporter(state, ())
        assert wait_until(lambda: counts(desk) == {"unverified": 1, "running": 1}, PATIENCE_S)
        assert wait_until((desk.path / "report.html").exists, PATIENCE_S)
    assert heard == [(entry,), ()]


def test_records_of_tasks_that_did_not_change_are_read_once(repo: Path) -> None:
    desk = RunDesk(repo, "a", "b")
    desk.ended("a")
    reader = RunReader(desk.folder)
    first = reader.read()
    desk.launched("b")
    second = reader.read()
    assert second.records[0] is first.records[0]
    assert second.records[1].end == "running"
    (desk.attempt("a") / "outbox" / "result.json").write_bytes(b"{")
    assert reader.read().records[0].claim != first.records[0].claim


def counts(desk: RunDesk) -> object:
    try:
        return desk.summary()["counts"]
    except OSError:
        return None


def test_the_step_summary_is_written_where_github_wants_it(repo: Path, tmp_path: Path) -> None:
    desk = RunDesk(repo, "a")
    write_report(desk.folder, env={"GITHUB_STEP_SUMMARY": str(tmp_path / "step.md")})
    assert (tmp_path / "step.md").read_text().startswith("## mngr tmr `r1`")
