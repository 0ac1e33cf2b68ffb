"""A container as a host: commands enter it through `docker exec`, so it needs no sshd and no open port."""

import os
import select
import time
from collections.abc import Mapping, Sequence

from mngr import process
from mngr.errors import TimedOutError, UnreachableError
from mngr.hosts.files import read_by_run, write_by_run
from mngr.hosts.marked import collect, marked_program, new_mark, plain_program
from mngr.process import CommandFailedError, Completed, LocalStream, Stream
from mngr.store.script import encode

# Any user of any image may write there, and a commit keeps it, which it would not with a volume.
HOST_DIR = "/var/tmp/mngr"
_END_S = 5.0
_BEGIN_S = 30.0
# One variable of an environment may hold 128 KB on Linux.
_PARCEL = 100_000

# $1 the mark, which only the shell that runs the program has in its environment: it leads its process group.
_END = """for file in $(grep -slF "$1" /proc/[0-9]*/environ); do
  pid=${file#/proc/}; pid=${pid%/environ}
  kill -9 "-$pid" "$pid" 2>/dev/null
done
"""


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
        mark = new_mark()
        stream = self._exec(marked_program(argv, env, cwd, mark), mark)
        try:
            done = collect(stream, mark, stdin, timeout_s)._replace(argv=tuple(argv))
        except TimedOutError:
            stream.kill()
            self.end(mark)
            raise TimedOutError(f"{argv[0]} on {self.name} did not end within {timeout_s:g} s") from None
        except KeyboardInterrupt:
            stream.kill()
            self.end(mark)
            raise
        finally:
            stream.kill()
        if done.code < 0:
            raise gone(self.name, done.complaint)
        return done

    def stream(
        self, argv: Sequence[str], *, env: Mapping[str, str] | None = None, cwd: str | None = None
    ) -> Stream:
        mark = new_mark()
        begun = f"printf %s {mark} >&2\n"
        inner = self._exec(begun + plain_program(argv, env, cwd) + "\nexit $?\n", mark)
        stream = DockerStream(inner, self, mark)
        try:
            said = _until_mark(inner, mark)
        except BaseException:
            stream.kill()
            raise
        if said is not None:
            inner.kill()
            raise gone(self.name, said)
        return stream

    def read(self, path: str) -> bytes:
        return read_by_run(self, path)

    def write(self, path: str, data: bytes, mode: int = 0o600) -> None:
        write_by_run(self, path, data, mode)

    def attach_argv(self, argv: Sequence[str]) -> tuple[str, ...]:
        program = _as_ascii(encode(plain_program(argv, None, None) + "\nexit $?\n"))
        term = f"TERM={os.environ.get('TERM', 'xterm-256color')}"
        return (*self._client, "exec", "-it", "-e", term, *self._user, self.container, "sh", "-c", program)

    def end(self, mark: str) -> None:
        """Ends what has the mark, with its children: a client that is killed leaves its command running."""
        try:
            process.run(
                (*self._client, "exec", self.container, "sh", "-c", _END, "mngr-end", mark), timeout_s=_END_S
            )
        except (TimedOutError, CommandFailedError):
            pass  # the engine is gone: the next call says so

    def _exec(self, program: str, mark: str) -> LocalStream:
        """Starts a program there. It travels in the environment, since everybody may read a command line."""
        text = f": {mark}\n{program}"
        if not _is_text(text):
            text = _as_ascii(encode(text))
        parcels = [text[at : at + _PARCEL] for at in range(0, len(text), _PARCEL)]
        names = [f"MNGR_DO_{number}" for number in range(len(parcels))]
        unpack = f'do="{"".join(f"${name}" for name in names)}"; unset {" ".join(names)}; eval "$do"'
        given = [word for name in names for word in ("-e", name)]
        argv = (*self._client, "exec", "-i", *given, *self._user, self.container, "sh", "-c", unpack, "mngr")
        return started(argv, dict(zip(names, parcels, strict=True)))


class DockerStream:
    """A command there. Its pipes are those of our client, so they are real descriptors."""

    def __init__(self, inner: LocalStream, host: DockerHost, mark: str) -> None:
        self.stdin, self.stdout, self.stderr = inner.stdin, inner.stdout, inner.stderr
        self._inner, self._host, self._mark, self._has_ended = inner, host, mark, False

    def wait(self, timeout_s: float | None) -> int:
        code = self._inner.wait(timeout_s)
        self._has_ended = True
        return code

    def kill(self) -> None:
        was_running, self._has_ended = not self._has_ended, True
        self._inner.kill()
        if was_running:
            self._host.end(self._mark)


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


def gone(name: str, said: str) -> UnreachableError:
    why = said.strip().splitlines()[-1] if said.strip() else "it ended"
    return UnreachableError(
        f'container "{name}" cannot be reached: {why.removeprefix("Error response from daemon: ")}',
        hint="mngr list --hosts shows which run",
    )


def _until_mark(stream: LocalStream, mark: str) -> str | None:
    """Reads the client's stderr up to the mark and no further; what was said instead where none came."""
    wanted, heard, deadline = mark.encode(), b"", time.monotonic() + _BEGIN_S
    poller = select.poll()
    poller.register(stream.stderr.fileno(), select.POLLIN)
    while not heard.endswith(wanted):
        if not poller.poll(max(0.0, deadline - time.monotonic()) * 1000):
            return f"no answer within {_BEGIN_S:g} s"
        byte = os.read(stream.stderr.fileno(), 1)
        if not byte:
            return heard.decode(errors="replace")
        heard += byte
    return None


def _is_text(program: str) -> bool:
    """Whether it survives the engine's JSON, which knows only Unicode."""
    try:
        program.encode("utf-8")
    except UnicodeEncodeError:
        return False
    return True


def _as_ascii(program: bytes) -> str:
    """A program that means the same, of letters and signs that nothing on the way changes."""
    octal = "".join(
        chr(byte) if byte == 10 or (32 <= byte < 127 and byte not in b"'\\") else f"\\0{byte:03o}"
        for byte in program
    )
    return f"""eval "$(printf %b '{octal}')\""""
