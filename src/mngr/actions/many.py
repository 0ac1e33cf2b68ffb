"""Many at once: a bounded number of threads, results in the order of finishing."""

import queue
import threading
from collections.abc import Callable, Iterable, Iterator
from typing import TypeVar

from mngr.errors import MngrError

T = TypeVar("T")
R = TypeVar("R")


def run_many(items: Iterable[T], work: Callable[[T], R], jobs: int) -> Iterator[tuple[T, R | MngrError]]:
    """Yields each item with its result or error as it finishes. Closing the iterator starts nothing more.

    Items are taken from the iterable only as workers get free, so that an endless pipe is fine.
    """
    done: queue.SimpleQueue[tuple[T, R | BaseException]] = queue.SimpleQueue()
    waiting, running, exhausted = iter(items), 0, False

    def start(item: T) -> None:
        def body() -> None:
            try:
                done.put((item, work(item)))
            except BaseException as error:
                done.put((item, error))

        threading.Thread(target=body, daemon=True).start()

    try:
        while True:
            while not exhausted and running < max(1, jobs):
                try:
                    start(next(waiting))
                    running += 1
                except StopIteration:
                    exhausted = True
            if not running:
                return
            item, outcome = done.get()
            running -= 1
            if isinstance(outcome, BaseException) and not isinstance(outcome, MngrError):
                raise outcome
            yield item, outcome
    finally:
        # Ctrl-C or an error: what runs is let finish, so that nothing is left half made.
        for _ in range(running):
            done.get()
