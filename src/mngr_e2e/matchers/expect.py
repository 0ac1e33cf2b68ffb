"""`expect` chooses the expectation by what it is given; `eventually` tries a block of them again."""

import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar, overload

from mngr_e2e.matchers.failure import Expectation
from mngr_e2e.matchers.path import PathExpectation
from mngr_e2e.matchers.result import ResultExpectation
from mngr_e2e.matchers.screen import ScreenExpectation, TerminalExpectation
from mngr_e2e.matchers.text import TextExpectation
from mngr_e2e.matchers.value import ValueExpectation
from mngr_e2e.session.result import Result
from mngr_e2e.session.terminal import Screen, Terminal

T = TypeVar("T")

_KINDS: tuple[tuple[type | tuple[type, ...], Callable[[Any], Expectation]], ...] = (
    (Result, ResultExpectation),
    (str, TextExpectation),
    (Path, PathExpectation),
    (Terminal, TerminalExpectation),
    (Screen, ScreenExpectation),
    ((dict, list), ValueExpectation),
)


@overload
def expect(subject: Result) -> ResultExpectation: ...
@overload
def expect(subject: str) -> TextExpectation: ...
@overload
def expect(subject: Path) -> PathExpectation: ...
@overload
def expect(subject: Terminal) -> TerminalExpectation: ...
@overload
def expect(subject: Screen) -> ScreenExpectation: ...
@overload
def expect(subject: dict[str, Any] | list[Any]) -> ValueExpectation: ...
def expect(subject: object) -> Expectation:
    """Starts an expectation on a result, its text, a path, a terminal, a screen, or a JSON value."""
    for kind, make in _KINDS:
        if isinstance(subject, kind):
            return make(subject)
    raise TypeError(
        f"expect() knows no {type(subject).__name__}: give it the result of e2e.run, its stdout or stderr, a text, "
        "a Path, a terminal or its screen, or a dict or list; for anything else write assert"
    )


def eventually(block: Callable[[], T], timeout_s: float = 30, every_s: float = 0.1) -> T:
    """Runs a block of expectations until it passes; at the deadline its last failure is raised."""
    __tracebackhide__ = True
    deadline = time.monotonic() + timeout_s
    tries = 0
    while True:
        tries += 1
        try:
            return block()
        except AssertionError as error:
            left = deadline - time.monotonic()
            if left <= 0:
                error.add_note(f"(still so after {timeout_s:g} s, tried {tries} times)")
                raise
        time.sleep(min(every_s, max(0.0, left)))
