"""The end of a child with everything it started: its process group, which is its own session."""

import os
import signal
import subprocess
import time

from mngr_lib.proc import has_proc, process_ids, read_stat

# How long the members of a killed group may take to be gone: they finish the system call that they are in.
_LAST_BREATH_S, _STEP_S = 2.0, 0.002


def end_group(child: "subprocess.Popen[bytes]") -> None:
    """Kills a child with its group, and returns when none of them can touch a file any more."""
    _signal(child.pid, signal.SIGKILL)
    child.wait()
    deadline = time.monotonic() + _LAST_BREATH_S
    while _signal(child.pid, 0) and _is_busy(child.pid) and time.monotonic() < deadline:
        time.sleep(_STEP_S)


def _is_busy(group: int) -> bool:
    """Whether a member of the group is more than a zombie, which its parent may leave for a while."""
    if not has_proc():
        return True
    stats = map(read_stat, process_ids())
    return any(stat and stat.group == group and not stat.is_dead for stat in stats)


def _signal(group: int, number: int) -> bool:
    """Whether there was a process to signal."""
    try:
        os.killpg(group, number)
    except (ProcessLookupError, PermissionError):
        return False
    return True
