"""The end of a child with everything it started: its process group, which is its own session."""

import os
import signal
import subprocess
import time

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
    """Whether a member of the group is more than a zombie, which nobody may come to bury for a while."""
    try:
        pids = [name for name in os.listdir("/proc") if name.isdigit()]
    except OSError:
        return True
    return any(_state_in(group, pid) not in "ZX" for pid in pids)


def _state_in(group: int, pid: str) -> str:
    """The letter of a process of that group, X for any other."""
    try:
        with open(f"/proc/{pid}/stat", "rb") as file:
            state, _, its_group = file.read().rpartition(b")")[2].split()[:3]
    except OSError:
        return "X"
    return state.decode() if int(its_group) == group else "X"


def _signal(group: int, number: int) -> bool:
    """Whether anybody was there to be signalled."""
    try:
        os.killpg(group, number)
    except (ProcessLookupError, PermissionError):
        return False
    return True
