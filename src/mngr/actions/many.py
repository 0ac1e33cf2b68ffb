"""Many at once: a bounded number of threads, results in the order of finishing."""

import queue
import threading
from collections.abc import Callable, Iterable, Iterator
from typing import Generic, TypeVar

from mngr.errors import MngrError

T = TypeVar("T")
R = TypeVar("R")


def run_many(items: Iterable[T], work: Callable[[T], R], jobs: int) -> Iterator[tuple[T, R | MngrError]]:
    """Yields each item with its result or error as it finishes. Closing the iterator starts nothing more.

    Items are taken from the iterable only as workers get free, by a thread of its own, so that results come out
    while a slow pipe is still being read.
    """
    crew = _Crew(work, max(1, jobs))
    threading.Thread(target=crew.feed, args=(items,), daemon=True).start()
    try:
        while True:
            said = crew.news.get()
            if said is None:
                return
            if isinstance(said, BaseException):
                raise said
            item, outcome = said
            if isinstance(outcome, BaseException) and not isinstance(outcome, MngrError):
                raise outcome
            yield item, outcome
    finally:
        # Ctrl-C or an error: what runs is let finish, so that nothing is left half made.
        crew.close()


class _Crew(Generic[T, R]):
    """A thread per item, so many at a time. At the end `news` holds None, or the error that taking items raised."""

    def __init__(self, work: Callable[[T], R], jobs: int) -> None:
        self.news: queue.SimpleQueue[tuple[T, R | BaseException] | BaseException | None] = queue.SimpleQueue()
        self._work, self._jobs = work, jobs
        self._running, self._is_closed = 0, False
        self._change = threading.Condition()

    def feed(self, items: Iterable[T]) -> None:
        try:
            waiting = iter(items)
            while self._start(next(waiting)):
                with self._change:
                    self._change.wait_for(lambda: self._is_closed or self._running < self._jobs)
        except StopIteration:
            self._wait_for_all()
            self.news.put(None)
        except BaseException as error:
            self._wait_for_all()
            self.news.put(error)

    def close(self) -> None:
        """Starts nothing more and waits for what runs."""
        with self._change:
            self._is_closed = True
            self._change.notify_all()
        self._wait_for_all()

    def _start(self, item: T) -> bool:
        with self._change:
            if not self._is_closed:
                threading.Thread(target=self._run, args=(item,), daemon=True).start()
                self._running += 1
            return not self._is_closed

    def _run(self, item: T) -> None:
        try:
            self.news.put((item, self._work(item)))
        except BaseException as error:
            self.news.put((item, error))
        finally:
            with self._change:
                self._running -= 1
                self._change.notify_all()

    def _wait_for_all(self) -> None:
        with self._change:
            self._change.wait_for(lambda: not self._running)
