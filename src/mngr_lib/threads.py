"""Work in threads beside the caller. An error in a thread is never lost: it is raised where the result is asked for."""

import threading
from collections.abc import Callable, Sequence
from functools import partial
from typing import Generic, TypeVar

T = TypeVar("T")


class FutureTimeoutError(Exception):
    """The work takes longer than its caller waits; it goes on."""


class Future(Generic[T]):
    """Work that has begun in a thread of its own, which does not keep the program from ending."""

    def __init__(self, work: Callable[[], T], name: str = "") -> None:
        self._work = work
        self._outcome: T | BaseException | None = None
        self._thread = threading.Thread(target=self._run, name=name or None, daemon=True)
        self._thread.start()

    def result(self, timeout_s: float | None = None) -> T:
        """Waits for the work and returns its result or raises its error; FutureTimeoutError when it takes longer."""
        outcome = self.outcome(timeout_s)
        if isinstance(outcome, BaseException):
            raise outcome
        return outcome

    def outcome(self, timeout_s: float | None = None) -> T | BaseException:
        """The same, with the error returned instead of raised; FutureTimeoutError when it takes longer."""
        self._thread.join(timeout_s)
        if self._thread.is_alive():
            return FutureTimeoutError(f"no result within {timeout_s:g} s")
        return self._outcome  # type: ignore[return-value]  # the thread has ended and set it

    def _run(self) -> None:
        try:
            self._outcome = self._work()
        except BaseException as error:
            self._outcome = error


def run_all(jobs: Sequence[Callable[[], T]], at_once: int = 0) -> list[T]:
    """Runs the jobs at the same time, or `at_once` of them: results in their order.

    The first error is raised when all have ended.
    """
    if len(jobs) == 1:
        return [jobs[0]()]
    places = threading.Semaphore(at_once or len(jobs) or 1)

    def run(job: Callable[[], T]) -> T:
        try:
            return job()
        finally:
            places.release()

    futures = []
    for job in jobs:
        places.acquire()
        futures.append(Future(partial(run, job)))
    for future in futures:
        future.outcome()
    return [future.result() for future in futures]
