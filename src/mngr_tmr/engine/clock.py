"""The run's time: seconds since 1970 that never go backwards, whatever the machine's clock does."""

import time


class RunClock:
    """Starts at the machine's clock, or at the journal's last entry if that is later, and counts on from there."""

    def __init__(self, floor: float = 0.0) -> None:
        self._start = max(time.time(), floor)
        self._mono = time.monotonic()

    def now(self) -> float:
        return self._start + time.monotonic() - self._mono
