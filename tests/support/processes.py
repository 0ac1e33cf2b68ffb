"""Processes of this machine that have to do with a test, found cheaply: most tests ask when they end."""

import os
import subprocess


def mentioning(*marks: bytes) -> list[int]:
    """Other processes that have one of these in their environment or command line; each may be gone by now."""
    found = []
    for name in filter(str.isdigit, os.listdir("/proc")):
        try:
            known = _read(f"/proc/{name}/environ") + b"\0" + _read(f"/proc/{name}/cmdline")
        except OSError:
            continue
        if any(mark in known for mark in marks) and int(name) != os.getpid():
            found.append(int(name))
    return found


def start_detached(*argv: str) -> int:
    """Starts a process that outlives us, silent and in its own session; returns its pid."""
    null = subprocess.DEVNULL
    child = subprocess.Popen(argv, stdin=null, stdout=null, stderr=null, start_new_session=True)
    child.returncode = 0  # keeps Popen from warning that it still runs: that is the point
    return child.pid


def _read(path: str) -> bytes:
    with open(path, "rb", buffering=0) as file:
        return file.read()
