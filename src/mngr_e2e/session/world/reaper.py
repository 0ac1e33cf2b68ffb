"""Ends what a test left running: every process that carries the test's mark in its environment."""

import os
import signal
import time

from mngr_lib.proc import process_ids, read_entry, read_stat

_GRACE_S = 2.0
_KILL_S = 3.0
_STEP_S = 0.02


def end_marked(marks: tuple[bytes, ...], grace_s: float = _GRACE_S) -> list[int]:
    """Asks the marked processes to end, then kills them; returns those that still run. Spares us and our parents."""
    _signal_all(find_marked(marks), signal.SIGTERM)
    deadline = time.monotonic() + grace_s
    while (left := find_marked(marks)) and time.monotonic() < deadline:
        time.sleep(_STEP_S)
    if left:
        _signal_all(left, signal.SIGKILL)
        deadline = time.monotonic() + _KILL_S
        while (left := find_marked(marks)) and time.monotonic() < deadline:
            _signal_all(left, signal.SIGKILL)
            time.sleep(_STEP_S)
    return left


def find_marked(marks: tuple[bytes, ...]) -> list[int]:
    """The living processes with one of the marks in their environment; none where there is no /proc."""
    spared, pid = set(), os.getpid()
    while pid > 1 and pid not in spared:
        spared.add(pid)
        stat = read_stat(pid)
        pid = stat.parent if stat else 0
    found = []
    for pid in process_ids():
        if pid not in spared:
            # A zombie's environment reads as empty, so the dead are never found.
            environment = read_entry(pid, "environ")
            if any(mark in environment for mark in marks):
                found.append(pid)
    return found


def _signal_all(pids: list[int], number: signal.Signals) -> None:
    for pid in pids:
        try:
            os.kill(pid, number)
            if number == signal.SIGTERM:
                os.kill(pid, signal.SIGCONT)
        except (ProcessLookupError, PermissionError):
            pass
