"""How fast a provider is asked: so many creations a second, and again after a pause where it says "later"."""

import random
import threading
import time
from collections.abc import Callable
from typing import TypeVar

from mngr.errors import CapacityError

T = TypeVar("T")

_PAUSES_S = (0.5, 1.5)
_LONGEST_PAUSE_S = 5.0


class Rate:
    """Lets callers through one by one, so many in a second; 0 lets all of them through."""

    def __init__(self, per_second: float) -> None:
        self._gap_s = 1 / per_second if per_second > 0 else 0.0
        self._next_at, self._lock = 0.0, threading.Lock()

    def wait(self) -> None:
        """Returns when it is this caller's turn."""
        with self._lock:
            now = time.monotonic()
            turn = max(now, self._next_at)
            self._next_at = turn + self._gap_s
        if turn > now:
            time.sleep(turn - now)


def with_back_off(work: Callable[[], T]) -> T:
    """What work returns; a refusal for lack of capacity is tried again after a short pause of varying length.

    The last refusal is raised: a caller that would wait longer can do other things meanwhile.
    """
    for pause_s in _PAUSES_S:
        try:
            return work()
        except CapacityError as error:
            if error.retry_after_s > _LONGEST_PAUSE_S:
                raise
            time.sleep(max(error.retry_after_s, pause_s * random.uniform(0.5, 1.5)))
    return work()
