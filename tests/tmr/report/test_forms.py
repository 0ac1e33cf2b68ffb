"""The report in its forms: JSON, JUnit, markdown, lines; what agents wrote is shown in all and acts in none."""

import re
from pathlib import Path
from xml.etree import ElementTree as xml

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.tmr.report.desk import (
    BASE,
    BLOCKED,
    CLEAN,
    ESCALATING,
    FIXED,
    HOSTILE,
    LOST,
    MALFORMED,
    QUEUED,
    RunDesk,
    blocked,
    change,
    commit,
    contents_of,
    escalation,
    measured,
    node,
    record,
    result,
    seen,
    with_repository,
)

from mngr_tmr.model.integration import Account, Fix, Gate, Integration, WeakenedAssertion
from mngr_tmr.model.measured import BranchCounts, MeasuredOutcomes, Measurement
from mngr_tmr.model.record import Commit
from mngr_tmr.model.result import Claim
from mngr_tmr.report.data.report_model import ReportModel
from mngr_tmr.report.data.sections import NAMES
from mngr_tmr.report.out.junit import MARKS, junit, names_of
from mngr_tmr.report.out.markdown import append_step_summary, step_summary
from mngr_tmr.report.out.page.page import make_run
from mngr_tmr.report.out.summary import Summary, make_summary, summary_schema
from mngr_tmr.report.out.terminal import report_lines
from mngr_tmr.report.report import write_summary
from mngr_tmr.run_folder.folder import RunFolder
from mngr_view.records import LabeledFact

FOLDER = RunFolder("/repo/.mngr/tmr/r1")
ALL = (CLEAN, FIXED, BLOCKED, LOST, MALFORMED, QUEUED, ESCALATING)


def hostile() -> ReportModel:
    """A run in which every text that an agent can choose is meant to do harm."""
    claim = result(
        "evil",
        "failed",
        passed_after=False,
        summary=HOSTILE,
        changes=(change("test", HOSTILE, summary=HOSTILE),),
        escalations=(escalation(HOSTILE, HOSTILE, HOSTILE),),
    )
    own = Commit("e" * 40, HOSTILE, "test", "test", (f"a\udcff{HOSTILE}",))
    verdict = seen("evil", "failed", HOSTILE, f"E   {HOSTILE}")
    records = (
        record("evil", claim, own, before="passed", after=verdict),
        record("raw", Claim(None, f"not a result: {HOSTILE}", HOSTILE)),
        record("lost", None, end="failed", stage="watch", message=HOSTILE),
    )
    integration = Integration(
        BASE,
        "tmr/r1/integrated",
        BASE,
        fixes=(Fix(commit(9).id, 1, HOSTILE, HOSTILE, 3, ("x",), (HOSTILE,)),),
        accounts=(Account("x", "excluded", HOSTILE),),
        gates=(Gate("lint", False, HOSTILE),),
        weakenings=(WeakenedAssertion("removed", HOSTILE, HOSTILE),),
        measured=(
            MeasuredOutcomes(node("evil"), tip=Measurement("failed", HOSTILE)),
            MeasuredOutcomes(HOSTILE),
        ),
    )
    return contents_of(*records, integration=integration)


@pytest.mark.accept("J6")
def test_the_summary_is_the_record_that_its_schema_describes(tmp_path: Path) -> None:
    model = contents_of(*ALL)
    folder = RunFolder(str(tmp_path))
    write_summary(folder, model)
    read = msgspec.json.decode(Path(folder.summary).read_bytes(), type=Summary)
    assert read == make_summary(model, folder)
    assert (read.schema, read.collected, read.exit_code) == (1, len(ALL), 3)
    assert sum(read.counts.values()) == len(read.rows) == len(ALL)
    optional = Summary.__struct_fields__[-len(Summary.__struct_defaults__) :]
    assert {"branch", "usage", "problems", "took_s", "integration", "schema"} <= set(optional)
    assert summary_schema()["$defs"]["Summary"]["required"] == [
        name for name in Summary.__struct_fields__ if name not in optional
    ]


