"""The only module that starts a process: argv lists, own session, closed stdin, always a deadline."""

import errno
import os
import select
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from typing import BinaryIO, NamedTuple, NoReturn, Protocol, TypeVar, cast

from mngr.errors import MngrError, TimedOutError, UsageError
from mngr.process_signals import HeldSignals, end_group
from mngr_lib.trace import Span

T = TypeVar("T")

_CHUNK = 1 << 16
# No pipe holds more than this unless root raised the system's limit.
_PIPE_MAX = 1 << 20
# A grandchild that keeps the pipe open must not keep us: read what is there, then leave.
_DRAIN_S = 0.25
# Set by git for its hooks and by tmux for its panes; inherited, they would mislead our children.
_STRAY = frozenset(
    ("TMUX", "TMUX_PANE", "GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE", "GIT_PREFIX", "GIT_COMMON_DIR")
    + ("GIT_OBJECT_DIRECTORY", "GIT_ALTERNATE_OBJECT_DIRECTORIES", "GIT_NAMESPACE", "GIT_QUARANTINE_PATH")
)
# The program is there and cannot be started: shells call all of these 126.
_NOT_RUNNABLE = frozenset(
    (errno.EACCES, errno.ENOTDIR, errno.EISDIR, errno.ENOEXEC, errno.E2BIG, errno.ELOOP, errno.ENAMETOOLONG)
)
# Other threads give theirs back when their children end.
_FEW = frozenset((errno.EMFILE, errno.ENFILE))
_DESCRIPTOR_S = 5.0
_DESCRIPTORS_MAX = 65536


class OnlyEnv(dict[str, str]):
    """The whole environment of a child; a plain mapping is added to ours."""


class Completed(NamedTuple):
    """How a command ended. `code` is 128+n for a death by signal n, as a shell says it."""

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
        problem = completed.complaint or f"exit code {completed.code}"
        super().__init__(f"{doing}: {problem}")
        self.completed = completed


class Stream(Protocol):
    """A running command with its pipes. `stdin` and `stdout` have real file descriptors."""

    stdin: BinaryIO
    stdout: BinaryIO
    stderr: BinaryIO

    def wait(self, timeout_s: float | None) -> int:
        """The exit code, 128+n for a signal; TimedOutError at the deadline, and the command still runs."""
        ...

    def kill(self) -> None:
        """Ends the command with its children and closes the pipes; safe at any time, and twice."""
        ...


class LocalStream:
    """A child of ours, leader of its own session."""

    def __init__(self, child: "subprocess.Popen[bytes]", argv: Sequence[str]) -> None:
        self.stdin, self.stdout, self.stderr = _pipes(child)
        self._child, self._name, self.pid = child, _named(argv), child.pid
        self._span = Span(argv)

    def wait(self, timeout_s: float | None) -> int:
        try:
            code = _exit_code(self._child.wait(timeout_s))
        except subprocess.TimeoutExpired:
            raise TimedOutError(f"{self._name} did not end within {timeout_s} s") from None
        self._span.end(code)
        return code

    def kill(self) -> None:
        ended = self._child.poll()
        end_group(self._child)
        _close_pipes(self._child)
        self._span.end(
            None if ended is None else _exit_code(ended), "killed by mngr" if ended is None else ""
        )


def descriptor_limit() -> int:
    """How many files we may have open, after raising that to what this user may ask for."""
    import resource  # only who does many things at once needs it

    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    most = _DESCRIPTORS_MAX if hard == resource.RLIM_INFINITY else min(hard, _DESCRIPTORS_MAX)
    if soft == resource.RLIM_INFINITY or soft >= most:
        return most if soft == resource.RLIM_INFINITY else soft
    resource.setrlimit(resource.RLIMIT_NOFILE, (most, hard))
    return most


