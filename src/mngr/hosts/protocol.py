"""The seams `Host` and `Provider`, and the optional powers of a provider."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Protocol, runtime_checkable

from mngr.model.host import HostRef, HostSpec
from mngr.process import Completed, Stream


class Host(Protocol):
    """A machine, or something that looks like one. "It is gone" is UnreachableError, never an exit code."""

    name: str
    provider: str
    dir: str
    """The host dir, absolute, on that host."""

    def run(
        self,
        argv: Sequence[str],
        *,
        stdin: bytes = b"",
        timeout_s: float = 60,
        env: Mapping[str, str] | None = None,
        cwd: str | None = None,
    ) -> Completed:
        """Runs a command to its end; a missing program is exit code 127, a deadline TimedOutError."""
        ...

    def stream(
        self, argv: Sequence[str], *, env: Mapping[str, str] | None = None, cwd: str | None = None
    ) -> Stream:
        """Starts a command and hands over its pipes."""
        ...

    def read(self, path: str) -> bytes:
        """The whole file; FileNotFoundError when there is none."""
        ...

    def write(self, path: str, data: bytes, mode: int = 0o600) -> None:
        """Replaces the file as a whole, making its directory; a reader sees the old or the new bytes."""
        ...

    def attach_argv(self, argv: Sequence[str]) -> tuple[str, ...]:
        """What to run here so that `argv` runs there on this terminal."""
        ...


class Provider(Protocol):
    """Opens hosts. `options` names the fields of HostSpec it can honour; any other is refused before `create`."""

    name: str
    options: frozenset[str]

    def create(self, spec: HostSpec) -> Host: ...
    def open(self, name: str) -> Host:
        """NotFoundError when there is no such host, UnreachableError when it does not answer or is stopped."""
        ...

    def hosts(self) -> Iterable[HostRef]: ...
    def stop(self, name: str) -> None: ...
    def destroy(self, name: str) -> None: ...


@runtime_checkable
class Startable(Protocol):
    """A provider whose stopped hosts can be started again."""

    def start(self, name: str) -> Host: ...


@runtime_checkable
class SharesFiles(Protocol):
    """A host whose paths are this machine's paths, so that a git worktree can live there."""

    shares_files: bool


def shares_files(host: Host) -> bool:
    return isinstance(host, SharesFiles) and host.shares_files
