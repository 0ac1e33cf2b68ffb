"""Expectations on how a command ended."""

from mngr_e2e.matchers.failure import Expectation, describe_result
from mngr_e2e.session.result import Result


class ResultExpectation(Expectation):
    """`expect(result)`: about the exit code; for what it printed use `expect(result.stdout)`."""

    def __init__(self, result: Result) -> None:
        self._result = result

    def to_succeed(self) -> None:
        __tracebackhide__ = True
        self._check(self._result.exit_code == 0, "the command to succeed", describe_result(self._result))

    def to_fail(self) -> None:
        """Any exit code but 0; a timeout is a failure too."""
        __tracebackhide__ = True
        self._check(self._result.exit_code != 0, "the command to fail", describe_result(self._result))

    def to_have_exit_code(self, code: int) -> None:
        __tracebackhide__ = True
        self._check(self._result.exit_code == code, f"exit code {code}", describe_result(self._result))

    def to_time_out(self) -> None:
        __tracebackhide__ = True
        self._check(self._result.timed_out, "the command to time out", describe_result(self._result))
