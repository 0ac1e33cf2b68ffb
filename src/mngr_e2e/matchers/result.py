"""Expectations on how a command ended."""

from typing import Self

from mngr_e2e.matchers.failure import Expectation, describe_result, origin
from mngr_e2e.session.result import Result


class ResultExpectation(Expectation):
    """`expect(result)`: about the exit code; for what it printed use `expect(result.stdout)`."""

    def __init__(self, result: Result) -> None:
        self._result = result

    def to_succeed(self) -> Self:
        __tracebackhide__ = True
        return self._about_end(self._result.exit_code == 0, "the command to succeed")

    def to_fail(self) -> Self:
        """Any exit code but 0; a timeout is a failure too."""
        __tracebackhide__ = True
        return self._about_end(self._result.exit_code != 0, "the command to fail")

    def to_have_exit_code(self, code: int) -> Self:
        __tracebackhide__ = True
        found = "" if self._negated else f", found {self._result.exit_code}"
        return self._check(
            self._result.exit_code == code, f"exit code {code}{found}", describe_result(self._result)
        )

    def to_time_out(self) -> Self:
        __tracebackhide__ = True
        return self._about_end(self._result.timed_out, "the command to time out")

    def _about_end(self, holds: bool, expected: str) -> Self:
        __tracebackhide__ = True
        found = "a timeout" if self._result.timed_out else f"exit code {self._result.exit_code}"
        return self._check(holds, f"{expected}, found {found}", describe_result(self._result))

    def _origin(self) -> str:
        return origin(self._result)
