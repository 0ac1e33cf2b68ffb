"""The recorder for machines without asciinema: a command in a pseudo-terminal, written as asciicast v2."""

import fcntl
import os
import pty
import select
import shlex
import signal
import struct
import termios
import time
from collections.abc import Callable, Mapping, Sequence

from mngr_e2e.recorder.writer import CastWriter, title_of

# How long a command that was told to end may go on drawing.
_GRACE_S = 2.0
_CHUNK = 1 << 16


def record(
    argv: Sequence[str],
    path: str,
    size: tuple[int, int],
    env: Mapping[str, str],
    is_stopped: Callable[[], bool],
) -> int:
    """Records the command to its end, or until `is_stopped`; returns its exit code, 128+n for a signal.

    A file that cannot be written is an OSError, and the command is ended first.
    """
    with open(path, "wb") as file:
        writer = CastWriter(file, size, title_of(path), shlex.join(argv))
        pid, terminal = _start(argv, size, env)
        try:
            _copy(terminal, writer, pid, is_stopped)
        finally:
            os.close(terminal)
            code = _end(pid)
        writer.end()
    return code


def _start(argv: Sequence[str], size: tuple[int, int], env: Mapping[str, str]) -> tuple[int, int]:
    pid, terminal = pty.fork()
    if pid:
        return pid, terminal
    try:
        fcntl.ioctl(0, termios.TIOCSWINSZ, struct.pack("HHHH", size[1], size[0], 0, 0))
        os.execvpe(argv[0], list(argv), dict(env))
    except OSError as error:
        os.write(2, f"{argv[0]}: {error.strerror}\r\n".encode(errors="replace"))
    finally:
        os._exit(127)


def _copy(terminal: int, writer: CastWriter, pid: int, is_stopped: Callable[[], bool]) -> None:
    leave_at = 0.0
    while not leave_at or time.monotonic() < leave_at:
        if not leave_at and is_stopped():
            os.kill(pid, signal.SIGTERM)
            leave_at = time.monotonic() + _GRACE_S
        if not select.select([terminal], [], [], 0.2)[0]:
            continue
        try:
            data = os.read(terminal, _CHUNK)
        except OSError:
            data = b""
        if not data:
            return
        writer.output(data)


def _end(pid: int) -> int:
    """Reaps the command, which has lost its terminal; one that goes on without it is killed."""
    deadline = time.monotonic() + _GRACE_S
    while time.monotonic() < deadline:
        found, status = os.waitpid(pid, os.WNOHANG)
        if found:
            break
        time.sleep(0.01)
    else:
        os.kill(pid, signal.SIGKILL)
        status = os.waitpid(pid, 0)[1]
    code = os.waitstatus_to_exitcode(status)
    return code if code >= 0 else 128 - code
