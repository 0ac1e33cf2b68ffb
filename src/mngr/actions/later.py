"""Work beside us, asked for later."""

import threading
from collections.abc import Callable
from typing import TypeVar

R = TypeVar("R")


def later(work: Callable[[], R]) -> Callable[[], R]:
    """Starts the work beside us; calling what is returned waits for it, and gives its result or raises its error."""
    outcome: list[R | BaseException] = []

    def body() -> None:
        try:
            outcome.append(work())
        except BaseException as error:
            outcome.append(error)

    thread = threading.Thread(target=body, daemon=True)
    thread.start()

    def wait() -> R:
        thread.join()
        if isinstance(outcome[0], BaseException):
            raise outcome[0]
        return outcome[0]

    return wait
