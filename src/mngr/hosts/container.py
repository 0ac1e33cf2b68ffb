"""What containers and sandboxes have in common: the host dir, and how a program gets in and ends."""

from collections.abc import Callable, Mapping, Sequence
from typing import Protocol

from mngr.errors import TimedOutError, UnreachableError
from mngr.hosts.framed_exec import collect, framed_program, new_mark
from mngr.process import Completed, Stream
from mngr.sh.program import encode
from mngr_lib.trace import Span

# Any user of any image may write there, and a commit keeps it, which it would not with a volume.
HOST_DIR = "/var/tmp/mngr"
# One variable of an environment may hold 128 KB on Linux.
_PARCEL = 100_000


class Enterable(Protocol):
    """As much of a container as is needed to run a command to its end."""

    name: str
    provider: str

    def begin(self, program: str, mark: str) -> Stream: ...

    def end(self, mark: str) -> None: ...

    def gone(self, complaint: str) -> UnreachableError: ...


def run_inside(
    container: Enterable,
    argv: Sequence[str],
    stdin: bytes,
    timeout_s: float,
    env: Mapping[str, str] | None,
    cwd: str | None,
) -> Completed:
    """`Host.run` by a stream that cannot be trusted with the command's end."""
    mark = new_mark()
    with Span(argv, f"{container.name}.{container.provider}") as span:
        stream = container.begin(framed_program(argv, env, cwd, mark), mark)
        try:
            done = collect(stream, mark, stdin, timeout_s)._replace(argv=tuple(argv))
        except TimedOutError:
            stream.kill()
            container.end(mark)
            raise TimedOutError(f"{argv[0]} on {container.name} did not end within {timeout_s:g} s") from None
        except KeyboardInterrupt:
            stream.kill()
            container.end(mark)
            raise
        finally:
            stream.kill()
        if done.code < 0:
            raise container.gone(done.complaint)
        span.end(done.code)
        return done


class InsideStream:
    """A command inside. Killing it ends the command too, which would outlive its client."""

    def __init__(self, inner: Stream, end: Callable[[], None]) -> None:
        self.stdin, self.stdout, self.stderr = inner.stdin, inner.stdout, inner.stderr
        self._inner, self._end, self._has_ended = inner, end, False

    def wait(self, timeout_s: float | None) -> int:
        code = self._inner.wait(timeout_s)
        self._has_ended = True
        return code

    def kill(self) -> None:
        was_running, self._has_ended = not self._has_ended, True
        self._inner.kill()
        if was_running:
            self._end()


def parcels(program: str, mark: str, *, has_input: bool = True) -> tuple[dict[str, str], str]:
    """A program as variables of an environment, since everybody may read a command line, and what `sh -c` is given."""
    text = f": {mark}\n{program}"
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:  # JSON and the like know only Unicode
        text = as_ascii(encode(text))
    pieces = [text[at : at + _PARCEL] for at in range(0, len(text), _PARCEL)]
    names = [f"MNGR_DO_{number}" for number in range(len(pieces))]
    unpack = f'do="{"".join(f"${name}" for name in names)}"; unset {" ".join(names)}; eval "$do"'
    if not has_input:
        unpack = f"exec </dev/null; {unpack}"
    return dict(zip(names, pieces, strict=True)), unpack


def as_ascii(program: bytes) -> str:
    """A program that means the same, of letters and signs that nothing on the way changes."""
    octal = "".join(
        chr(byte) if byte == 10 or (32 <= byte < 127 and byte not in b"'\\") else f"\\0{byte:03o}"
        for byte in program
    )
    return f"""eval "$(printf %b '{octal}')\""""
