"""What a gate says of a command of the project that failed: how it ended, not what was in the middle."""

import sys
from collections.abc import Sequence
from pathlib import Path

import pytest

import mngr
from mngr_tmr.integrate.gates.checks import command_check
from mngr_tmr.integrate.gates.runner import Collection, CommandRun
from mngr_tmr.model.verdict import TestRun

_SUITE = """
import pytest

@pytest.mark.parametrize("number", range(30))
def test_it(number):
    print("noise\\n" * 200)
    assert number not in (3, 7), "the till is short"
"""


class Folder:
    """Runs commands in one folder, whatever the commit."""

    def __init__(self, path: Path) -> None:
        self._path = path

    def collect(self, commit: str) -> Collection:
        raise NotImplementedError

    def run_tests(self, commit: str, node_ids: Sequence[str]) -> tuple[TestRun, ...]:
        raise NotImplementedError

    def run_command(self, commit: str, command: str) -> CommandRun:
        done = mngr.run_program(["sh", "-c", f"{command} 2>&1"], cwd=str(self._path), timeout_s=120)
        return CommandRun(done.code, done.text)


@pytest.mark.accept("R10")
def test_a_red_suite_is_told_by_its_last_line_and_its_short_summary(tmp_path: Path) -> None:
    (tmp_path / "test_till.py").write_text(_SUITE)
    check = command_check(
        Folder(tmp_path), "suite", f"{sys.executable} -m pytest -p no:cacheprovider test_till.py"
    )
    first, *failures = check.problem("HEAD").split("\n")
    assert first.startswith("exit code 1: 2 failed, 28 passed in ")
    # With CI set, pytest writes whole messages below the names.
    assert [line.partition(" - ")[0] for line in failures if not line.startswith("assert ")] == [
        "FAILED test_till.py::test_it[3]",
        "FAILED test_till.py::test_it[7]",
    ]


def test_another_command_is_told_by_its_last_lines(tmp_path: Path) -> None:
    check = command_check(Folder(tmp_path), "lint", "seq 1 500; exit 4")
    assert check.problem("HEAD") == "exit code 4: " + "\n".join(map(str, range(489, 501)))
