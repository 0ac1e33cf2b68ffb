"""Signals around a child: those held back while it is started, and the one that ends it with its group."""

import os
import signal
import subprocess
import threading
import time
from collections.abc import Callable
from types import FrameType

from mngr_lib.proc import has_proc, process_ids, read_stat

# How long the members of a killed group may take to be gone: they finish the system call that they are in.
_LAST_BREATH_S, _STEP_S = 2.0, 0.002


class HeldSignals:
    """Holds back Ctrl-C and TERM while a child is started: a signal in between would leave it running."""

    def __init__(self) -> None:
        self._before: dict[int, Callable[[int, FrameType | None], object]] = {}
        self._came: list[int] = []
        self._limit: int | None = None

    def __enter__(self) -> "HeldSignals":
        if threading.current_thread() is threading.main_thread():
            for number in (signal.SIGINT, signal.SIGTERM):
                handler = signal.getsignal(number)
                if callable(handler):
                    self._before[number] = handler
                    signal.signal(number, self._hold)
        return self

    def hold_one(self) -> None:
        """Goes on holding back the first; a second takes effect at once."""
        self._limit = 1
        if len(self._came) > 1:
            self.release()

    def release(self) -> None:
        """Gives the signals back their meaning, and what came meanwhile its effect. Twice is safe."""
        before, self._before = self._before, {}
        came, self._came = self._came, []
        for number, handler in before.items():
            signal.signal(number, handler)
        for number in came:
            before[number](number, None)

    def _hold(self, number: int, _: FrameType | None) -> None:
        self._came.append(number)
        if self._limit is not None and len(self._came) > self._limit:
            self.release()

    def __exit__(self, *_: object) -> None:
        self.release()


def end_group(child: "subprocess.Popen[bytes]") -> None:
    """Kills a child with its group, and returns when none of them can touch a file any more."""
    _signal(child.pid, signal.SIGKILL)
    child.wait()
    deadline = time.monotonic() + _LAST_BREATH_S
    while _signal(child.pid, 0) and time.monotonic() < deadline:
        # A member may be left as a zombie by its parent for a while: it touches nothing.
        stats = map(read_stat, process_ids()) if has_proc() else ()
        if has_proc() and not any(stat and stat.group == child.pid and not stat.is_dead for stat in stats):
            return
        time.sleep(_STEP_S)


def _signal(group: int, number: int) -> bool:
    """Whether there was a process to signal."""
    try:
        os.killpg(group, number)
    except (ProcessLookupError, PermissionError):
        return False
    return True
