"""Machines reached by the user's own OpenSSH: their config, agent, jump hosts and known host keys.

All commands to a machine share one connection (ControlMaster), which stays for some minutes after the last one.
"""

import os
import random
import threading
import time
from collections.abc import Mapping, Sequence

from msgspec import Struct

from mngr import process
from mngr.errors import CapacityError, MngrError, NotFoundError, TimedOutError, UnreachableError
from mngr.hosts.files import read_by_run, write_by_run
from mngr.hosts.framed_exec import collect, framed_program, new_mark, plain_program
from mngr.process import CommandFailedError, Completed, LocalStream, Stream
from mngr.sh.program import encode, load, words
from mngr.store.lock import locked
from mngr_lib.trace import Span

_OPTIONS = """
    ControlMaster=auto ControlPersist=10m ConnectTimeout=5 ConnectionAttempts=1 ServerAliveInterval=5
    ServerAliveCountMax=3 LogLevel=ERROR ClearAllForwardings=yes RemoteCommand=none PermitLocalCommand=no
    EscapeChar=none
""".split()
_CONNECT_S = 20.0
_END_S = 5.0
# How long a machine that did not answer is taken to be away, so that ten calls to it do not wait ten times.
_AWAY_S = 2.0
# One argument of a program may hold 128 KB on Linux.
_LINE_MAX = 100_000
_ITS_OWN = 255
_KILLED = 137
# The machine took the connection and closed it before it answered: it was just starting, or had too many at once.
_BANNER = (
    "kex_exchange_identification",
    "banner exchange",
    "Connection reset by peer",
    "Not allowed at this time",
)
# How long to wait before it is asked once more; others were turned away at the same moment.
_PAUSE_S = (0.1, 0.5)
_UNKNOWN = "Could not resolve hostname"
_HINTS = {
    "Host key verification failed": "connect once by hand and compare its key: ssh {}",
    "Permission denied": "does your key work? ssh {} true",
    "REMOTE HOST IDENTIFICATION HAS CHANGED": "is it the same machine? then: ssh-keygen -R {}",
}


class Way(Struct, frozen=True):
    """How a machine is reached: what ssh is told, and the socket of the shared connection."""

    name: str
    target: str
    socket: str
    options: tuple[str, ...] = ()

    def argv(self, *flags: str) -> tuple[str, ...]:
        shared = tuple(word for option in _OPTIONS for word in ("-o", option))
        return (
            "ssh",
            *self.options,
            "-S",
            self.socket.replace("%", "%%"),
            *shared,
            *flags,
            "--",
            self.target,
        )


