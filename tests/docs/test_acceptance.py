"""`make acceptance`: which lines a run met, and which it did not because their tests failed, skipped or did not run."""

import shutil
import sys
import tomllib
from pathlib import Path

import pytest
from tests.docs.blocks import ROOT

from mngr import process
from mngr.process import Completed

LINES = """
[K]
title = "Primitives"
K1 = '''It starts | ends.'''
K2 = '''It waits.'''
K3 = '''It lists.'''
K4 = '''It is left out.'''
K5 = '''Nobody cites it.'''
K6 = '''It skips sometimes.'''
"""
TESTS = """
import pytest

pytestmark = pytest.mark.slow


@pytest.mark.accept("K1")
@pytest.mark.parametrize("n", [1, 2])
def test_it_starts(n):
    pass


@pytest.mark.accept("K2", "K1")
class TestWaiting:
    @pytest.mark.accept("K3")
    def test_it_lists(self):
        assert False

    def test_it_waits(self):
        pass


@pytest.mark.accept("K4")
def test_left_out():
    pass


@pytest.mark.accept("K6")
@pytest.mark.parametrize("n", [1, 2])
def test_sometimes(n):
    if n == 2:
        pytest.skip("no machine for it")
"""


class Suite:
    """A small suite with our own markers, its lines, and the tool."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        (folder / "tests").mkdir()
        shutil.copy(ROOT / "tests/conftest.py", folder / "tests")
        (folder / "tests/test_it.py").write_text(TESTS)
        (folder / "lines.toml").write_text(LINES)
        (folder / "pytest.ini").write_text("[pytest]\nmarkers =\n  accept\n  slow\n")

    def test(self, *words: str) -> None:
        argv = [
            sys.executable,
            "-m",
            "pytest",
            "-q",
            "--junitxml=junit.xml",
            "-p",
            "no:cacheprovider",
            *words,
        ]
        process.run(argv, cwd=str(self.folder))

    def judge(self) -> Completed:
        argv = [sys.executable, str(ROOT / "tools/acceptance"), "junit.xml", "lines.toml", "tests", "out.md"]
        return process.run(argv, cwd=str(self.folder))

    def row(self, one: str) -> str:
        (line,) = (
            line for line in (self.folder / "out.md").read_text().splitlines() if line.startswith(f"| {one} ")
        )
        return line


@pytest.fixture
def suite(tmp_path: Path) -> Suite:
    return Suite(tmp_path)


@pytest.mark.accept("U5")
def test_a_line_is_met_only_if_all_its_tests_ran_and_passed(suite: Suite) -> None:
    suite.test("-k", "not left_out", "-n", "2")
    done = suite.judge()
    assert done.code == 1
    assert suite.row("K2").endswith("| not met, failure: tests.test_it.TestWaiting::test_it_lists |")
    assert suite.row("K3").endswith("| not met, failure: tests.test_it.TestWaiting::test_it_lists |")
    assert suite.row("K4").endswith("| not met, not run: tests.test_it::test_left_out |")
    assert suite.row("K5").endswith("| not met, no test ran |")
    assert "| not met, skipped: tests.test_it::test_sometimes[2] |" in suite.row("K6")
    assert "0 of 6 lines are met" in done.text
    (suite.folder / "tests/test_it.py").write_text(TESTS.replace("assert False", "pass"))
    suite.test()
    assert "4 of 6 lines are met" in suite.judge().text
    assert suite.row("K1").startswith("| K1 | It starts \\| ends. | `tests.test_it::test_it_starts`, ")
    assert suite.row("K1").endswith("| met |")


def test_what_the_bench_missed_is_not_met_whatever_its_tests_say(suite: Suite) -> None:
    suite.test("-k", "starts or waits")
    (suite.folder / "tests/test_it.py").write_text(TESTS.partition('@pytest.mark.accept("K2"')[0])
    (suite.folder / "bench").mkdir()
    missed = "not met, missed by the bench: `go` ≥ 10 x, found 9.1 x"
    for found, status in (("9.1 x | **missed**", missed), ("10.1 x | met", "met")):
        (suite.folder / "bench/RESULTS.md").write_text(f"| K1 | `go` ≥ 10 x | {found} |\n")
        suite.judge()
        assert suite.row("K1").endswith(f"| {status} |")


def test_a_citation_that_no_line_has_and_a_missing_run_are_errors(suite: Suite) -> None:
    assert b"make test" in suite.judge().stderr
    suite.test()
    (suite.folder / "lines.toml").write_text(LINES.replace("K6 =", "K7 ="))
    assert suite.judge().stderr == b"error: tests cite what lines.toml does not have: K6\n"


def test_every_id_that_our_tests_cite_has_a_line_and_every_line_stands_alone() -> None:
    lines = tomllib.loads((ROOT / "docs/acceptance-lines.toml").read_text())
    for name, section in lines.items():
        assert all(one == "title" or one[0] == name for one in section)
        assert all(text.endswith(".") or one == "title" for one, text in section.items()), section
    argv = [sys.executable, "-c", _CITED, str(ROOT / "tools/acceptance"), str(ROOT / "tests")]
    cited = set(process.run(argv).check("reading the markers").text.split())
    assert cited <= {one for section in lines.values() for one in section}
    assert {"U1", "U3", "U5", "U6", "Z3"} <= cited


_CITED = """
import importlib.machinery, importlib.util, sys, pathlib
loader = importlib.machinery.SourceFileLoader("acceptance", sys.argv[1])
tool = importlib.util.module_from_spec(importlib.util.spec_from_loader("acceptance", loader))
loader.exec_module(tool)
print(*{one for claim in tool.read_claims(pathlib.Path(sys.argv[2])) for one in claim.ids})
"""
