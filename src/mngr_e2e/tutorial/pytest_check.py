"""`pytest --tutorial FILE`: the check as part of a test session, made once whatever xdist does."""

import os
from typing import Any

import pytest

from mngr_e2e.tutorial.check import Report, check
from mngr_e2e.tutorial.text import report


class TutorialCheck:
    """Checks when the tests are over; a red check fails a session that would have passed."""

    def __init__(self, config: pytest.Config) -> None:
        self._tutorial = str(config.getoption("--tutorial"))
        chosen = config.getoption("--tutorial-tests")
        self._tests = chosen or [argument.partition("::")[0] for argument in config.args]
        self._report: Report | None = None
        for path in (self._tutorial, *self._tests):
            if not os.path.exists(path):
                raise pytest.UsageError(f"--tutorial: no such file or folder: {path}")

    def pytest_sessionfinish(self, session: pytest.Session) -> None:
        self._report = check(self._tutorial, self._tests)
        harmless = (pytest.ExitCode.OK, pytest.ExitCode.NO_TESTS_COLLECTED)
        if not self._report.is_green and session.exitstatus in harmless:
            session.exitstatus = pytest.ExitCode.TESTS_FAILED

    def pytest_terminal_summary(self, terminalreporter: Any) -> None:
        if self._report is not None:
            terminalreporter.section("tutorial")
            terminalreporter.write_line(report(self._report, self._report.is_green))
