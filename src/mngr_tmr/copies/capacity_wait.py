"""Waiting for a provider that refuses for now, outside the tasks of a run: while it is collected or integrated."""

import random
import time
from collections.abc import Callable
from typing import TypeVar

import mngr

T = TypeVar("T")
Tell = Callable[[str], None]

_FIRST_S, _MOST_S = 2.0, 60.0
_LIMIT_S = 3600.0


def wait_for_capacity(make: Callable[[], T], tell: Tell, *, first_s: float = _FIRST_S) -> T:
    """What `make` gives. A refusal for now is reported once and tried again, after growing waits, for up to an hour."""
    started, wait_s, is_reported = time.monotonic(), first_s, False
    while True:
        try:
            return make()
        except mngr.CapacityError as error:
            if time.monotonic() - started >= _LIMIT_S:
                raise
            if not is_reported:
                tell(f"waiting for capacity: {error.message}")
                is_reported = True
            time.sleep(max(wait_s * random.uniform(0.75, 1.25), error.retry_after_s))
            wait_s = min(2 * wait_s, _MOST_S)
