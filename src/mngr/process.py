"""The only module that starts a process: argv lists, own session, closed stdin, always a deadline."""

import os
import select
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from typing import BinaryIO, NamedTuple, NoReturn, Protocol, TypeVar

from mngr.errors import MngrError, TimedOutError

T = TypeVar("T")

_CHUNK = 1 << 16
# A grandchild that keeps the pipe open must not keep us: read what is there, then leave.
_DRAIN_S = 0.25
# Set by git for its hooks and by tmux for its panes; inherited, they would point our children at the wrong place.
_STRAY = frozenset(
    "TMUX TMUX_PANE GIT_DIR GIT_WORK_TREE GIT_INDEX_FILE GIT_PREFIX GIT_COMMON_DIR GIT_OBJECT_DIRECTORY "
    "GIT_ALTERNATE_OBJECT_DIRECTORIES GIT_NAMESPACE GIT_QUARANTINE_PATH".split()
)


class Completed(NamedTuple):
    """How a command ended. `code` is negative for a signal, as in subprocess."""

    argv: tuple[str, ...]
    code: int
    stdout: bytes
    stderr: bytes

    @property
    def text(self) -> str:
        return self.stdout.decode(errors="replace")

    @property
    def complaint(self) -> str:
        """The last words on stderr, or on stdout where stderr is silent."""
        return (self.stderr.strip() or self.stdout.strip()).decode(errors="replace")

    def check(self, doing: str) -> "Completed":
        """Itself when it succeeded; otherwise an error that names what was being done."""
        if self.code != 0:
            raise CommandFailedError(doing, self)
        return self


class CommandFailedError(MngrError):
    """A command ran and failed; the machine it ran on is fine."""

    def __init__(self, doing: str, completed: Completed) -> None:
        said = completed.complaint or f"exit code {completed.code}"
        super().__init__(f"{doing}: {said}")
        self.completed = completed


class Stream(Protocol):
    """A running command with its pipes. `stdin` and `stdout` have real file descriptors."""

    stdin: BinaryIO
    stdout: BinaryIO
    stderr: BinaryIO

    def wait(self, timeout_s: float | None) -> int: ...
    def kill(self) -> None: ...


class LocalStream:
    """A child of ours, leader of its own session."""

    def __init__(self, child: "subprocess.Popen[bytes]") -> None:
        assert child.stdin and child.stdout and child.stderr
        self.stdin, self.stdout, self.stderr = child.stdin, child.stdout, child.stderr
        self._child = child

    def wait(self, timeout_s: float | None) -> int:
        try:
            return self._child.wait(timeout_s)
        except subprocess.TimeoutExpired:
            raise TimedOutError(f"{_first(self._child.args)} did not end within {timeout_s} s") from None

    def kill(self) -> None:
        _kill_group(self._child)
        self._child.wait()
        for pipe in (self.stdin, self.stdout, self.stderr):
            try:
                pipe.close()
            except OSError:
                pass


def child_env(extra: Mapping[str, str] | None = None) -> dict[str, str]:
    """Our environment for a child: without what git and tmux left in it, with `extra`."""
    env = {name: value for name, value in os.environ.items() if name not in _STRAY}
    env.update(extra or {})
    return env


def run(
    argv: Sequence[str],
    *,
    stdin: bytes = b"",
    timeout_s: float = 60,
    env: Mapping[str, str] | None = None,
    cwd: str | None = None,
) -> Completed:
    """Runs a command to its end and returns what it printed.

    Raises TimedOutError at the deadline, with its whole process group killed, and CommandFailedError (127) when
    there is no such program.
    """
    child = _spawn(argv, env, cwd)
    try:
        out, err = _talk(child, stdin, time.monotonic() + timeout_s)
    except BaseException as error:
        _kill_group(child)
        child.wait()
        if isinstance(error, _DeadlineError):
            raise TimedOutError(f"{' '.join(argv)[:200]} did not end within {timeout_s:g} s") from None
        raise
    finally:
        for pipe in (child.stdin, child.stdout, child.stderr):
            if pipe and not pipe.closed:
                try:
                    pipe.close()
                except OSError:
                    pass
    return Completed(tuple(argv), child.returncode, out, err)


def stream(argv: Sequence[str], *, env: Mapping[str, str] | None = None, cwd: str | None = None) -> LocalStream:
    """Starts a command and hands over its pipes; the caller waits for it or kills it."""
    return LocalStream(_spawn(argv, env, cwd))


def run_with_fds(
    argv: Sequence[str],
    *,
    pass_fds: tuple[int, ...],
    timeout_s: float,
    env: Mapping[str, str] | None = None,
    cwd: str | None = None,
) -> Completed:
    """Like `run`, with open descriptors handed to the child (git's `fd::` transport)."""
    child = _spawn(argv, env, cwd, pass_fds=pass_fds)
    try:
        out, err = _talk(child, b"", time.monotonic() + timeout_s)
    except BaseException as error:
        _kill_group(child)
        child.wait()
        if isinstance(error, _DeadlineError):
            raise TimedOutError(f"{argv[0]} did not end within {timeout_s:g} s") from None
        raise
    return Completed(tuple(argv), child.returncode, out, err)


