"""The host: commands enter the box through `nsenter`; everything else stands on that."""

import os
from collections.abc import Mapping, Sequence

from msgspec import Struct

from mngr.plugin import (
    CommandFailedError,
    Completed,
    OnlyEnv,
    Stream,
    UnreachableError,
    read_by_run,
    run,
    stream,
    write_by_run,
)

# A full path: the caller's environment may hold a PATH that is right only inside.
_NSENTER = "/usr/bin/nsenter"
_PF_EXITING = 4


class Box(Struct, frozen=True):
    """`box.json`: the box's init, told from a later process by its start and boot, and the way in."""

    pid: int
    start: str
    boot: str
    path: str
    """PATH inside."""
    rootless: bool = False
    offline: bool = False

    @property
    def is_running(self) -> bool:
        return self.boot == boot_id() and self.start == start_time(self.pid)


class BoxHost:
    """A process tree with its own root: same paths as here, other files."""

    provider = "box"
    dir = "/root/.mngr"

    def __init__(self, name: str, box: Box) -> None:
        self.name = name
        self._box = box

    def run(
        self,
        argv: Sequence[str],
        *,
        stdin: bytes = b"",
        timeout_s: float = 60,
        env: Mapping[str, str] | None = None,
        cwd: str | None = None,
    ) -> Completed:
        self._check_running()
        inside = OnlyEnv(self._env() | dict(env or {}))
        try:
            done = run(self._enter(argv, cwd), stdin=stdin, timeout_s=timeout_s, env=inside)
        except CommandFailedError as error:
            done = error.completed
        if done.code != 0:
            self._check_running()
        return done._replace(argv=tuple(argv))

    def stream(
        self, argv: Sequence[str], *, env: Mapping[str, str] | None = None, cwd: str | None = None
    ) -> Stream:
        self._check_running()
        return stream(self._enter(argv, cwd), env=OnlyEnv(self._env() | dict(env or {})))

    def read(self, path: str) -> bytes:
        return read_by_run(self, path)

    def write(self, path: str, data: bytes, mode: int = 0o600) -> None:
        write_by_run(self, path, data, mode)

    def attach_argv(self, argv: Sequence[str]) -> tuple[str, ...]:
        env = self._env() | {"TERM": os.environ.get("TERM", "xterm-256color")}
        return self._enter(["env", "-i", *(f"{name}={value}" for name, value in env.items()), *argv], None)

    def _enter(self, argv: Sequence[str], cwd: str | None) -> tuple[str, ...]:
        box = self._box
        user = ("-U", "--preserve-credentials") if box.rootless else ()
        net = ("-n",) if box.offline else ()
        return (_NSENTER, "-t", str(box.pid), *user, "-m", "-p", *net, "-W", cwd or "/root", "--", *argv)

    def _env(self) -> dict[str, str]:
        return {
            "HOME": "/root",
            "USER": "root",
            "SHELL": "/bin/sh",
            "LANG": "C.UTF-8",
            "PATH": self._box.path,
        }

    def _check_running(self) -> None:
        if not self._box.is_running:
            raise UnreachableError(f'box "{self.name}" is not running', hint="mngr boxes shows which are")


def boot_id() -> str:
    with open("/proc/sys/kernel/random/boot_id", encoding="ascii") as file:
        return file.read().strip()


def start_time(pid: int) -> str | None:
    """When a living process began, in the kernel's ticks; None when there is none or it is on its way out."""
    try:
        with open(f"/proc/{pid}/stat", encoding="utf-8", errors="replace") as file:
            fields = file.read().rpartition(")")[2].split()
    except OSError:
        return None
    is_ending = fields[0] in "ZX" or int(fields[6]) & _PF_EXITING
    return None if is_ending else fields[19]
