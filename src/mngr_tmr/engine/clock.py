"""The run's time: seconds since 1970 that never go backwards, whatever the machine's clock does."""

import time
from collections.abc import Callable

_DAY_S = 86_400.0
Seconds = Callable[[], float]


def clock_time(at: float, now: float) -> str:
    """A time of day here, with its day if it is not within a day."""
    return time.strftime("%H:%M" if at - now < _DAY_S else "%Y-%m-%d %H:%M", time.localtime(at))


class RunClock:
    """Starts at the machine's clock, or at the journal's last entry if that is later, and counts on from there.

    Within one process it does not read the machine's clock again, so setting that changes nothing. The loop notices
    time that passed without it (see `Loop`). The simulation gives sources of its own.
    """

    def __init__(
        self, floor: float = 0.0, *, wall: Seconds = time.time, elapsed: Seconds = time.monotonic
    ) -> None:
        self._start, self._elapsed = max(wall(), floor), elapsed
        self._from = elapsed()

    def now(self) -> float:
        return self._start + self._elapsed() - self._from