@pytest.mark.accept("J2", "M12", "M15")
def test_a_row_of_the_summary_has_all_that_a_reader_needs() -> None:
    rows = {row.test: row for row in make_summary(contents_of(*ALL), FOLDER).rows}
    fixed, malformed, lost = rows[node("fixed")], rows[node("malformed")], rows[node("lost")]
    assert (fixed.outcome, fixed.claimed, fixed.before, fixed.after) == (
        "fixed",
        "passed",
        "failed",
        "passed",
    )
    assert fixed.changes[0].kind == "implementation"
    assert (malformed.problem, malformed.raw) == ("not a result", "{")
    assert (lost.stage, lost.message) == ("watch", "gone")


@pytest.mark.accept("U6")
def test_junit_has_a_case_for_every_row_and_counts_that_agree() -> None:
    suite = suite_of(contents_of(*ALL))
    cases = suite.findall("testcase")
    assert len(cases) == len(ALL) == int(suite.get("tests", ""))
    for mark, count in (("failure", "failures"), ("error", "errors"), ("skipped", "skipped")):
        assert len(suite.findall(f"testcase/{mark}")) == int(suite.get(count, ""))
    marks = {case.get("name"): [child.tag for child in case if child.tag != "system-out"] for case in cases}
    assert marks == {
        "test_clean": [],
        "test_fixed": [],
        "test_escalating": [],
        "test_blocked": ["error"],
        "test_lost": ["error"],
        "test_malformed": ["error"],
        "test_queued": ["skipped"],
    }
    assert set(MARKS) == set(NAMES)


def with_branch() -> ReportModel:
    """Of three tests that failed before two pass on the branch; a fourth that was left out fails there as before."""
    left_out = record("left", result("left", "fixed", passed_before=False), commit(2), before="failed")
    lost = record("lost", None, end="failed", stage="watch", message="gone", before="failed", after=None)
    blocked_ = record("blocked", blocked("blocked"), before="failed", after="failed")
    rows = (
        measured("fixed", "failed", "passed", "passed"),
        measured("left", "failed", "failed", "passed", "E left"),
        measured("lost", "failed", "passed"),
        measured("blocked", "failed", "passed", "failed"),
        measured("clean", "passed", "passed", "passed"),
    )
    accounts = (Account(left_out.task.slug, "excluded", "conflict"),)
    gate = Gate("suite", False, "4 pass, 1 fails (it failed before)")
    integration = Integration(
        BASE, "tmr/r1/integrated", "t" * 40, gates=(gate,), accounts=accounts, measured=rows
    )
    return contents_of(FIXED, left_out, lost, blocked_, CLEAN, integration=integration)


@pytest.mark.accept("M20", "J6", "U6")
def test_every_form_says_of_the_branch_what_was_measured_there() -> None:
    model = with_branch()
    told = "on the branch: 4 pass, 1 fails (it failed before)"
    lines = report_lines(model, FOLDER, "")
    assert lines[:2] == (told, "4 failures (3 fixed), 1 cause:")
    assert "  gate suite failed: 4 pass, 1 fails (it failed before)" in lines
    branch = make_summary(model, FOLDER).branch
    assert branch is not None
    assert branch.headline == told
    assert branch.counts == BranchCounts(passed=4, failed=1, failed_before=1, fixed=3)
    assert f"**{told}**" in step_summary(model)
    assert "4 failures (3 fixed), 1 cause" in step_summary(model)
    cases = suite_of(model).findall("testcase")
    marks = {str(case.get("name"))[5:]: [child.tag for child in case] for case in cases}
    assert {name: tags[0] for name, tags in marks.items() if tags[0] != "system-out"} == {
        "left": "failure",
        "lost": "error",
        "blocked": "error",
    }
    run = make_run(model, {}, "r1")
    assert (run.headline, len(run.measured)) == (told, 5)
    assert {test.name[5:]: test.status for test in run.tests if test.status != "passed"} == {"left": "failed"}
    assert LabeledFact("gate suite", "4 pass, 1 fails (it failed before)", "bad") in run.facts
    assert "green" not in str(run.facts)


@pytest.mark.accept("U6")
@pytest.mark.parametrize(
    ("node_id", "names"),
    [
        ("tests/test_a.py::test_b", ("tests/test_a.py", "tests.test_a", "test_b")),
        ("tests/test_a.py::TestC::test_b", ("tests/test_a.py", "tests.test_a.TestC", "test_b")),
        ("t/test_a.py::test_b[x::y.py]", ("t/test_a.py", "t.test_a", "test_b[x::y.py]")),
        ("README.md", ("README.md", "README.md", "README.md")),
    ],
)
def test_junit_names_are_those_of_pytest(node_id: str, names: tuple[str, str, str]) -> None:
    assert names_of(node_id) == names


