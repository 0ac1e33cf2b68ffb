"""What a test asks less than before is named; what it asks more is nobody's business."""

from textwrap import indent

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mngr_tmr.integrate.evidence.weakenings import weakenings

pytestmark = pytest.mark.accept("R17")


def found(before: str, after: str, head: str = "def test_it():\n") -> list[str]:
    old, new = (f"{head}{indent(body, '    ')}\n" for body in (before, after))
    return [weakening.kind for weakening in weakenings("tests/test_it.py", old.encode(), new.encode())]


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("assert x == 5", "assert x"),
        ("assert x == 5", "assert x != 4"),
        ("assert x == 5", "assert x >= 1"),
        ("assert text == 'abc'", "assert 'a' in text"),
        ("assert len(x) == 3", "assert len(x) > 0"),
        ("assert x == 5", "assert x == 5 or y"),
        ("assert x is not None\nassert x == 5", "assert x is not None\nassert x"),
        ("assert x == 5", "try:\n    assert x == 5\nexcept Exception:\n    pass"),
        ("assert x == 5", "if x:\n    assert x == 5"),
        ("expect(r.stdout).to_equal('abc')", "expect(r.stdout).to_contain('a')"),
        ("expect(r).to_have_exit_code(2)", "expect(r).to_fail()"),
        ("self.assertEqual(x, 5)", "self.assertTrue(x)"),
        ("with pytest.raises(ValueError):\n    f()", "with pytest.raises(Exception):\n    f()"),
        ("with pytest.raises(ValueError, match='no'):\n    f()", "with pytest.raises(ValueError):\n    f()"),
        ("with pytest.raises(ValueError):\n    f()", "with pytest.raises((ValueError, KeyError)):\n    f()"),
    ],
)
def test_an_assertion_that_asks_less_is_weakened(before: str, after: str) -> None:
    assert found(before, after) == ["weakened"]
    assert found(after, before) == []


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("assert x == 5\nassert y", "assert x == 5"),
        ("assert x and y", "assert x"),
        ("expect(r).to_succeed()", "pass"),
        ("mock.assert_called_once()", "pass"),
        ("for x in xs:\n    assert x\n    assert y", "for x in xs:\n    assert x"),
    ],
)
def test_an_assertion_that_is_gone_is_removed(before: str, after: str) -> None:
    assert found(before, after) == ["removed"]
    assert found(after, before) == []


def test_other_words_for_the_same_demand_are_no_weakening() -> None:
    assert found("assert x == 5", "assert x == 6") == []
    assert found("assert x == 5", "if True:\n    pass\nassert x == 5") == []
    assert found("pass", "assert x == 5") == []


def test_a_result_that_gets_a_name_keeps_its_demands() -> None:
    before = "expect(e2e.run('x')).to_succeed()"
    assert (
        found(before, "done = e2e.run('x')\nexpect(done).to_succeed()\nexpect(done.stdout).to_equal('y')")
        == []
    )
    assert found("r = f()\nassert r == 1", "assert f() == 1") == []
    assert found("r = f()\nassert r == 1", "r = f()\nr = 1\nassert r == 1") == ["removed"]
    assert found(before, "done = e2e.run('x')") == ["removed"]


def test_skips_expected_failures_and_longer_deadlines_are_named() -> None:
    assert found("assert x", "pytest.skip('later')\nassert x") == ["skipped"]
    assert found("run('a', timeout=5)", "run('a', timeout=60)") == ["timeout_raised"]
    assert found("run('a', timeout=60)", "run('a', timeout=5)") == []
    plain, marked = "def test_a(): pass\n", "@pytest.mark.{}\ndef test_a(): pass\n"
    for mark, kind in (
        ("xfail(reason='x')", "xfailed"),
        ("skip", "skipped"),
        ("skipif(True, reason='')", "skipped"),
    ):
        assert kinds(plain, marked.format(mark)) == [kind]
    assert kinds(plain, "pytestmark = pytest.mark.skip\n" + plain) == ["skipped"]
    assert kinds(
        "class TestA:\n    def test_a(self): pass\n",
        "@pytest.mark.skip\nclass TestA:\n    def test_a(self): pass\n",
    ) == ["skipped"]
    assert kinds("TIMEOUT_S = 5\n" + plain, "TIMEOUT_S = 50\n" + plain) == ["timeout_raised"]
    assert kinds(marked.format("timeout(5)"), marked.format("timeout(50)")) == ["timeout_raised"]
    assert kinds(marked.format("parametrize('x', [1, 2])"), marked.format("parametrize('x', [1])")) == [
        "removed"
    ]


def test_a_deleted_test_is_named_and_a_deleted_helper_is_not() -> None:
    assert kinds("def test_a(): pass\ndef helper(): pass\n", "") == ["test_deleted"]


def test_a_new_test_may_not_be_born_skipped() -> None:
    assert kinds("", "@pytest.mark.skip\ndef test_a(): pass\n") == ["skipped"]


@given(st.text(), st.text())
def test_any_text_can_be_compared(before: str, after: str) -> None:
    weakenings("t.py", before.encode(errors="replace"), after.encode(errors="replace"))


def kinds(before: str, after: str) -> list[str]:
    return [found.kind for found in weakenings("t.py", before.encode(), after.encode())]
