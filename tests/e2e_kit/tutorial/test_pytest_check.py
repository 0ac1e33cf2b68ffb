"""`pytest --tutorial` fails a session whose tests do not keep up with the tutorial."""

import pytest

CITING = 'def test_a(e2e):\n    e2e.write_tutorial_block("""\n    true\n    """)\n    e2e.run("true")\n'


@pytest.fixture
def project(pytester: pytest.Pytester) -> pytest.Pytester:
    pytester.makepyfile(test_a=CITING)
    pytester.makefile(".sh", tutorial="#!/bin/sh\n\ntrue\n")
    return pytester


@pytest.mark.accept("Y5")
def test_a_green_check_lets_the_session_pass(project: pytest.Pytester) -> None:
    done = project.runpytest_subprocess("--tutorial", "tutorial.sh")
    assert done.ret == 0
    done.stdout.fnmatch_lines(["ok: 1 of 1 command blocks cited by 1 tests"])


@pytest.mark.accept("Y5", "Y11")
@pytest.mark.parametrize("words", [(), ("--collect-only",), ("-n", "1"), ("-k", "nothing")])
def test_a_red_check_fails_it_even_when_no_test_runs(
    project: pytest.Pytester, words: tuple[str, ...]
) -> None:
    project.makefile(".sh", tutorial="#!/bin/sh\n\ntrue\n\nfalse || true\n")
    done = project.runpytest_subprocess("--tutorial", "tutorial.sh", *words)
    assert done.ret == pytest.ExitCode.TESTS_FAILED
    assert done.stdout.str().count("tutorial.sh:5: no test cites this block") == 1


def test_a_selection_is_checked_against_the_tests_that_were_named(project: pytest.Pytester) -> None:
    project.makepyfile(test_b="def test_b(): pass")
    assert project.runpytest_subprocess("test_b.py", "--tutorial", "tutorial.sh").ret == 1
    done = project.runpytest_subprocess(
        "test_b.py::test_b", "--tutorial", "tutorial.sh", "--tutorial-tests", "."
    )
    assert done.ret == 0


def test_a_missing_tutorial_is_a_usage_error(project: pytest.Pytester) -> None:
    done = project.runpytest_subprocess("--tutorial", "nope.sh")
    assert done.ret == pytest.ExitCode.USAGE_ERROR
    done.stderr.fnmatch_lines(["*no such file or folder: nope.sh*"])
