"""Undo: every step says how to take itself back, and a failure walks them in reverse."""

import signal
import threading
from collections.abc import Callable
from types import TracebackType

from mngr.errors import MngrError


class Undo:
    """`with Undo() as undo: … undo.push("worktree x", remove) … undo.keep()`.

    Leaving without `keep`, by any exception, Ctrl-C included, runs the steps in reverse. What cannot be undone is
    named in a note on the error that is on its way.
    """

    def __init__(self) -> None:
        self._steps: list[tuple[str, Callable[[], object]]] = []

    def __enter__(self) -> "Undo":
        return self

    def push(self, what: str, step: Callable[[], object]) -> None:
        self._steps.append((what, step))

    def keep(self) -> None:
        self._steps.clear()

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, _: TracebackType | None
    ) -> None:
        if not self._steps:
            return
        with _Undisturbed():
            left = [what for what, step in reversed(self._steps) if not _done(step)]
        self._steps.clear()
        if left and isinstance(error, MngrError):
            error.hint = f"{error.hint + '; ' if error.hint else ''}left behind: {', '.join(left)} (mngr gc removes it)"


def _done(step: Callable[[], object]) -> bool:
    try:
        step()
    except (MngrError, OSError):
        return False
    return True


class _Undisturbed:
    """Holds back Ctrl-C and TERM while we clean up; only the main thread gets them."""

    def __enter__(self) -> None:
        self._is_main = threading.current_thread() is threading.main_thread()
        if self._is_main:
            self._before = [
                (number, signal.signal(number, signal.SIG_IGN)) for number in (signal.SIGINT, signal.SIGTERM)
            ]

    def __exit__(self, *_: object) -> None:
        if self._is_main:
            for number, handler in self._before:
                signal.signal(number, handler)
