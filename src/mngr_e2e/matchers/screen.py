"""Expectations on what a terminal shows; on a terminal they retry, on one screen they look once."""

import re
from typing import Self

from mngr_e2e.matchers.failure import Expectation
from mngr_e2e.session.terminal import Screen, Terminal


class TerminalExpectation(Expectation):
    """`expect(terminal)`: waits until it holds."""

    def __init__(self, terminal: Terminal) -> None:
        self._terminal = terminal

    def to_show(self, expected: "str | re.Pattern[str]", timeout_s: float = 30) -> Self:
        """A text, or a compiled pattern. `not_.to_show` waits until it is gone."""
        __tracebackhide__ = True
        words = f"see {'no ' if self._negated else ''}{_name(expected)}"
        shown = self._terminal.watch(words, lambda screen: screen.shows(expected) != self._negated, timeout_s)
        return self._check(
            shown.shows(expected), f"the terminal to show {_name(expected)}", self._terminal.describe(shown)
        )

    def to_have_ended(self, exit_code: int | None = None, timeout_s: float = 30) -> Self:
        """The program on it is over, with this exit code if one is named."""
        __tracebackhide__ = True
        code = "" if exit_code is None else f" with exit code {exit_code}"

        def holds(screen: Screen) -> bool:
            return screen.ended and exit_code in (None, screen.exit_code)

        words = f"see that it has {'not ' if self._negated else ''}ended{code}"
        shown = self._terminal.watch(words, lambda screen: holds(screen) != self._negated, timeout_s)
        return self._check(holds(shown), f"the program to have ended{code}", self._terminal.describe(shown))


class ScreenExpectation(Expectation):
    """`expect(terminal.screen())`: one moment."""

    def __init__(self, screen: Screen) -> None:
        self._screen = screen

    def to_show(self, expected: "str | re.Pattern[str]") -> Self:
        __tracebackhide__ = True
        return self._check(
            self._screen.shows(expected), f"the screen to show {_name(expected)}", self._screen.text
        )


def _name(expected: "str | re.Pattern[str]") -> str:
    return repr(expected if isinstance(expected, str) else expected.pattern)
