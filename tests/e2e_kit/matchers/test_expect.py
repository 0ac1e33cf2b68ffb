"""Each expectation passes, fails and turns round; a failure says what a reader needs."""

import re
from collections.abc import Callable
from pathlib import Path

import pytest

from mngr.testing.waiting import PATIENCE_S
from mngr_e2e import ExpectationError, Result, eventually, expect

GOOD = Result("mngr list", 0, "one\ntwo\nthree\n", "")
BAD = Result("mngr fly\n--now", 2, "half\n", "error: no such verb\n")
JSON = Result("mngr list --json", 0, '{"agents": [{"name": "a", "on": true}], "n": 1}', "")

HOLD: dict[str, tuple[Callable[[], object], Callable[[], object]]] = {
    "to_succeed": (lambda: expect(GOOD).to_succeed(), lambda: expect(GOOD).not_.to_succeed()),
    "to_fail": (lambda: expect(BAD).to_fail(), lambda: expect(BAD).not_.to_fail()),
    "exit_code": (
        lambda: expect(BAD).to_have_exit_code(2),
        lambda: expect(BAD).not_.to_have_exit_code(2),
    ),
    "contain": (
        lambda: expect(GOOD.stdout).to_contain("two"),
        lambda: expect(GOOD.stdout).not_.to_contain("two"),
    ),
    "match": (
        lambda: expect(GOOD.stdout).to_match(r"^t.o$"),
        lambda: expect(GOOD.stdout).not_.to_match(re.compile("t.o")),
    ),
    "equal": (lambda: expect("a").to_equal("a"), lambda: expect("a").not_.to_equal("a")),
    "empty": (lambda: expect(GOOD.stderr).to_be_empty(), lambda: expect(GOOD.stderr).not_.to_be_empty()),
    "lines": (
        lambda: expect(GOOD.stdout).to_contain_lines("one", "three"),
        lambda: expect(GOOD.stdout).not_.to_contain_lines("one", "three"),
    ),
    "json": (lambda: expect(JSON.stdout).to_be_json(), lambda: expect(JSON.stdout).not_.to_be_json()),
    "have": (
        lambda: expect(JSON.stdout).to_be_json().to_have("agents[0].name", "a"),
        lambda: expect(JSON.stdout).to_be_json().not_.to_have(("agents", 0, "name"), "a"),
    ),
    "have_any": (
        lambda: expect({"a": None}).to_have("a"),
        lambda: expect({"a": None}).not_.to_have("a"),
    ),
    "length": (lambda: expect([1, 2]).to_have_length(2), lambda: expect([1, 2]).not_.to_have_length(2)),
}


@pytest.mark.accept("F2", "F3", "F19")
@pytest.mark.parametrize("name", HOLD)
def test_what_holds_passes_and_its_negation_fails(name: str) -> None:
    holds, negated = HOLD[name]
    holds()
    with pytest.raises(ExpectationError, match="expected not "):
        negated()


FAIL: dict[str, tuple[Callable[[], object], Callable[[], object]]] = {
    "to_succeed": (lambda: expect(BAD).to_succeed(), lambda: expect(BAD).not_.to_succeed()),
    "to_fail": (lambda: expect(GOOD).to_fail(), lambda: expect(GOOD).not_.to_fail()),
    "exit_code": (
        lambda: expect(BAD).to_have_exit_code(1),
        lambda: expect(BAD).not_.to_have_exit_code(1),
    ),
    "contain": (lambda: expect("a").to_contain("b"), lambda: expect("a").not_.to_contain("b")),
    "match": (lambda: expect("ab").to_match("^b"), lambda: expect("ab").not_.to_match("^b")),
    "equal": (lambda: expect("a").to_equal("a\n"), lambda: expect("a").not_.to_equal("a\n")),
    "empty": (lambda: expect("\n").to_be_empty(), lambda: expect("\n").not_.to_be_empty()),
    "lines": (
        lambda: expect(GOOD.stdout).to_contain_lines("three", "one"),
        lambda: expect(GOOD.stdout).not_.to_contain_lines("three", "one"),
    ),
    "json": (lambda: expect("{").to_be_json(), lambda: expect("{").not_.to_be_json()),
    "have": (
        lambda: expect(JSON.stdout).to_be_json().to_have("agents.0.on", 1),
        lambda: expect(JSON.stdout).to_be_json().not_.to_have("agents.1.name"),
    ),
    "length": (lambda: expect([1]).to_have_length(2), lambda: expect([1]).not_.to_have_length(2)),
}


@pytest.mark.accept("F3", "F19")
@pytest.mark.parametrize("name", FAIL)
def test_what_does_not_hold_fails_and_its_negation_passes(name: str) -> None:
    fails, negated = FAIL[name]
    with pytest.raises(ExpectationError, match="expected "):
        fails()
    negated()


