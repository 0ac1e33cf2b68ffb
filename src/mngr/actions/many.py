"""Many at once: a bounded number of threads, results in the order of finishing."""

import errno
import os
import queue
import threading
from collections.abc import Callable, Iterable, Iterator
from typing import Generic, TypeVar

from mngr.errors import MngrError
from mngr.process import descriptor_limit

T = TypeVar("T")
R = TypeVar("R")

# Pipes of a child and of a second one beside it, a lock, a file; and what is open anyway.
_FILES_A_JOB, _OWN_FILES = 16, 32


def run_many(items: Iterable[T], work: Callable[[T], R], jobs: int) -> Iterator[tuple[T, R | MngrError]]:
    """Yields each item with its result or error as it finishes. Closing the iterator starts nothing more.

    Items are taken from the iterable only as workers get free, by a thread of its own, so that results come out
    while a slow pipe is still being read. Fewer run at once where the limit of open files is too low for so many.
    An error that is none of ours is raised after the results of all that was begun.
    """
    crew = _Crew(work, max(1, min(jobs, (descriptor_limit() - _OWN_FILES) // _FILES_A_JOB)))
    threading.Thread(target=crew.feed, args=(items,), daemon=True).start()
    bug: BaseException | None = None
    try:
        while (news := crew.news.get()) is not None:
            if isinstance(news, BaseException):
                raise news
            item, outcome = news
            if isinstance(outcome, OSError):
                # What the operating system refused, as the result of one item.
                error = outcome
                where = f": {os.fsdecode(error.filename)}" if error.filename else ""
                is_few = error.errno in (errno.EMFILE, errno.ENFILE)
                outcome = MngrError(
                    f"{error.strerror or error}{where}", hint="raise it with ulimit -n" if is_few else ""
                )
            if isinstance(outcome, BaseException) and not isinstance(outcome, MngrError):
                bug = bug or outcome
                crew.finish()
            else:
                yield item, outcome
    finally:
        # Ctrl-C or an error: what runs is let finish, so that nothing is left half made.
        crew.close()
    if bug:
        raise bug


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

    def finish(self) -> None:
        """Starts nothing more; the news of what runs still come, and None after them, whatever is read meanwhile."""
        with self._change:
            self._is_closed = True
            self._change.notify_all()
            if not self._running:
                self.news.put(None)

    def close(self) -> None:
        """Starts nothing more and waits for what runs."""
        self.finish()
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
                if self._is_closed and not self._running:
                    self.news.put(None)

    def _wait_for_all(self) -> None:
        with self._change:
            self._change.wait_for(lambda: not self._running)
