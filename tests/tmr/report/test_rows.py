"""Rows: one per collected test, each in the section where a reader looks for it."""

import pytest
from tests.tmr.report.desk import (
    BASE,
    blocked,
    change,
    commit,
    measured,
    node,
    record,
    result,
    seen,
)

from mngr_tmr.model.integration import Account, Fix, Integration, WeakenedAssertion
from mngr_tmr.model.record import TaskRecord
from mngr_tmr.model.result import Claim, read_claim
from mngr_tmr.model.verdict import Verified
from mngr_tmr.report.data.rows import ReportRow, make_rows
from mngr_tmr.report.data.sections import NAMES, SECTIONS

FIX, TEST = commit(1), commit(2, "test", "test")
FIXED = result("a", "fixed", passed_before=False, changes=(change("implementation", FIX.id),))
GAVE_UP = result("a", "failed", passed_before=False, passed_after=False)
IMPROVED = result("a", "improved", changes=(change("test", TEST.id),))

CASES: list[tuple[str, TaskRecord]] = [
    ("implementation", record("a", FIXED, FIX, before="failed")),
    ("other", record("a", IMPROVED, TEST)),
    ("clean", record("a", result("a"))),
    ("skipped", record("a", result("a", passed_after=None), before="skipped", after="skipped")),
    ("blocked", record("a", blocked("a"))),
    ("blocked", record("a", blocked("a"), FIX, after=None)),
    ("regressed", record("a", FIXED, FIX, before="passed", after="failed")),
    ("regressed", record("a", IMPROVED, TEST, before="passed", after="skipped")),
    ("disputed", record("a", FIXED, FIX, before="failed", after="failed")),
    ("disputed", record("a", result("a"), before="failed", after="failed")),
    ("disputed", record("a", FIXED, before="failed", after="failed")),
    ("disputed", record("a", result("a", "failed", passed_after=False), after="passed")),
    ("flaky", record("a", FIXED, FIX, before="failed", after="flaky")),
    ("flaky", record("a", result("a"), before="flaky", after="flaky")),
    ("failing", record("a", result("a", "failed", passed_after=False), before="failed", after="failed")),
    ("failing", record("a", result("a", "failed", passed_after=None), before=None, after=None)),
    ("unverified", record("a", result("a"), before=None, after=None)),
    ("unverified", record("a", FIXED, FIX, before="failed", after="cannot_tell")),
    ("unverified", record("a", result("a"), before="cannot_tell", after="cannot_tell")),
    ("malformed", record("a", read_claim(b'{"outcome": "great"}'))),
    ("malformed", record("a", Claim(result("a"), "it is about 'b'"))),
    ("malformed", record("a", None)),
    ("infrastructure", record("a", None, end="failed", stage="watch", message="the agent disappeared")),
    ("infrastructure", record("a", FIXED, FIX, end="failed", stage="verify", message="no answer")),
    ("infrastructure", record("a", FIXED, FIX, after="wrong_code")),
    ("running", record("a", None, end="running", after=None)),
    ("needs_you", record("a", None, end="running", after=None, asks="permission", question="May I?")),
    ("queued", record("a", None, end="queued", after=None)),
    ("not_run", record("a", None, end="not_run", after=None)),
]


@pytest.mark.accept("J1", "J4", "M12", "M15")
@pytest.mark.parametrize(("section", "record"), CASES)
def test_every_ending_has_its_section(section: str, record: TaskRecord) -> None:
    assert only(record).section == section


def test_every_section_is_reached_and_explained() -> None:
    reached = {section for section, _ in CASES} | {"set_aside", "added", "fixed_by_others"}
    assert reached == set(NAMES) == set(SECTIONS)


@pytest.mark.accept("M20", "J4")
@pytest.mark.parametrize(
    ("section", "one", "tip"),
    [
        ("fixed_by_others", record("a", GAVE_UP, before="failed", after="failed"), "passed"),
        ("failing", record("a", GAVE_UP, before="failed", after="failed"), "failed"),
        ("failing", record("a", result("a")), "failed"),
        ("failing", record("a", FIXED, FIX, before="failed"), "failed"),
        ("flaky", record("a", result("a")), "flaky"),
        ("blocked", record("a", blocked("a"), before="failed", after="failed"), "passed"),
        ("failing", record("a", GAVE_UP, before="failed", after="failed"), ""),
        ("failing", record("a", GAVE_UP, before="failed", after="error"), "cannot_tell"),
    ],
)
def test_a_section_never_says_of_a_test_what_is_untrue_on_the_branch(
    section: str, one: TaskRecord, tip: str
) -> None:
    base, after = (verified.verdict if verified else "" for verified in (one.before, one.after))
    integration = Integration(BASE, "b", "t", measured=(measured("a", base, tip, after, "why"),))
    (row,) = make_rows([one], integration)
    assert row.section == section
    assert (f"on the branch: {tip}: why" in row.notes) == (tip not in ("", after))


@pytest.mark.accept("M19")
def test_what_was_not_run_says_why_launching_stopped() -> None:
    stopped = record("a", None, end="not_run", after=None, message="3 agents ended with the same error")
    assert only(stopped).why == "3 agents ended with the same error"


@pytest.mark.accept("J2")
def test_there_is_a_row_for_every_collected_test_whatever_became_of_it() -> None:
    records = [named(str(number), record) for number, (_, record) in enumerate(CASES)]
    rows = make_rows(records)
    assert len(rows) == len(CASES)
    assert {row.task.node_id for row in rows} == {record.task.node_id for record in records}