@pytest.mark.accept("U6", "Q5")
@given(st.text(max_size=200))
def test_junit_is_xml_whatever_an_agent_wrote(text: str) -> None:
    model = contents_of(
        record("a", result("a", summary=text)),
        record("b", Claim(None, text or "x", text)),
        record("c", None, end="failed", stage="watch", message=text),
    )
    suite = suite_of(model)
    assert len(suite.findall("testcase")) == 3


@pytest.mark.accept("Q5")
def test_hostile_text_leaves_no_control_character_in_any_form(tmp_path: Path) -> None:
    model = hostile()
    write_summary(RunFolder(str(tmp_path)), model)
    control = re.compile("[\x00-\x08\x0b-\x1f\x7f\u202e]")
    for text in (
        junit(model).decode(),
        step_summary(model),
        "\n".join(report_lines(model, FOLDER, "/repo/report.html")),
        (tmp_path / "summary.json").read_text(),
    ):
        assert "gnp.exe" in text
        assert not control.search(text.replace("\u202e", "") if text.startswith("{") else text)


@pytest.mark.accept("U6", "Q5")
def test_hostile_text_is_only_code_in_the_step_summary() -> None:
    outside = re.sub(r"(`+)(?!`).*?(?<!`)\1(?!`)", "", step_summary(hostile()))
    assert "script" not in outside
    assert "rm -rf" not in outside


@pytest.mark.accept("U6")
def test_the_step_summary_leads_with_causes_and_is_appended_where_github_says(tmp_path: Path) -> None:
    text = step_summary(contents_of(*ALL))
    assert text.index("4 failures, 4 causes") < text.index("### Blocked (1)")
    assert "| `tests/e2e/test_shop.py::test_blocked` |" in text
    target = tmp_path / "summary.md"
    target.write_text("before\n")
    append_step_summary(text, {"GITHUB_STEP_SUMMARY": str(target)})
    assert target.read_text() == f"before\n{text}"
    append_step_summary(text, {})


@pytest.mark.accept("U6")
def test_a_huge_step_summary_stays_below_what_github_takes() -> None:
    many = [
        record(f"x{n}", result(f"x{n}", escalations=(escalation("é" * 300 + str(n)),))) for n in range(60)
    ]
    assert len(step_summary(contents_of(*many)).encode()) < 1 << 20


def test_the_lines_lead_with_causes_and_end_with_what_to_do_next() -> None:
    lines = report_lines(contents_of(*ALL), FOLDER, "/repo/.mngr/tmr/r1/report.html")
    assert lines[0] == "4 failures, 4 causes:"
    assert "  blocked:" in lines
    assert f"    {node('lost')}: watch: gone" in lines
    assert "page: /repo/.mngr/tmr/r1/report.html" in lines
    assert lines[-3:] == (
        "next:",
        "  view          mngr tmr report r1 --serve",
        "  resume        mngr tmr resume r1",
    )


@pytest.mark.accept("R13")
def test_the_lines_show_the_branch_as_git_tells_it(tmp_path: Path) -> None:
    desk = RunDesk(with_repository(tmp_path), "a", out=str(tmp_path / "runs"))
    tip = desk.git("commit-tree", "HEAD^{tree}", "-p", "HEAD", "-m", "mend \x1b[31mthe till").strip()
    fix = Fix(tip, 1, "mend the till", "1 test", 3, ("a",), ("src/till.py",))
    integration = Integration(desk.base, "tmr/r1/integrated", tip, fixes=(fix,))
    model = contents_of(CLEAN, LOST, integration=integration)
    model = msgspec.structs.replace(model, now=msgspec.structs.replace(model.now, spec=desk.spec))
    lines = report_lines(model, desk.folder, "")
    at = lines.index("branch tmr/r1/integrated, 1 commit:")
    assert re.fullmatch(r"  [0-9a-f]{7,} mend \[31mthe till", lines[at + 1])
    assert f"  review        git log --reverse -p {desk.base[:12]}..tmr/r1/integrated" in lines
    assert f"  revert one    git switch tmr/r1/integrated && git revert {tip[:12]}" in lines
    assert lines[-1] == f"  resume        mngr tmr resume {desk.path} --retry"


def suite_of(model: ReportModel) -> xml.Element:
    root = xml.fromstring(junit(model))
    (suite,) = root
    return suite