class SshHost:
    """A remote machine, as the user that ssh logs in."""

    provider = "ssh"

    def __init__(self, way: Way, host_dir: str = "") -> None:
        self.name, self.dir = way.name, host_dir
        self._way = way
        self._away: tuple[float, UnreachableError] | None = None
        self._connecting = threading.Lock()

    def run(
        self,
        argv: Sequence[str],
        *,
        stdin: bytes = b"",
        timeout_s: float = 60,
        env: Mapping[str, str] | None = None,
        cwd: str | None = None,
    ) -> Completed:
        began, mark = time.monotonic(), new_mark()
        with Span(argv, f"{self.name}.{self.provider}") as span:
            line, head = _line(framed_program(argv, env, cwd, mark), mark, is_secret=bool(env))
            self.connect(timeout_s)
            stream = process.stream((*self._way.argv("-T", "-o", "BatchMode=yes"), line))
            try:
                left_s = timeout_s - (time.monotonic() - began)
                done = collect(stream, mark, head + stdin, max(0.0, left_s))._replace(argv=tuple(argv))
                if done.code < 0:
                    return self._unmarked(done, stream)
                span.end(done.code)
                return done
            except TimedOutError:
                stream.kill()
                self.end(mark, timeout_s)
                raise TimedOutError(f"{argv[0]} on {self.name} did not end within {timeout_s:g} s") from None
            except KeyboardInterrupt:
                stream.kill()
                self.end(mark, _END_S)
                raise
            finally:
                stream.kill()

    def stream(
        self, argv: Sequence[str], *, env: Mapping[str, str] | None = None, cwd: str | None = None
    ) -> Stream:
        mark = new_mark()
        line, head = _line(plain_program(argv, env, cwd) + "\nexit $?\n", mark, is_secret=bool(env))
        self.connect(_CONNECT_S)
        inner = process.stream((*self._way.argv("-T", "-o", "BatchMode=yes"), line))
        try:
            while head:
                head = head[inner.stdin.write(head) or 0 :]
        except BrokenPipeError:
            pass  # `wait` tells why
        return SshStream(inner, self, mark)

    def read(self, path: str) -> bytes:
        return read_by_run(self, path)

    def write(self, path: str, data: bytes, mode: int = 0o600) -> None:
        write_by_run(self, path, data, mode)

    def attach_argv(self, argv: Sequence[str]) -> tuple[str, ...]:
        line = "exec " + words(*argv)
        if not _is_safe("".join(argv)):
            line, _ = _line(line + "\n", "attach", is_secret=False)
        return (*self._way.argv("-t"), line)

    def connect(self, timeout_s: float = _CONNECT_S) -> None:
        """Makes sure that there is a shared connection; UnreachableError when there can be none."""
        if os.path.exists(self._way.socket):
            return
        with self._connecting:
            if self._away and time.monotonic() - self._away[0] < _AWAY_S:
                raise self._away[1]
            try:
                with locked(f"{self._way.socket}.lock", timeout_s=timeout_s):
                    self._connect(timeout_s)
            except CapacityError:
                raise
            except (UnreachableError, TimedOutError) as error:
                self._away = (time.monotonic(), _gone(self.name, error.message, error.hint))
                raise self._away[1] from None

    def is_connected(self) -> bool:
        return self._client("-O", "check", timeout_s=_END_S).code == 0

    def disconnect(self) -> None:
        """Ends the shared connection, with all that runs over it."""
        if os.path.exists(self._way.socket):
            self._client("-O", "exit", timeout_s=_END_S)

    def end(self, mark: str, patience_s: float) -> None:
        """Ends what has the mark, with its children; UnreachableError when the machine no longer answers."""
        line, head = _line(load("sh/end_marked"), "end", is_secret=False)
        stdin = head + mark.encode() + b"\n"
        try:
            process.run(
                (*self._way.argv("-T", "-o", "BatchMode=yes"), line),
                stdin=stdin,
                timeout_s=max(1.0, min(_END_S, patience_s)),
            )
        except TimedOutError:
            self.disconnect()
            self._away = (time.monotonic(), _gone(self.name, "it does not answer any more"))
            raise self._away[1] from None

    def _connect(self, timeout_s: float) -> None:
        if os.path.exists(self._way.socket):
            return
        done = self._client("-T", "-o", "BatchMode=yes", command=("exit 0",), timeout_s=timeout_s)
        if _is_turned_away(done):
            time.sleep(random.uniform(*_PAUSE_S))
            done = self._client("-T", "-o", "BatchMode=yes", command=("exit 0",), timeout_s=timeout_s)
        if done.code == 0:
            return
        if _is_turned_away(done):
            raise CapacityError(
                f'host "{self.name}" takes no more connections for now: {done.complaint.splitlines()[-1]}',
                hint="it is starting, or has too many at once: MaxStartups in its sshd_config",
            )
        if _UNKNOWN in done.complaint:
            raise NotFoundError(
                f'no host "{self.name}": {done.complaint}',
                hint="name it in your ssh config, or under [providers.ssh.hosts]",
            )
        hint = next((hint for words, hint in _HINTS.items() if words in done.complaint), "try: ssh {} true")
        last = done.complaint.splitlines()[-1] if done.complaint else f"ssh ended with {done.code}"
        raise UnreachableError(last, hint=hint.format(self._way.target))

    def _client(self, *flags: str, timeout_s: float, command: tuple[str, ...] = ()) -> Completed:
        try:
            return process.run((*self._way.argv(*flags), *command), timeout_s=timeout_s)
        except CommandFailedError:
            raise UnreachableError(
                "there is no ssh on this machine", hint="install it: apt-get install openssh-client"
            ) from None

    def _unmarked(self, done: Completed, stream: Stream) -> Completed:
        """What a client means that ended before its command did: no machine, or a command that was killed."""
        code = stream.wait(_END_S)
        if code == _ITS_OWN and not self.is_connected():
            raise _gone(self.name, done.complaint or "the connection was lost")
        if code == _ITS_OWN:
            return done._replace(code=_KILLED)
        raise MngrError(
            f'"{self.name}" runs no commands: {done.complaint or f"exit code {code}"}',
            hint=f"its login shell must run sh; try: ssh {self._way.target} sh -c true",
        )


class SshStream:
    """A command there. Its pipes are those of our ssh client, so they are real descriptors."""

    def __init__(self, inner: LocalStream, host: SshHost, mark: str) -> None:
        self.stdin, self.stdout, self.stderr = inner.stdin, inner.stdout, inner.stderr
        self._inner, self._host, self._mark, self._has_ended = inner, host, mark, False

    def wait(self, timeout_s: float | None) -> int:
        code = self._inner.wait(timeout_s)
        self._has_ended = True
        if code == _ITS_OWN and not self._host.is_connected():
            raise _gone(self._host.name, "the connection was lost")
        return code

    def kill(self) -> None:
        was_running = not self._has_ended
        self._has_ended = True
        self._inner.kill()
        if was_running:
            try:
                self._host.end(self._mark, _END_S)
            except UnreachableError:
                pass  # a machine that is away cannot be told; `gc` finds what an agent left there


def _is_turned_away(done: Completed) -> bool:
    """Whether the machine closed the connection before it answered, as it does with too many at once."""
    return done.code == _ITS_OWN and any(words in done.complaint for words in _BANNER)


def _gone(name: str, why: str, hint: str = "") -> UnreachableError:
    return UnreachableError(f'host "{name}" cannot be reached: {why}', hint=hint)


def _line(program: str, mark: str, *, is_secret: bool) -> tuple[str, bytes]:
    """A command line that means the sh program in every login shell, and what must come first on its stdin.

    Only letters and signs that no shell minds are on the line: the rest is written as octal numbers. What is long,
    or must not show in a list of processes, comes on stdin instead.
    """
    data = encode(program)
    if not is_secret:
        shown = {byte: chr(byte) if _is_safe(chr(byte)) else f"\\0{byte:03o}" for byte in set(data)}
        octal = "".join(shown[byte] for byte in data)
        line = f"""exec sh -c 'eval "$(printf %b "$2")"' sh {mark} '{octal}'"""
        if len(line) < _LINE_MAX:
            return line, b""
    # dd with blocks of one byte takes exactly so many and leaves the rest to the command.
    return f"""exec sh -c 'eval "$(dd bs=1 count={len(data)} 2>/dev/null)"' sh {mark}""", data


def _is_safe(text: str) -> bool:
    """Whether every login shell takes the text between single quotes as it is."""
    return text.isascii() and text.isprintable() and not set("'\\!") & set(text)
