"""Causes: failures that look alike are one, those that do not are not."""

from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.tmr.report.desk import blocked, commit, record, result, seen

from mngr_tmr.model.integration import Account, Fix, Integration
from mngr_tmr.model.record import TaskRecord
from mngr_tmr.report.causes import Cause, count_failures, find_causes
from mngr_tmr.report.fingerprint import fingerprint, normal
from mngr_tmr.report.rows import make_rows

_FIXTURE = """
tests/e2e/test_shop.py:{line}: in test_{name}
    shop = open_shop()
tests/e2e/conftest.py:{inner}: in open_shop
    raise ConnectionRefusedError(port)
E   ConnectionRefusedError: [Errno 111] port {port} at /tmp/copy-{name}/run/socket after {seconds} s

tests/e2e/conftest.py:{inner}: ConnectionRefusedError
"""


def fixture_failure(name: str, number: int) -> str:
    return _FIXTURE.format(
        name=name, line=10 + number, inner=7, port=40_000 + number, seconds=f"{number}.{number}"
    )


def causes_of(*records: TaskRecord) -> tuple[Cause, ...]:
    return find_causes(make_rows(records))


def failing(name: str, text: str) -> TaskRecord:
    verdict = seen(name, "failed", text=text)
    return record(name, result(name, "failed", passed_after=False), before=verdict, after=verdict)


@pytest.mark.accept("J4")
def test_one_broken_fixture_is_one_cause_however_many_tests_trip_over_it() -> None:
    records = [failing(name, fixture_failure(name, number)) for number, name in enumerate("abcdefg")]
    records.append(failing("x", "E   KeyError: 'price'"))
    causes = causes_of(*records)
    assert [len(cause.tests) for cause in causes] == [7, 1]
    assert causes[0].exception == "ConnectionRefusedError"
    assert causes[0].frame == "e2e/conftest.py:open_shop"
    assert causes[0].title.startswith("ConnectionRefusedError: [Errno 111] port 40000")
    assert count_failures(causes) == 8


def test_the_same_message_in_different_tests_is_one_cause() -> None:
    text = (
        "tests/e2e/test_shop.py:{n}: in test_{name}\n"
        "E   AssertionError: expected exit code 0, got 1: ModuleNotFoundError: No module named 'shop'\n"
        "\ntests/e2e/test_shop.py:{n}: AssertionError\n"
    )
    causes = causes_of(*(failing(name, text.format(n=n, name=name)) for n, name in enumerate("abc")))
    assert [len(cause.tests) for cause in causes] == [3]


def test_bare_comparisons_of_different_tests_are_different_causes() -> None:
    text = (
        ">       assert total == 2\nE       assert {n} == 2\n\ntests/e2e/test_shop.py:{n}: AssertionError\n"
    )
    causes = causes_of(*(failing(name, text.format(n=n)) for n, name in enumerate("abc")))
    assert len(causes) == 3


def test_frames_of_installed_packages_do_not_count() -> None:
    inner = '  File "/venv/lib/python3.11/site-packages/http/client.py", line {n}, in connect\n'
    text = 'Traceback:\n  File "/copy/src/shop.py", line 3, in pay\n' + inner + "ValueError: bad"
    one, other = (fingerprint("test", text.format(n=n)) for n in (1, 2))
    assert one == other
    assert one.frame == "src/shop.py:pay"


_COMMAND = """
>       expect(shop.run("shop pay")).to_succeed()
E       mngr_e2e.matchers.failure.ExpectationError: expected the command to succeed
E       $ shop pay
E       exit code: 1
E       stderr:
E         {complaint}

tests/e2e/test_shop.py:30: ExpectationError
"""


def test_commands_that_complain_of_different_things_are_different_causes() -> None:
    words = {"a": "error: 3 tills are shut", "b": "error: 4 tills are shut", "c": "error: no such till"}
    causes = causes_of(*(failing(name, _COMMAND.format(complaint=said)) for name, said in words.items()))
    assert [len(cause.tests) for cause in causes] == [2, 1]
    assert causes[0].title == "ExpectationError: expected the command to succeed: error: 3 tills are shut"


def test_of_a_chain_of_exceptions_the_last_is_told() -> None:
    middle = "During handling of the above exception, another exception occurred:"
    text = f"E   KeyError: 'x'\n\n{middle}\n\nE   shop.ShutError"
    (cause,) = causes_of(failing("a", text))
    assert (cause.title, cause.exception) == ("ShutError", "ShutError")