@pytest.mark.accept("F3", "F19")
def test_expectations_chain_and_not_turns_only_the_next_one(tmp_path: Path) -> None:
    expect(BAD).to_fail().to_have_exit_code(2).not_.to_succeed().to_fail()
    expect(GOOD.stdout).to_contain("one").not_.to_contain("four").to_match("^two$").to_contain_lines("three")
    expect({"a": [1]}).to_have("a").not_.to_have("b").to_have_length(1).to_equal({"a": [1]})
    expect(JSON.stdout).not_.to_be_empty().to_be_json().to_have("n", 1)
    expect(tmp_path).to_exist().to_be_directory().not_.to_be_file()
    with pytest.raises(ExpectationError, match="expected the text to contain 'four'"):
        expect(GOOD.stdout).not_.to_contain("five").to_contain("four")


@pytest.mark.accept("F4")
def test_the_summary_of_pytest_shows_the_reason(
    pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It showed a class path, and had no room for more."""
    monkeypatch.setenv("COLUMNS", "150")
    pytester.makepyfile(
        """
        from mngr_e2e import Result, expect

        def test_it():
            expect(Result("prog --now", 1, "", "")).to_have_exit_code(0)
        """
    )
    ran = pytester.runpytest_inprocess("-p", "no:cacheprovider", "-rf")
    ran.stdout.fnmatch_lines(
        ["FAILED *::test_it - ExpectationError: expected exit code 0, found 1: $ prog --now"]
    )


@pytest.mark.accept("F4")
def test_a_failure_shows_command_exit_code_and_both_streams() -> None:
    with pytest.raises(ExpectationError) as caught:
        expect(BAD).to_succeed()
    assert str(caught.value) == (
        "expected the command to succeed, found exit code 2: $ mngr fly …\n$ mngr fly\n> --now\nexit code: 2\n"
        "stdout:\n  half\nstderr:\n  error: no such verb"
    )


@pytest.mark.accept("F4", "F19")
@pytest.mark.parametrize("text", [BAD.stdout, BAD.stdout.strip(), BAD.stderr[:5]])
def test_a_failed_text_names_its_command(text: str) -> None:
    with pytest.raises(
        ExpectationError, match=r"'missing': \$ mngr fly …\n\$ mngr fly\n> --now\nexit code: 2\n"
    ):
        expect(text).to_contain("missing")


@pytest.mark.accept("F19")
def test_a_failed_json_expectation_names_its_command_and_what_is_there() -> None:
    with pytest.raises(ExpectationError, match=r"(?s)= 'b'; there is 'a': \$ mngr list --json\n\$ mngr"):
        expect(JSON.stdout).to_be_json().to_have("agents[0].name", "b")


def test_a_huge_output_is_cut_in_the_middle() -> None:
    result = Result("yes", 1, "start\n" + "y\n" * 100_000 + "end\n", "")
    with pytest.raises(ExpectationError) as caught:
        expect(result).to_succeed()
    assert len(str(caught.value)) < 20_000
    assert re.search(r"(?s)start.*characters left out.*end", str(caught.value))


@pytest.mark.accept("F3")
@pytest.mark.parametrize("subject", [None, 3, b"bytes", object()])
def test_what_expect_does_not_know_is_a_clear_error(subject: object) -> None:
    with pytest.raises(TypeError, match=rf"expect\(\) knows no {type(subject).__name__}: give it the result"):
        expect(subject)  # type: ignore[call-overload]


@pytest.mark.accept("F19")
def test_files(tmp_path: Path) -> None:
    file = tmp_path / "notes.txt"
    expect(file).not_.to_exist()
    with pytest.raises(ExpectationError, match=r"notes.txt to exist\n.* has: \(nothing\)"):
        expect(file).to_exist()
    with pytest.raises(ExpectationError, match="expected a file"):
        expect(file).not_.to_contain("x")
    file.write_text("hello")
    expect(file).to_be_file()
    expect(file).to_contain("hell")
    expect(file).not_.to_contain("heaven")
    expect(tmp_path).to_be_directory()
    expect(tmp_path).to_contain("notes.txt")
    with pytest.raises(ExpectationError, match=r"contain 'x'\ntext:\nhello"):
        expect(file).to_contain("x")


@pytest.mark.accept("F19")
def test_eventually_tries_until_it_holds() -> None:
    seen: list[int] = []

    def block() -> int:
        seen.append(1)
        expect("x" * len(seen)).to_equal("xxx")
        return len(seen)

    assert eventually(block, timeout_s=PATIENCE_S, every_s=0.01) == 3


@pytest.mark.accept("F19")
def test_eventually_raises_the_last_failure_at_the_deadline() -> None:
    with pytest.raises(ExpectationError, match="to contain 'y'") as caught:
        eventually(lambda: expect("x").to_contain("y"), timeout_s=0.05, every_s=0.01)
    assert "still so after 0.05 s" in caught.value.__notes__[0]
    with pytest.raises(ZeroDivisionError):
        eventually(lambda: 1 // 0)