def start_detached(argv: Sequence[str], *, env: Mapping[str, str] | None = None, cwd: str | None = None) -> int:
    """Starts a process that outlives us, silent and in its own session; returns its pid."""
    with open(os.devnull, "r+b") as null:
        child = subprocess.Popen(
            list(argv), stdin=null, stdout=null, stderr=null, env=child_env(env), cwd=cwd, start_new_session=True
        )
    child.returncode = 0  # keeps Popen from warning that it still runs: that is the point
    return child.pid


def run_in_terminal(argv: Sequence[str], *, env: Mapping[str, str] | None = None) -> int:
    """Lends our terminal to a command (an editor, an attached pane) and returns its exit code."""
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        return subprocess.run(list(argv), env=child_env(env), check=False).returncode
    finally:
        signal.signal(signal.SIGINT, before)


def replace_ourselves(argv: Sequence[str], *, env: Mapping[str, str] | None = None) -> NoReturn:
    """Becomes the command; returns never."""
    sys.stdout.flush()
    sys.stderr.flush()
    os.execvpe(argv[0], list(argv), child_env(env))


def wait_until(condition: Callable[[], T | None], timeout_s: float, *, every_s: float = 0.05) -> T | None:
    """Asks until the answer is not None or False, at most until the deadline; the last answer either way."""
    deadline = time.monotonic() + timeout_s
    while True:
        answer = condition()
        left = deadline - time.monotonic()
        if answer or left <= 0:
            return answer
        time.sleep(min(every_s, left))


class _DeadlineError(Exception):
    pass


def _spawn(
    argv: Sequence[str],
    env: Mapping[str, str] | None,
    cwd: str | None,
    pass_fds: tuple[int, ...] = (),
) -> "subprocess.Popen[bytes]":
    try:
        return subprocess.Popen(
            list(argv),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env=child_env(env),
            cwd=cwd,
            start_new_session=True,
            pass_fds=pass_fds,
            bufsize=0,
        )
    except FileNotFoundError as error:
        missing = cwd if cwd and not os.path.isdir(cwd) else argv[0]
        said = f"{missing}: {error.strerror}".encode()
        raise CommandFailedError(f"cannot run {argv[0]}", Completed(tuple(argv), 127, b"", said)) from None
    except (PermissionError, NotADirectoryError) as error:
        said = f"{error.filename or argv[0]}: {error.strerror}".encode()
        raise CommandFailedError(f"cannot run {argv[0]}", Completed(tuple(argv), 126, b"", said)) from None


def _talk(child: "subprocess.Popen[bytes]", stdin: bytes, deadline: float) -> tuple[bytes, bytes]:
    """Feeds stdin and collects both outputs until the child ended and its pipes are dry."""
    assert child.stdin and child.stdout and child.stderr
    heard: dict[int, list[bytes]] = {child.stdout.fileno(): [], child.stderr.fileno(): []}
    out_fd, err_fd = heard
    poller = select.poll()
    for fd in heard:
        os.set_blocking(fd, False)
        poller.register(fd, select.POLLIN)
    left = memoryview(stdin)
    in_fd = child.stdin.fileno()
    if left:
        os.set_blocking(in_fd, False)
        poller.register(in_fd, select.POLLOUT)
    else:
        child.stdin.close()
    open_outputs, ended_at = set(heard), None
    while open_outputs:
        now = time.monotonic()
        if ended_at is None and child.poll() is not None:
            ended_at = now
        if ended_at is not None and now - ended_at > _DRAIN_S:
            break
        if now > deadline:
            raise _DeadlineError
        for fd, _ in poller.poll(20 if ended_at is None else 5):
            if fd == in_fd:
                left = _feed(child, left)
                if not left:
                    poller.unregister(in_fd)
                    child.stdin.close()
            elif not _drain(fd, heard[fd]):
                poller.unregister(fd)
                open_outputs.discard(fd)
    _reap(child, deadline)
    return b"".join(heard[out_fd]), b"".join(heard[err_fd])


def _reap(child: "subprocess.Popen[bytes]", deadline: float) -> None:
    try:
        child.wait(max(0.0, deadline - time.monotonic()))
    except subprocess.TimeoutExpired:
        raise _DeadlineError from None


def _feed(child: "subprocess.Popen[bytes]", left: memoryview) -> memoryview:
    assert child.stdin
    try:
        return left[os.write(child.stdin.fileno(), left[:_CHUNK]) :]
    except BlockingIOError:
        return left
    except BrokenPipeError:
        return memoryview(b"")


def _drain(fd: int, into: list[bytes]) -> bool:
    """Reads what is there; False at the end of the stream."""
    try:
        data = os.read(fd, _CHUNK)
    except BlockingIOError:
        return True
    if data:
        into.append(data)
    return bool(data)


def _kill_group(child: "subprocess.Popen[bytes]") -> None:
    try:
        os.killpg(child.pid, signal.SIGKILL)
    except (ProcessLookupError, PermissionError):
        pass


def _first(args: object) -> str:
    return str(args[0]) if isinstance(args, list | tuple) else str(args)
