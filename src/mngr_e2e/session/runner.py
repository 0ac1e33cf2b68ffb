"""Runs one command under a deadline that holds, whatever the command leaves behind."""

import os
import select
import signal
import subprocess
import time
from collections.abc import Callable, Mapping, Sequence
from typing import Literal, TypeAlias

from msgspec import Struct

StreamName: TypeAlias = Literal["stdout", "stderr"]

TIMED_OUT = 124
_CHUNK = 1 << 16
_PIPE_MAX = 1 << 20
# A grandchild may hold the pipe for ever: after the command's end we listen this much longer.
_DRAIN_S = 0.3
_REAP_S = 1.0
_NOT_FOUND, _NOT_RUNNABLE = 127, 126


class Job(Struct, frozen=True):
    """What to run and where. `stdin` is /dev/null when None."""

    argv: tuple[str, ...]
    env: Mapping[str, str]
    cwd: str
    timeout_s: float
    stdin: bytes | None = None


class Chunk(Struct, frozen=True):
    """Bytes as they arrived, `at` seconds after the start."""

    stream: StreamName
    at: float
    data: bytes


class JobEnd(Struct, frozen=True):
    """How a command ended: its exit code, 128+n after signal n, 124 at the deadline."""

    exit_code: int
    duration_s: float
    timed_out: bool = False


def run_job(job: Job, heard: Callable[[Chunk], None]) -> JobEnd:
    """Runs a job in a session of its own and hands over its output as it comes.

    At the deadline the whole process group is killed. Returns at most 0.3 s after the command's end or the deadline,
    even when a detached process still holds the pipes.
    """
    started = time.monotonic()
    try:
        child = subprocess.Popen(
            job.argv,
            stdin=subprocess.DEVNULL if job.stdin is None else subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env=dict(job.env),
            cwd=job.cwd,
            start_new_session=True,
            bufsize=0,
        )
    except OSError as error:
        problem = f"{error.filename or job.argv[0]}: {error.strerror}\n".encode()
        heard(Chunk("stderr", 0.0, problem))
        code = _NOT_FOUND if isinstance(error, FileNotFoundError) else _NOT_RUNNABLE
        return JobEnd(code, time.monotonic() - started)
    try:
        timed_out = _Listener(child, job, started, heard).listen()
        code = TIMED_OUT if timed_out or child.returncode is None else child.returncode
        return JobEnd(code if code >= 0 else 128 - code, time.monotonic() - started, timed_out)
    except BaseException:
        _kill_group(child)
        raise
    finally:
        for pipe in (child.stdin, child.stdout, child.stderr):
            try:
                if pipe:
                    pipe.close()
            except OSError:
                pass
        if child.returncode is None:
            _kill_group(child)
            child.wait(_REAP_S)


def ask(
    argv: Sequence[str], env: Mapping[str, str], timeout_s: float = 10.0, cwd: str = "/"
) -> tuple[int, str]:
    """Runs a command of the kit's own: its exit code and all it printed."""
    parts: list[bytes] = []
    ended = run_job(Job(tuple(argv), env, cwd, timeout_s), lambda chunk: parts.append(chunk.data))
    return ended.exit_code, b"".join(parts).decode(errors="replace")


class _Listener:
    """Feeds one child and hears both its streams, until it ended and they are dry, or time is up."""

    def __init__(
        self, child: "subprocess.Popen[bytes]", job: Job, started: float, heard: Callable[[Chunk], None]
    ) -> None:
        self._child, self._started, self._heard = child, started, heard
        self._deadline = started + job.timeout_s
        self._left = memoryview(job.stdin or b"")
        self._streams: dict[int, StreamName] = {}
        self._poller = select.poll()
        self._open: set[int] = set()
        for pipe, name in ((child.stdout, "stdout"), (child.stderr, "stderr"), (child.stdin, None)):
            if pipe is not None:
                self._watch(pipe.fileno(), name)  # type: ignore[arg-type]

    def _watch(self, fd: int, name: StreamName | None) -> None:
        os.set_blocking(fd, False)
        self._poller.register(fd, select.POLLOUT if name is None else select.POLLIN)
        self._open.add(fd)
        if name is not None:
            self._streams[fd] = name

    def listen(self) -> bool:
        """Sees the child to its end; True when it had to be killed at the deadline."""
        timed_out, leave_at = False, None
        while self._open or leave_at is None:
            now = time.monotonic()
            if leave_at is None and self._child.poll() is not None:
                leave_at = now + _DRAIN_S
            elif leave_at is None and now >= self._deadline:
                timed_out, leave_at = True, now + _DRAIN_S
                _kill_group(self._child)
            elif leave_at is not None and now >= leave_at:
                self._take_what_is_there()
                break
            self._turn(now, leave_at)
        self._wait_for_exit(_REAP_S)
        return timed_out

    def _turn(self, now: float, leave_at: float | None) -> None:
        """Waits for the next event, briefly enough to see the child's end and the deadline."""
        if not self._open:
            self._wait_for_exit(self._deadline - now)
            return
        wait_s = min(0.02, max(0.0, (leave_at or self._deadline) - now))
        for fd, _ in self._poller.poll(wait_s * 1000):
            if not (self._hear(fd) if fd in self._streams else self._feed(fd)):
                self._poller.unregister(fd)
                self._open.discard(fd)

    def _hear(self, fd: int) -> bool:
        try:
            data = os.read(fd, _CHUNK)
        except BlockingIOError:
            return True
        if data:
            self._heard(Chunk(self._streams[fd], time.monotonic() - self._started, data))
        return bool(data)

    def _feed(self, fd: int) -> bool:
        try:
            self._left = self._left[os.write(fd, self._left[:_CHUNK]) :] if self._left else self._left
        except BlockingIOError:
            return True
        except BrokenPipeError:
            self._left = memoryview(b"")
        if not self._left and self._child.stdin:
            self._child.stdin.close()
        return bool(self._left)

    def _wait_for_exit(self, left_s: float) -> None:
        try:
            self._child.wait(max(0.0, left_s))
        except subprocess.TimeoutExpired:
            pass

    def _take_what_is_there(self) -> None:
        """What the command itself wrote is in the pipes by now: take it, however slow we were."""
        for fd in self._open & self._streams.keys():
            for _ in range(_PIPE_MAX // _CHUNK):
                if not select.select([fd], [], [], 0)[0] or not self._hear(fd):
                    break


def _kill_group(child: "subprocess.Popen[bytes]") -> None:
    try:
        os.killpg(child.pid, signal.SIGKILL)
    except (ProcessLookupError, PermissionError):
        pass
