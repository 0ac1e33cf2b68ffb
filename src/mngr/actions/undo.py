"""Undo: every step says how to reverse itself, and a failure runs these in the opposite order."""

import signal
import threading
from collections.abc import Callable
from contextlib import AbstractContextManager, ExitStack, nullcontext
from types import TracebackType
from typing import TypeVar

from mngr.errors import MngrError

T = TypeVar("T")


class Undo:
    """`with Undo() as undo: … undo.push("worktree x", remove) … undo.keep()`.

    Leaving without `keep`, by any exception, Ctrl-C included, runs the steps in reverse. What cannot be undone is
    named in a note on the error that is on its way.
    """

    def __init__(self) -> None:
        self._steps: list[tuple[str, Callable[[], object]]] = []
        self._held = ExitStack()
        self.is_kept = False
        """Whether what was made stays, whatever happens now."""

    def __enter__(self) -> "Undo":
        return self

    def push(self, what: str, step: Callable[[], object]) -> None:
        self._steps.append((what, step))

    def hold(self, context: AbstractContextManager[T]) -> T:
        """Enters a context; it ends with `keep`, or after the steps were undone."""
        return self._held.enter_context(context)

    def keep(self) -> None:
        """What was made stays; leaving undoes nothing of it."""
        self._steps.clear()
        self.is_kept = True
        self._held.close()

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, _: TracebackType | None
    ) -> None:
        left: list[str] = []
        with self._held, _SignalsIgnored() if self._steps else nullcontext():
            while self._steps:
                what, step = self._steps.pop()
                try:
                    step()
                except (MngrError, OSError):
                    left.append(what)
        if left and isinstance(error, MngrError):
            error.hint = f"{error.hint + '; ' if error.hint else ''}left behind: {', '.join(left)} (mngr gc removes it)"


class _SignalsIgnored:
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