def child_env(extra: Mapping[str, str] | None = None) -> dict[str, str]:
    """Our environment for a child: without what git and tmux left in it, with `extra`."""
    if isinstance(extra, OnlyEnv):
        return dict(extra)
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
    defer_signals: bool = False,
) -> Completed:
    """Runs a command to its end and returns what it printed.

    Raises TimedOutError at the deadline, with its whole process group killed, and CommandFailedError when the
    program is missing (127) or cannot be started (126). With `defer_signals`, Ctrl-C and TERM take effect when the
    command has ended, or when a second one comes: for a short command whose effect must be known.
    """
    with Span(argv) as span, HeldSignals() as held:
        done = _finish(_spawn(argv, env, cwd), argv, stdin, timeout_s, held, defer_signals=defer_signals)
        span.end(done.code)
        return done


run_program = run
"""The name under which plugins find it: `mngr.run_program(["git", "status"])`."""


def stream(
    argv: Sequence[str], *, env: Mapping[str, str] | None = None, cwd: str | None = None
) -> LocalStream:
    """Starts a command and hands over its pipes; the caller waits for it or kills it."""
    with HeldSignals() as held:
        started = LocalStream(_spawn(argv, env, cwd), argv)
        try:
            held.release()
        except BaseException:
            started.kill()
            raise
        return started


def run_with_fds(
    argv: Sequence[str],
    *,
    pass_fds: tuple[int, ...],
    timeout_s: float,
    env: Mapping[str, str] | None = None,
    cwd: str | None = None,
) -> Completed:
    """Like `run`, with open descriptors handed to the child (git's `fd::` transport)."""
    with Span(argv) as span, HeldSignals() as held:
        done = _finish(_spawn(argv, env, cwd, pass_fds=pass_fds), argv, b"", timeout_s, held)
        span.end(done.code)
        return done


def run_in_terminal(argv: Sequence[str], *, env: Mapping[str, str] | None = None) -> int:
    """Lends our terminal to a command (an editor, an attached pane) and returns its exit code."""
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        return _exit_code(subprocess.run(list(argv), env=child_env(env), check=False).returncode)
    finally:
        signal.signal(signal.SIGINT, before)


def replace_ourselves(argv: Sequence[str], *, env: Mapping[str, str] | None = None) -> NoReturn:
    """Becomes the command; returns never."""
    sys.stdout.flush()
    sys.stderr.flush()
    os.execvpe(argv[0], list(argv), child_env(env))


def wait_until(condition: Callable[[], T | None], timeout_s: float, *, every_s: float = 0.05) -> T | None:
    """Asks until the answer is not None or False, at most until the deadline; the last answer either way.

    Asking takes at most half of the time: a busy machine, where answers are slow, is asked less often.
    """
    deadline = time.monotonic() + timeout_s
    while True:
        asked_at = time.monotonic()
        answer = condition()
        now = time.monotonic()
        if answer or now >= deadline:
            return answer
        time.sleep(min(max(every_s, now - asked_at), deadline - now))


class _DeadlineError(Exception):
    pass


def _spawn(
    argv: Sequence[str],
    env: Mapping[str, str] | None,
    cwd: str | None,
    pass_fds: tuple[int, ...] = (),
) -> "subprocess.Popen[bytes]":
    deadline = time.monotonic() + _DESCRIPTOR_S
    while True:
        try:
            return _spawn_once(argv, env, cwd, pass_fds)
        except OSError as error:
            if error.errno not in _FEW:
                raise
            if time.monotonic() > deadline or threading.active_count() == 1:
                raise MngrError(
                    f"cannot run {argv[0]}: {error.strerror}",
                    hint="raise the limit of open files (ulimit -n), or do fewer at a time (-j)",
                ) from None
        time.sleep(0.02)


