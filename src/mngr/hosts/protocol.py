"""The protocols `Host` and `Provider`, and the optional protocols that a provider may implement as well."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Protocol, runtime_checkable

from mngr.model.host import HostRef, HostSpec
from mngr.process import Completed, Stream


class Host(Protocol):
    """A machine, or something that looks like one; safe to use from many threads.

    Arguments, names and values are exact (text as of `os.fsdecode`), never evaluated by a shell. Exit codes
    are those a shell would show: 128+n for a death by signal n, 127 for a missing program, 126 for one that
    cannot start. "The machine is gone" is UnreachableError, never an exit code. The rest is in `mngr.testing.hosts`.
    """

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
        """Runs a command to its end; `env` adds to the host's own, a missing `cwd` is a failed command.

        At the deadline the command is killed with its children and TimedOutError raised. A child left in the
        background stays alive and holds nothing up, even when it kept the pipes.
        """
        ...

    def stream(
        self, argv: Sequence[str], *, env: Mapping[str, str] | None = None, cwd: str | None = None
    ) -> Stream:
        """Starts a command and hands over its pipes; a missing program shows as 127 from `wait`."""
        ...

    def read(self, path: str) -> bytes:
        """The whole file; FileNotFoundError when there is none, MngrError when it cannot be read."""
        ...

    def write(self, path: str, data: bytes, mode: int = 0o600) -> None:
        """Replaces the file as a whole, making its directory; a reader sees the old or the new bytes."""
        ...

    def attach_argv(self, argv: Sequence[str]) -> tuple[str, ...]:
        """What to run here so that `argv` runs there on this terminal."""
        ...


class Provider(Protocol):
    """Opens hosts. `options` names the fields of HostSpec it can honour; others are refused before `create`.

    Made with one argument, this machine's host dir; it keeps its state in directories of its own in
    `providers/<name>` there. An unknown host name is NotFoundError in every method.
    """

    name: str
    options: frozenset[str]

    def create(self, spec: HostSpec) -> Host:
        """Makes a host, or leaves nothing; without a name it chooses one, a taken name is RefusedError."""
        ...

    def open(self, name: str) -> Host:
        """Finds a host, however it was made; UnreachableError when it does not answer or is stopped."""
        ...

    def hosts(self) -> Iterable[HostRef]:
        """The hosts there are, stopped ones too."""
        ...

    def stop(self, name: str) -> None:
        """Ends all that runs there and keeps its files; twice is safe. UsageError where it makes no sense."""
        ...

    def destroy(self, name: str) -> None:
        """Removes the host with all that is on it, running or not."""
        ...


@runtime_checkable
class Startable(Protocol):
    """A provider whose stopped hosts can be started again, with their files; twice is safe.

    LostError where one is lost permanently with its files, and only its name is left.
    """

    def start(self, name: str) -> Host: ...


@runtime_checkable
class StartsAnew(Protocol):
    """A startable provider that makes another machine to start a stopped one, which costs more than to leave it."""

    starts_anew: bool


@runtime_checkable
class Configurable(Protocol):
    """A provider with settings of its own: gets `[providers.<name>]` once, before any other call."""

    def configure(self, settings: Mapping[str, Any]) -> None: ...


@runtime_checkable
class Loads(Protocol):
    """A provider with a client library that takes long to load: loaded before a deadline begins to count."""

    def load(self) -> None: ...


@runtime_checkable
class Warns(Protocol):
    """A provider whose client library has warnings of its own: each is passed to `warn` as one line."""

    def warn_by(self, warn: Callable[[str], None]) -> None: ...


@runtime_checkable
class Pool(Protocol):
    """A provider that makes no machines: an agent for "any host of yours" goes to one of those there are."""

    def choose(self) -> Host: ...


@runtime_checkable
class Bounded(Protocol):
    """A provider that knows how many of its hosts may be live at once; 0 where nothing bounds them."""

    max_hosts: int


@runtime_checkable
class Meets(Protocol):
    """A provider of machines that exist already: whether it could reach one of that name, used before or not."""

    def knows(self, name: str) -> bool: ...


@runtime_checkable
class Prepares(Protocol):
    """A provider that makes a host ready before an agent is created there; quick when it is ready."""

    def prepare(self, host: Host) -> None: ...


@runtime_checkable
class Labelled(Protocol):
    """A provider that keeps the `tags` of a host where they can be read while it is stopped, too."""

    def tags(self, name: str) -> Mapping[str, str]: ...


@runtime_checkable
class ListsTags(Protocol):
    """A provider that learns the tags of all hosts when it lists them."""

    def listed_tags(self) -> Mapping[str, Mapping[str, str]]:
        """The tags by host, as of the last listing."""
        ...


@runtime_checkable
class Snapshots(Protocol):
    """A provider that keeps snapshots of whole hosts by name; `HostSpec.snapshot` makes a new host from a snapshot."""

    def keep(self, host: str, snapshot: str, record: bytes) -> None:
        """Keeps a host as it is, with a record that comes back from `kept`; a taken name is RefusedError."""
        ...

    def kept(self) -> Mapping[str, bytes]:
        """The records of all snapshots, by name."""
        ...

    def drop(self, snapshot: str) -> None:
        """Removes a snapshot; hosts made from it stay."""
        ...


@runtime_checkable
class RunsForOutput(Protocol):
    """A host where a command costs less if its stderr is not read."""

    def run_output(self, argv: Sequence[str], *, timeout_s: float) -> Completed: ...


@runtime_checkable
class SharesFiles(Protocol):
    """A host whose paths are this machine's paths, so that a git worktree can live there."""

    shares_files: bool


def shares_files(host: Host) -> bool:
    return isinstance(host, SharesFiles) and host.shares_files
