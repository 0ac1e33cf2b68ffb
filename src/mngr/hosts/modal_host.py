"""A Modal sandbox as a host: commands enter it through the SDK's exec, so it needs no sshd and no open port."""

import sys
from collections.abc import Mapping, Sequence
from typing import Any

from mngr.errors import MngrError, NotFoundError, UnreachableError
from mngr.hosts.container import END, HOST_DIR, InsideStream, as_ascii, parcels, run_inside
from mngr.hosts.files import read_by_run, write_by_run
from mngr.hosts.marked import new_mark, plain_program
from mngr.hosts.modal_call import call
from mngr.hosts.modal_stream import ModalStream
from mngr.process import Completed, Stream
from mngr.store.script import encode

_BEGIN_S = 30.0
# A sandbox is promised before it is there: Modal may have to find a machine for it, and to bring the image.
_COME_UP_S = 600.0
_END_S = 5.0


class ModalHost:
    """A running sandbox."""

    provider = "modal"
    dir = HOST_DIR

    def __init__(self, name: str, sandbox: Any, *, is_new: bool = False) -> None:
        self.name, self._sandbox, self._begin_s = name, sandbox, _COME_UP_S if is_new else _BEGIN_S

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
        inner = self.begin(plain_program(argv, env, cwd) + "\nexit $?\n", mark)
        return InsideStream(inner, lambda: self.end(mark))

    def read(self, path: str) -> bytes:
        return read_by_run(self, path)

    def write(self, path: str, data: bytes, mode: int = 0o600) -> None:
        write_by_run(self, path, data, mode)

    def attach_argv(self, argv: Sequence[str]) -> tuple[str, ...]:
        program = as_ascii(encode(plain_program(argv, None, None) + "\nexit $?\n"))
        return (sys.executable, "-P", "-m", "mngr.hosts.modal_attach", self._sandbox.object_id, program)

    def begin(self, program: str, mark: str) -> ModalStream:
        """Starts a program there."""
        given, unpack = parcels(program, mark)
        return ModalStream(self._exec("sh", "-c", unpack, "mngr", env=given), f"a command on {self.name}")

    def end(self, mark: str) -> None:
        """Ends what has the mark, with its children: a command outlives whoever started it."""
        try:
            ending = self._exec("sh", "-c", END, "mngr-end", mark)
            call("cannot end a command", ending.wait.aio(), _END_S)
        except MngrError:
            pass  # the sandbox is gone: the next call says so

    def gone(self, said: str) -> UnreachableError:
        return UnreachableError(
            f'sandbox "{self.name}" cannot be reached: {said.strip() or "it ended"}',
            hint="mngr list --hosts shows which run",
        )

    def _exec(self, *argv: str, env: Mapping[str, str] | None = None) -> Any:
        work = self._sandbox.exec.aio(*argv, env=dict(env or {}), text=False)
        try:
            return call("no command can be started", work, self._begin_s)
        except (NotFoundError, UnreachableError) as error:
            raise self.gone(error.message) from error
