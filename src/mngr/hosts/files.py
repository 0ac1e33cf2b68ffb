"""`Host.read` and `Host.write` for hosts that have only `run`: written once, in portable sh."""

from collections.abc import Sequence
from typing import Protocol

from mngr.process import Completed
from mngr.sh.codes import Exit
from mngr.sh.program import argv

_TIMEOUT_S = 300.0


class CommandRunner(Protocol):
    """As much of a host as is needed here."""

    def run(self, argv: Sequence[str], *, stdin: bytes = b"", timeout_s: float = 60) -> Completed: ...


def read_by_run(host: CommandRunner, path: str) -> bytes:
    """The whole file; FileNotFoundError when there is none."""
    done = host.run(argv("sh/read", path), timeout_s=_TIMEOUT_S)
    if done.code == Exit.NO_FILE:
        raise FileNotFoundError(path)
    return done.check(f"cannot read {path}").stdout


def write_by_run(host: CommandRunner, path: str, data: bytes, mode: int) -> None:
    """Replaces the file as a whole: written beside it, counted, then renamed."""
    command = argv("sh/write", path, f"{mode:o}", str(len(data)))
    host.run(command, stdin=data, timeout_s=_TIMEOUT_S).check(f"cannot write {path}")