def _spawn_once(
    argv: Sequence[str], env: Mapping[str, str] | None, cwd: str | None, pass_fds: tuple[int, ...]
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
        problem = f"{missing}: {error.strerror}".encode()
        raise CommandFailedError(f"cannot run {argv[0]}", Completed(tuple(argv), 127, b"", problem)) from None
    except ValueError:
        raise UsageError("a command holds a NUL", hint="remove it: no program can be given one") from None
    except OSError as error:
        if error.errno not in _NOT_RUNNABLE:
            raise
        problem = f"{error.filename or argv[0]}: {error.strerror}".encode()
        raise CommandFailedError(f"cannot run {argv[0]}", Completed(tuple(argv), 126, b"", problem)) from None


def _finish(
    child: "subprocess.Popen[bytes]",
    argv: Sequence[str],
    stdin: bytes,
    timeout_s: float,
    held: HeldSignals,
    *,
    defer_signals: bool = False,
) -> Completed:
    """Waits for a child to end, or ends it with its group at the deadline or when a signal interrupts us."""
    try:
        if defer_signals:
            held.hold_one()
        else:
            held.release()
        out, err = _talk(child, stdin, time.monotonic() + timeout_s)
    except BaseException as error:
        end_group(child)
        if isinstance(error, _DeadlineError):
            raise TimedOutError(f"{_named(argv)} did not end within {timeout_s:g} s") from None
        raise
    finally:
        _close_pipes(child)
    return Completed(tuple(argv), _exit_code(child.returncode), out, err)


def _talk(child: "subprocess.Popen[bytes]", stdin: bytes, deadline: float) -> tuple[bytes, bytes]:
    """Feeds stdin and collects both outputs until the child ended and its pipes are dry."""
    in_fd, out_fd, err_fd = (pipe.fileno() for pipe in _pipes(child))
    heard: dict[int, list[bytes]] = {out_fd: [], err_fd: []}
    poller = select.poll()
    for fd in (out_fd, err_fd, in_fd):
        os.set_blocking(fd, False)
        poller.register(fd, select.POLLOUT if fd == in_fd else select.POLLIN)
    left, open_fds, leave_at = memoryview(stdin), {in_fd, out_fd, err_fd}, None
    while open_fds:
        if leave_at is None and child.poll() is not None:
            # All that the child itself wrote is in the pipes by now: take it, however late we are.
            for fd, into in heard.items():
                _drain(fd, into, _PIPE_MAX)
            leave_at = time.monotonic() + _DRAIN_S
        now = time.monotonic()
        if leave_at is None and now > deadline:
            raise _DeadlineError
        if leave_at is not None and now > leave_at:
            break
        for fd, _ in poller.poll(20 if leave_at is None else 5):
            if fd == in_fd:
                left = write_some(fd, left)
            if not left if fd == in_fd else not _drain(fd, heard[fd], _CHUNK):
                poller.unregister(fd)
                open_fds.discard(fd)
        if child.stdin and in_fd not in open_fds:
            child.stdin.close()
    try:
        child.wait(max(0.0, deadline - time.monotonic()))
    except subprocess.TimeoutExpired:
        raise _DeadlineError from None
    return b"".join(heard[out_fd]), b"".join(heard[err_fd])


def write_some(fd: int, left: memoryview) -> memoryview:
    """Writes what the pipe takes and returns the rest: nothing once the reader is gone."""
    if not left:
        return left
    try:
        return left[os.write(fd, left[:_CHUNK]) :]
    except BlockingIOError:
        return left
    except BrokenPipeError:
        return memoryview(b"")


def _drain(fd: int, into: list[bytes], limit: int) -> bool:
    """Reads what is there, up to `limit`; False at the end of the stream."""
    while limit > 0:
        try:
            data = os.read(fd, min(limit, _CHUNK))
        except BlockingIOError:
            return True
        if not data:
            return False
        into.append(data)
        limit -= len(data)
    return True


def _pipes(child: "subprocess.Popen[bytes]") -> tuple[BinaryIO, BinaryIO, BinaryIO]:
    if child.stdin is None or child.stdout is None or child.stderr is None:
        raise TypeError("the child was started without pipes")
    return cast("BinaryIO", child.stdin), cast("BinaryIO", child.stdout), cast("BinaryIO", child.stderr)


def _close_pipes(child: "subprocess.Popen[bytes]") -> None:
    for pipe in (child.stdin, child.stdout, child.stderr):
        try:
            if pipe:
                pipe.close()
        except OSError:
            pass


def _exit_code(returncode: int) -> int:
    return returncode if returncode >= 0 else 128 - returncode


def _named(argv: Sequence[str]) -> str:
    """A command in an error message: printable, one line, not its whole program."""
    line = " ".join(" ".join(argv).split())
    return (line if len(line) <= 80 else line[:79] + "…").encode(errors="backslashreplace").decode()
