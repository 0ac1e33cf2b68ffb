"""Causes: failures that look alike are one, those that do not are not."""

from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.tmr.report.desk import blocked, commit, measured, node, record, result, seen

from mngr_tmr.failures.fingerprint import fingerprint, normal
from mngr_tmr.model.integration import Fix, Integration
from mngr_tmr.model.measured import MeasuredOutcomes
from mngr_tmr.model.record import TaskRecord
from mngr_tmr.model.result import Outcome
from mngr_tmr.model.verdict import Verdict
from mngr_tmr.report.data.causes import FailureCause, count_failures, count_fixed, find_causes
from mngr_tmr.report.data.rows import make_rows
from mngr_tmr.report.out.terminal import cause_line

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


def causes_of(*records: TaskRecord) -> tuple[FailureCause, ...]:
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


def test_a_cause_outside_of_the_code_is_named_with_what_speaks_for_it() -> None:
    full = "tests/test_a.py:3: in test_a\nE   OSError: [Errno 28] No space left on device: '/tmp/x'\n"
    disk, code = causes_of(failing("a", full), failing("b", full), failing("x", "E   KeyError: 'price'"))
    assert disk.likely
    assert (disk.likely.kind, disk.likely.evidence) == ("infrastructure", '"No space left on device"')
    assert cause_line(disk).endswith(", likely infrastructure")
    assert code.likely is None
    assert "likely" not in cause_line(code)


@pytest.mark.accept("J4")
def test_launches_that_fail_for_one_reason_are_one_cause_whatever_the_agents_are_called() -> None:
    def lost(name: str) -> TaskRecord:
        agent = f"tmr-r1-{name}"
        message = f'setup of "{agent}" failed with exit code 1: no index (try it by hand: pip install -e .)'
        about = {"stage": "launch", "message": message}
        return record(name, None, end="failed", before=None, after=None, **about)

    (cause,) = causes_of(*map(lost, ("one", "other", "third")))
    assert len(cause.tests) == 3
    assert cause.title.startswith('setup of "AGENT" failed')


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
    assert causes[0].title == (
        "ExpectationError: expected the command to succeed, got exit code 1: error: 3 tills are shut"
    )


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


def branch(*rows: MeasuredOutcomes, fixes: Sequence[Fix] = ()) -> Integration:
    return Integration("b", "tmr/r1/integrated", "t", fixes=tuple(fixes), measured=rows)


def fix(rank: int, *names: str) -> Fix:
    """A fix that these tests need."""
    needed = tuple(map(node, names))
    return Fix(f"{rank}" * 40, rank, "Fix it", "", 3, (), (), needed_by=needed)


def broken(name: str, text: str, after: Verdict = "failed") -> TaskRecord:
    """A test that fails at the base, and its agent's honest answer."""
    outcome: Outcome = "fixed" if after == "passed" else "failed"
    said = result(name, outcome, passed_before=False, passed_after=after == "passed")
    return record(name, said, commit(1), before=seen(name, "failed", text=text), after=after)


@pytest.mark.accept("M20")
def test_fixed_is_what_failed_at_the_base_and_passes_on_the_branch_whoever_did_it() -> None:
    records = [broken(name, fixture_failure(name, n)) for n, name in enumerate("abc")]
    rows = [measured(name, "failed", "failed" if name == "c" else "passed", "failed") for name in "abc"]
    (cause,) = find_causes(make_rows(records, branch(*rows)))
    assert cause.is_open
    assert (len(cause.tests), len(cause.fixed)) == (3, 2)
    rows[2] = measured("c", "failed", "passed")
    (cause,) = find_causes(make_rows(records, branch(*rows)))
    assert not cause.is_open
    assert count_fixed([cause]) == 3


@pytest.mark.accept("M20")
def test_what_passes_at_an_agents_commit_and_not_on_the_branch_is_not_fixed() -> None:
    one = broken("a", "E   X", after="passed")
    (cause,) = causes_of(one)
    assert cause.is_open, "there is no branch yet"
    (cause,) = find_causes(make_rows([one], branch(measured("a", "failed", "failed", "passed"))))
    assert cause.is_open


def text_of(name: str) -> str:
    return f"E   {name.upper()}Error: it has words of its own"


@pytest.mark.accept("J4", "R9", "M20")
def test_what_needs_one_fix_had_one_cause_whatever_it_looked_like() -> None:
    records = [broken(name, text_of(name), after="passed") for name in "abc"]
    rows = [measured(name, "failed", "passed") for name in "abc"]
    causes = find_causes(make_rows(records, branch(*rows, fixes=(fix(1, "a", "c"), fix(2, "b")))))
    assert [[test.rpartition("_")[2] for test in cause.tests] for cause in causes] == [["a", "c"], ["b"]]
    assert [len(cause.fixed) for cause in causes] == [2, 1]
    assert causes[0].title == "AError: it has words of its own"
    assert causes[0].others == ("CError: it has words of its own",)
    assert causes[0].exception == ""
    assert [cause.fix[0] for cause in causes] == ["1", "2"]


@pytest.mark.accept("M20")
def test_tests_that_look_alike_and_need_different_fixes_are_different_causes() -> None:
    """Two bugs show as the same message; a third test looks like them and is not fixed at all."""
    records = [broken(name, fixture_failure(name, n)) for n, name in enumerate("abcd")]
    rows = [measured(name, "failed", "failed" if name == "d" else "passed") for name in "abcd"]
    causes = find_causes(make_rows(records, branch(*rows, fixes=(fix(1, "a", "b"), fix(2, "c")))))
    found = [(sorted(test[-1] for test in cause.tests), cause.is_open) for cause in causes]
    assert found == [(["d"], True), (["a", "b"], False), (["c"], False)]
    assert len({cause.id for cause in causes}) == 3


@pytest.mark.accept("M20")
def test_no_test_is_in_two_causes() -> None:
    """An agent was lost, one broke its test in another way, one is blocked: each is one failure."""
    at_base = seen("a", "failed", text="E   OSError: no route")
    lost = record("a", None, end="failed", stage="watch", message="gone", before=at_base, after=None)
    other = seen("b", "failed", text="E   KeyError: other words")
    worse = record("b", result("b", "failed"), commit(1), before=at_base, after=other)
    stuck = record("c", blocked("c"), before=at_base, after=at_base)
    causes = causes_of(lost, worse, stuck)
    assert count_failures(causes) == 3
    assert sum(len(cause.tests) for cause in causes) == 3 >= len(causes)


@pytest.mark.accept("M20")
def test_a_test_that_only_fails_on_the_branch_has_a_cause() -> None:
    rows = (measured("a", "passed", "failed", why="it broke"),)
    (cause,) = find_causes(make_rows([record("a", result("a"))], branch(*rows)))
    assert (cause.stage, cause.title, cause.is_open) == ("on the branch", "it broke", True)


@pytest.mark.accept("M20")
def test_exit_codes_tell_causes_apart_and_are_shown() -> None:
    texts = {name: _COMMAND.format(complaint="error: no") for name in "abc"}
    texts["b"] = texts["b"].replace("exit code: 1", "exit code: 2")
    causes = causes_of(*(failing(name, text) for name, text in texts.items()))
    assert {cause.title: len(cause.tests) for cause in causes} == {
        "ExpectationError: expected the command to succeed, got exit code 1: error: no": 2,
        "ExpectationError: expected the command to succeed, got exit code 2: error: no": 1,
    }


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
        ("non-zero exit status 12 after 3 s", "non-zero exit status 12 after N s"),
        ("exit code: -9 at line 40", "exit code: -9 at line N"),
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
