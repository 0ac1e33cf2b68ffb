"""Ends the recorders of a test."""

import os
import shutil
import signal
import time
from collections.abc import Callable

from mngr_e2e.recorder.cast import repair
from mngr_e2e.recorder.ledger import processes_of, recorders_dir

_TICK_S = 0.02


def stop_recorders(artifacts: str | os.PathLike[str], *, timeout_s: float = 10.0) -> list[int]:
    """Ends every recorder of this artifacts directory, so that its casts are whole files; twice is safe.

    Returns those that had to be killed at the deadline. What recorders kept for themselves is removed.
    """
    folder = recorders_dir(os.fspath(artifacts))
    if not os.path.isdir(folder):
        return []
    recorders = [int(name) for name in os.listdir(folder) if name.isdecimal()]
    for recorder in recorders:
        if recorder in processes_of(folder, recorder):
            _signal(os.kill, recorder, signal.SIGTERM)
    deadline = time.monotonic() + timeout_s
    while any(processes_of(folder, recorder) for recorder in recorders) and time.monotonic() < deadline:
        time.sleep(_TICK_S)
    killed = []
    for recorder in recorders:
        left = processes_of(folder, recorder)
        for pid in left:
            _signal(os.killpg, pid, signal.SIGKILL)
        while any(pid in processes_of(folder, recorder) for pid in left):
            time.sleep(_TICK_S)
        if left:
            killed.append(recorder)
    for entry in os.scandir(os.path.dirname(folder)):
        if killed and entry.name.endswith(".cast"):
            repair(entry.path)
    shutil.rmtree(folder, ignore_errors=True)
    return killed


def _signal(send: Callable[[int, int], None], pid: int, number: int) -> None:
    try:
        send(pid, number)
    except ProcessLookupError:
        pass
