"""A host of the fault provider: a directory here, and commands that go through a bad connection."""

import os
import signal
import threading
import time
from collections import deque
from collections.abc import Mapping, Sequence
from random import Random

from msgspec import Struct

from mngr.errors import CapacityError, TimedOutError, UnreachableError
from mngr.hosts.files import read_by_run, write_by_run
from mngr.hosts.local import LocalHost
from mngr.model.host import HostState
from mngr.process import Completed, LocalStream, Stream
from mngr.store.lock import locked

MARK = "MNGR_FAULTY_HOST"
# Files may not grow; a process that tries gets an error instead of a signal.
_FULL = ("sh", "-c", "trap '' XFSZ; ulimit -f 0; exec \"$@\"", "sh")


class Faults(Struct, frozen=True, forbid_unknown_fields=True):
    """`[providers.faulty]`; shares are between 0 and 1, counts are calls of one host since it was made."""

    seed: int = 0
    latency_s: float = 0.0
    jitter: float = 0.0
    """Up to this share of the latency comes on top."""
    drop: float = 0.0
    """The share of calls that fail as if the connection broke: one half before the command ran, one half after."""
    listing_drop: float = 0.0
    """The share of listings that fail."""
    rate: int = 0
    """Calls a second; more are refused for now."""
    create_rate: int = 0
    """Hosts that can be made in a second; more are refused for now."""
    full_after: int = 0
    """From this call on the disk is full."""
    lose_after: int = 0
    """From this call on the host is gone."""
    max_hosts: int = 0
    """So many hosts may run; more are refused for now."""
    hang: str = ""
    """Commands with this argument do nothing until their deadline."""


class FaultyHost:
    """A directory that behaves like a bad connection."""

    provider = "faulty"

    def __init__(self, name: str, folder: str, faults: Faults) -> None:
        self.name, self.dir = name, f"{folder}/dir"
        self._folder, self._faults = folder, faults
        self._here, self._recent = LocalHost(self.dir), deque[float]()

    def run(
        self,
        argv: Sequence[str],
        *,
        stdin: bytes = b"",
        timeout_s: float = 60,
        env: Mapping[str, str] | None = None,
        cwd: str | None = None,
    ) -> Completed:
        call = self._call()
        if call.is_lost_before:
            raise self._broken()
        if self._faults.hang and self._faults.hang in argv:
            time.sleep(timeout_s)
            raise TimedOutError(f"{argv[0]} did not end within {timeout_s:g} s")
        done = self._here.run(
            (*call.prefix, *argv), stdin=stdin, timeout_s=timeout_s, env=self._marked(env), cwd=cwd
        )
        if call.is_lost_after:
            raise self._broken()
        if done.code != 0:
            self._check_running()
        return done._replace(argv=tuple(argv))

    def stream(
        self, argv: Sequence[str], *, env: Mapping[str, str] | None = None, cwd: str | None = None
    ) -> Stream:
        call = self._call()
        if call.is_lost_before:
            raise self._broken()
        inner = self._here.stream((*call.prefix, *argv), env=self._marked(env), cwd=cwd)
        return _Breaking(inner, self._broken(), call.breaks_after_s) if call.is_lost_after else inner

    def read(self, path: str) -> bytes:
        self._check_own(path)
        return read_by_run(self, path)

    def write(self, path: str, data: bytes, mode: int = 0o600) -> None:
        self._check_own(path)
        write_by_run(self, path, data, mode)

    def attach_argv(self, argv: Sequence[str]) -> tuple[str, ...]:
        return self._here.attach_argv(argv)

    def _call(self) -> "_Call":
        """One more call: what becomes of it is drawn from the seed, the host's name and its number."""
        self._check_running()
        faults, number = self._faults, self._count()
        chance = Random(f"{faults.seed} {self.name} {number}")
        if faults.lose_after and number >= faults.lose_after:
            put_state(self._folder, HostState.UNREACHABLE)
            self._check_running()
        self._check_rate()
        time.sleep(faults.latency_s * (1 + faults.jitter * chance.random()))
        is_lost, is_early = chance.random() < faults.drop, chance.random() < 0.5
        is_full = faults.full_after and number >= faults.full_after
        return _Call(
            is_lost and is_early, is_lost and not is_early, chance.random(), _FULL if is_full else ()
        )

    def _count(self) -> int:
        path = f"{self._folder}/calls"
        with locked(f"{path}.lock"):
            try:
                with open(path, encoding="ascii") as file:
                    number = int(file.read()) + 1
            except (OSError, ValueError):
                number = 1
            with open(path, "w", encoding="ascii") as file:
                file.write(str(number))
        return number

    def _check_rate(self) -> None:
        now = time.monotonic()
        while self._recent and now - self._recent[0] > 1:
            self._recent.popleft()
        if self._faults.rate and len(self._recent) >= self._faults.rate:
            raise CapacityError(
                f'host "{self.name}" refuses: more than {self._faults.rate} calls in a second',
                hint="wait, then try again",
                retry_after_s=1.0,
            )
        self._recent.append(now)

    def _check_running(self) -> None:
        state = get_state(self._folder)
        if state != HostState.RUNNING:
            raise UnreachableError(f'host "{self.name}" is {state.lower()}', hint="see: mngr list --hosts")

    def _check_own(self, path: str) -> None:
        """Hosts here can see each other's files; those of others are not handed over."""
        siblings = os.path.dirname(self._folder)
        if f"{path}/".startswith(f"{siblings}/") and not f"{path}/".startswith(f"{self._folder}/"):
            raise FileNotFoundError(path)

    def _marked(self, env: Mapping[str, str] | None) -> dict[str, str]:
        return {**(env or {}), MARK: self._folder}

    def _broken(self) -> UnreachableError:
        return UnreachableError(f'the connection to host "{self.name}" broke', hint="try again")


class _Call(Struct, frozen=True):
    is_lost_before: bool
    is_lost_after: bool
    breaks_after_s: float
    prefix: tuple[str, ...]


class _Breaking:
    """A stream whose connection breaks in the middle."""

    def __init__(self, inner: LocalStream, error: UnreachableError, after_s: float) -> None:
        self.stdin, self.stdout, self.stderr = inner.stdin, inner.stdout, inner.stderr
        self._inner, self._error = inner, error
        self._timer = threading.Timer(after_s, self._break)
        self._timer.daemon = True
        self._timer.start()

    def wait(self, timeout_s: float | None) -> int:
        self._inner.wait(timeout_s)
        raise self._error

    def kill(self) -> None:
        self._timer.cancel()
        self._inner.kill()

    def _break(self) -> None:
        try:
            os.killpg(self._inner.pid, signal.SIGKILL)
        except ProcessLookupError:
            pass


def get_state(folder: str) -> HostState:
    """How a host is; one that is being removed is destroyed."""
    try:
        with open(f"{folder}/state", encoding="ascii") as file:
            return HostState(file.read())
    except (OSError, ValueError):
        return HostState.DESTROYED


def put_state(folder: str, state: HostState) -> None:
    LocalHost(folder).write(f"{folder}/state", state.encode())