@pytest.mark.accept("P4")
def test_infrastructure_messages_are_grouped_by_stage() -> None:
    lost = {"end": "failed", "before": None, "after": None}
    causes = causes_of(
        record("a", None, stage="launch", message="no space left on /dev/sda1", **lost),  # type: ignore[arg-type]
        record("b", None, stage="launch", message="no space left on /dev/sdb2", **lost),  # type: ignore[arg-type]
        record("c", None, stage="watch", message="timed out after 3600 s", **lost),  # type: ignore[arg-type]
        record("d", None, stage="watch", message="timed out after 1800 s", **lost),  # type: ignore[arg-type]
    )
    assert sorted((cause.stage, len(cause.tests)) for cause in causes) == [
        ("launch", 1),
        ("launch", 1),
        ("watch", 2),
    ]


@pytest.mark.accept("J1")
def test_agents_blocked_by_the_same_thing_are_one_cause() -> None:
    causes = causes_of(*(record(name, blocked(name, f"port {n} is taken")) for n, name in enumerate("abc")))
    assert [(cause.stage, len(cause.tests)) for cause in causes] == [("blocked: environment", 3)]


def test_a_cause_is_fixed_when_all_of_its_tests_are() -> None:
    before = [seen(name, "failed", text=fixture_failure(name, n)) for n, name in enumerate("abc")]
    mended = result("a", "fixed", passed_before=False)
    records = [
        record(name, mended, commit(n + 1), before=verdict, after="passed")
        for n, (name, verdict) in enumerate(zip("ab", before, strict=False))
    ]
    (cause,) = causes_of(*records)
    assert not cause.is_open
    (cause,) = causes_of(*records, record("c", result("c", "failed"), before=before[2], after=before[2]))
    assert cause.is_open
    assert (len(cause.tests), len(cause.fixed)) == (3, 2)


def mended(names: str, fixes: Sequence[Fix]) -> tuple[Cause, ...]:
    """The causes of tests whose failures look nothing alike, each mended by the fix of the same place."""
    records = [
        record(
            name,
            result(name, "fixed", passed_before=False),
            commit(number + 1),
            before=seen(name, "failed", f"E   {name.upper()}Error: it has words of its own"),
            after="passed",
        )
        for number, name in enumerate(names)
    ]
    accounts = [
        Account(one.task.slug, "merged_into", into=fix.commit)
        for one, fix in zip(records, fixes, strict=True)
    ]
    integration = Integration(
        "b", "tmr/r1/integrated", "t", fixes=tuple(set(fixes)), accounts=tuple(accounts)
    )
    return find_causes(make_rows(records, integration))


@pytest.mark.accept("J4", "R9")
def test_what_one_fix_mended_had_one_cause_whatever_it_looked_like() -> None:
    shelf, till = (Fix(f"{rank}" * 40, rank, "Mend it", "", 3, (), ()) for rank in (1, 2))
    causes = mended("abc", (shelf, till, shelf))
    assert [[test.rpartition("_")[2] for test in cause.tests] for cause in causes] == [["a", "c"], ["b"]]
    assert [len(cause.fixed) for cause in causes] == [2, 1]
    assert causes[0].title == "AError: it has words of its own"


def test_tests_and_docs_that_were_mended_in_one_commit_keep_their_causes() -> None:
    squashed = Fix("5" * 40, 0, "tests, docs: what 2 tasks changed", "", 1, (), ())
    assert [len(cause.tests) for cause in mended("ab", (squashed, squashed))] == [1, 1]


def test_work_that_was_left_out_of_the_branch_fixes_nothing() -> None:
    one = record(
        "a", result("a", "fixed", passed_before=False), commit(1), before=seen("a", "failed", "E   X")
    )
    left_out = Account(one.task.slug, "excluded", "set aside, conflict")
    integration = Integration("b", "tmr/r1/integrated", "b", accounts=(left_out,))
    (cause,) = find_causes(make_rows([one], integration))
    assert cause.is_open


def test_of_a_blocked_agent_its_reason_counts_and_not_the_failure_it_looked_into() -> None:
    failed = seen("a", "failed", "E   OSError: no route")
    (cause,) = causes_of(record("a", blocked("a"), before=failed, after=failed))
    assert cause.title == "no network"


@pytest.mark.parametrize(
    ("line", "told"),
    [
        ("took 3.25s, at 12:04:59", "took Ns, at N"),
        ("at 0x7f3a1c object 1b4e28ba-2fa1-11d2-883f-0016d3cca427", "at ID object ID"),
        ("no file /tmp/pytest-12/a/out.txt", "no file PATH/out.txt"),
        ("commit 3f2a91bc0d is bad", "commit ID is bad"),
    ],
)
def test_accidents_are_taken_out_of_messages(line: str, told: str) -> None:
    assert normal(line) == told


@pytest.mark.accept("Q5")
@given(st.text(max_size=300), st.text(max_size=40))
def test_any_text_has_a_fingerprint(text: str, file: str) -> None:
    assert fingerprint("test", text, file) == fingerprint("test", text, file)
    (cause,) = causes_of(failing("a", text or "x"))
    assert "\x1b" not in cause.title + cause.example