@pytest.mark.accept("M15")
def test_a_lie_is_told_with_both_sides_of_it() -> None:
    row = only(record("a", FIXED, FIX, before="failed", after=seen("a", "failed", "assert 1 == 2")))
    assert (row.claimed, row.verdict) == ("passed", "failed")
    assert row.why == "it says passed, the check says failed: assert 1 == 2"


@pytest.mark.accept("M17")
def test_code_that_is_not_the_copys_is_told_once() -> None:
    row = only(record("a", FIXED, FIX, after=seen("a", "wrong_code", "app comes from /usr/app")))
    assert row.why.startswith("wrong code under test: app comes from /usr/app; ")
    assert row.why.count("wrong code") == 1
    row = only(record("a", FIXED, FIX, after=seen("a", "cannot_tell", "the test started app (/usr/app)")))
    assert row.why == "cannot tell which code was tested: the test started app (/usr/app)"


@pytest.mark.accept("M15")
def test_a_wrong_word_about_the_beginning_is_a_note() -> None:
    row = only(record("a", FIXED, FIX, before="passed"))
    assert row.section == "implementation"
    assert "before its work: the agent says failed, the check says passed" in row.notes


@pytest.mark.accept("M6")
def test_a_commit_under_a_wrong_label_is_named() -> None:
    sneaky = commit(3, "implementation", claimed="test")
    row = only(record("a", FIXED, sneaky, before="failed"))
    assert row.notes == (f"{sneaky.id[:12]} is labelled test and touches implementation",)


@pytest.mark.accept("R8", "J2")
def test_rows_say_where_their_work_went_and_fixes_come_in_their_rank() -> None:
    first, second, squashed = commit(11), commit(12), "5" * 40
    records = [
        record("low", FIXED, FIX, before="failed"),
        record("tests", IMPROVED, TEST),
        record("top", FIXED, FIX, before="failed"),
        record("same", FIXED, FIX, before="failed"),
        record("lost", FIXED, FIX, before="failed"),
    ]
    slugs = {one.task.node_id: one.task.slug for one in records}
    low, tests, top, same, lost = slugs.values()
    integration = Integration(
        BASE,
        "tmr/r1/integrated",
        second.id,
        squashed=squashed,
        fixes=(
            Fix(first.id, 1, "the top fix", "3 tests", 5, (top, same), ("src/a.py",)),
            Fix(second.id, 2, "the low fix", "1 test", 2, (low,), ("src/b.py",)),
        ),
        accounts=(
            Account(low, "separate", into=second.id),
            Account(low, "excluded", "set aside, conflict"),
            Account(tests, "squashed", into=squashed),
            Account(top, "separate", into=first.id),
            Account(same, "merged_into", f"the fix of {top} holds it", into=first.id),
            Account(lost, "excluded", "dropped at the gate lint: unused import"),
        ),
    )
    rows = make_rows(records, integration)
    assert [row.task.slug for row in rows] == [top, same, low, tests, lost]
    assert [row.section for row in rows] == ["implementation"] * 3 + ["other", "set_aside"]
    assert [[one.commit for one in row.merged] for row in rows] == [
        [first.id],
        [first.id],
        [second.id],
        [squashed],
        [],
    ]
    assert rows[1].merged[0].kind == "merged_into"
    assert rows[2].notes == ("not merged: set aside, conflict",)
    assert rows[4].why == "dropped at the gate lint: unused import"


@pytest.mark.accept("R17")
def test_a_row_names_what_its_agent_made_easier_to_pass() -> None:
    one = record("a", IMPROVED, TEST)
    weak = WeakenedAssertion("removed", "tests/a.py", "test_a", "assert paid", tasks=(one.task.slug,))
    integration = Integration(BASE, "tmr/r1/integrated", BASE, weakenings=(weak,))
    rows = make_rows([one, record("b", result("b"))], integration)
    assert [row.notes for row in rows] == [("removed in tests/a.py::test_a: assert paid",), ()]


@pytest.mark.accept("R15")
def test_tests_that_agents_added_are_rows_beside_the_collected_ones() -> None:
    new, other = node("new"), node("other")
    integration = Integration(
        BASE,
        "tmr/r1/integrated",
        FIX.id,
        added_tests=(
            {"node_id": new, "task": "a-slug", "outcome": "passed", "cites": True},
            {"node_id": other, "task": "a-slug", "outcome": "flaky", "cites": False},
        ),
    )
    rows = make_rows([record("a", result("a"))], integration)
    assert [(row.task.node_id, row.section, row.why, row.outcome) for row in rows[1:]] == [
        (new, "added", "added by a-slug", "passed"),
        (other, "added", "added by a-slug", "flaky"),
    ]
    assert rows[2].notes == ("it cites no block of the tutorial",)


@pytest.mark.accept("R15")
def test_before_there_is_a_branch_added_tests_are_those_that_checks_saw() -> None:
    after = Verified(node("a"), TEST.id, "passed", added=(node("new"), node("b")))
    rows = make_rows([record("a", IMPROVED, TEST, after=after), record("b", result("b"))])
    assert [row.task.node_id for row in rows if row.section == "added"] == [node("new")]


def only(one: TaskRecord) -> ReportRow:
    (row,) = make_rows([one])
    return row


def named(name: str, one: TaskRecord) -> TaskRecord:
    return record(name, one.claim, *one.commits, before=one.before, after=one.after, end=one.end)
