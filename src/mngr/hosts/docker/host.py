"""A container as a host: commands enter it through `docker exec`, so it needs no sshd and no open port."""

import os
import select
import time
from collections.abc import Mapping, Sequence

from mngr import process
from mngr.errors import TimedOutError, UnreachableError
from mngr.hosts.container import HOST_DIR, InsideStream, as_ascii, parcels, run_inside
from mngr.hosts.files import read_by_run, write_by_run
from mngr.hosts.framed_exec import new_mark, plain_program
from mngr.process import CommandFailedError, Completed, LocalStream, Stream
from mngr.sh.program import argv, encode

_END_S = 5.0
_BEGIN_S = 30.0


class DockerHost:
    """A running container, as the user that its image names."""

    provider = "docker"
    dir = HOST_DIR

    def __init__(self, name: str, container: str, client: tuple[str, ...], user: str = "") -> None:
        self.name, self.container, self._client = name, container, client
        self._user = ("--user", user) if user else ()

    def run(
        self,
        argv: Sequence[str],
        *,
        stdin: bytes = b"",
        timeout_s: float = 60,
        env: Mapping[str, str] | None = None,
        cwd: str | None = None,
    ) -> Completed:
        return run_inside(self, argv, stdin, timeout_s, env, cwd)

    def stream(
        self, argv: Sequence[str], *, env: Mapping[str, str] | None = None, cwd: str | None = None
    ) -> Stream:
        mark = new_mark()
        starter = f"printf %s {mark} >&2\n"
        inner = self.begin(starter + plain_program(argv, env, cwd) + "\nexit $?\n", mark)
        stream = InsideStream(inner, lambda: self.end(mark))
        try:
            complaint = _until_mark(inner, mark)
        except BaseException:
            stream.kill()
            raise
        if complaint is not None:
            inner.kill()
            raise self.gone(complaint)
        return stream

    def read(self, path: str) -> bytes:
        return read_by_run(self, path)

    def write(self, path: str, data: bytes, mode: int = 0o600) -> None:
        write_by_run(self, path, data, mode)

    def attach_argv(self, argv: Sequence[str]) -> tuple[str, ...]:
        program = as_ascii(encode(plain_program(argv, None, None) + "\nexit $?\n"))
        term = f"TERM={os.environ.get('TERM', 'xterm-256color')}"
        return (*self._client, "exec", "-it", "-e", term, *self._user, self.container, "sh", "-c", program)

    def end(self, mark: str) -> None:
        """Ends what has the mark, with its children: a client that is killed leaves its command running."""
        try:
            process.run((*self._client, "exec", self.container, *argv("sh/end", mark)), timeout_s=_END_S)
        except (TimedOutError, CommandFailedError):
            pass  # the engine is gone: the next call says so

    def begin(self, program: str, mark: str) -> LocalStream:
        """Starts a program there."""
        given, unpack = parcels(program, mark)
        flags = [word for name in given for word in ("-e", name)]
        argv = (*self._client, "exec", "-i", *flags, *self._user, self.container, "sh", "-c", unpack, "mngr")
        return started(argv, given)

    def gone(self, complaint: str) -> UnreachableError:
        why = complaint.strip().splitlines()[-1] if complaint.strip() else "it ended"
        return UnreachableError(
            f'container "{self.name}" cannot be reached: {why.removeprefix("Error response from daemon: ")}',
            hint="mngr list --hosts shows which run",
        )


def started(argv: Sequence[str], env: Mapping[str, str] | None = None) -> LocalStream:
    """A running client; UnreachableError when there is none on this machine."""
    try:
        return process.stream(argv, env=env)
    except CommandFailedError as error:
        raise no_client(argv[0], error) from None


def no_client(command: str, error: CommandFailedError) -> UnreachableError:
    return UnreachableError(
        f"{command} cannot be run on this machine: {error.completed.complaint}",
        hint="install the Docker CLI, or name another client: [providers.docker] command",
    )


def _until_mark(stream: LocalStream, mark: str) -> str | None:
    """Reads the client's stderr up to the mark and no further; what was said instead where none came."""
    end, heard, deadline = mark.encode(), b"", time.monotonic() + _BEGIN_S
    poller = select.poll()
    poller.register(stream.stderr.fileno(), select.POLLIN)
    while not heard.endswith(end):
        if not poller.poll(max(0.0, deadline - time.monotonic()) * 1000):
            return f"no answer within {_BEGIN_S:g} s"
        byte = os.read(stream.stderr.fileno(), 1)
        if not byte:
            return heard.decode(errors="replace")
        heard += byte
    return None
