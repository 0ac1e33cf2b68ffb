"""A Modal sandbox as a host: commands enter it through the SDK's exec, so it needs no sshd and no open port."""

import sys
from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

from mngr.errors import CapacityError, MngrError, NotFoundError, TimedOutError, UnreachableError
from mngr.hosts.container import HOST_DIR, InsideStream, as_ascii
from mngr.hosts.files import read_by_run, write_by_run
from mngr.hosts.framed_exec import framed_program, new_mark, plain_program
from mngr.hosts.modal.call import call, sdk
from mngr.hosts.modal.run import finish_command, start_command
from mngr.hosts.modal.sandbox import forget_task
from mngr.hosts.modal.stream import ModalStream
from mngr.process import Completed, Stream
from mngr.sh.program import argv, encode

_BEGIN_S = 30.0
# A sandbox is promised before it is there: Modal may have to find a machine for it, and to load the image.
_COME_UP_S = 600.0
_END_S = 5.0
# So much later than its deadline the end of a command is given up here.
_SLACK_S = 5.0


class ModalHost:
    """A running sandbox. A command that is run needs no descriptor but the connection of its sandbox."""

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
        mark = new_mark()
        return self._run(argv, framed_program(argv, env, cwd, mark), mark, stdin, timeout_s, has_errors=True)

    def run_output(self, argv: Sequence[str], *, timeout_s: float) -> Completed:
        """Like `run`, without input and without what the command says on stderr: one call less."""
        mark = new_mark()
        return self._run(argv, framed_program(argv, None, None, mark), mark, b"", timeout_s, has_errors=False)

    def stream(
        self, argv: Sequence[str], *, env: Mapping[str, str] | None = None, cwd: str | None = None
    ) -> Stream:
        mark = new_mark()
        program = plain_program(argv, env, cwd) + "\nexit $?\n"
        command = self._start(program, mark, has_input=True, has_errors=True)
        return InsideStream(ModalStream(command, f"a command on {self.name}"), lambda: self._end(mark))

    def read(self, path: str) -> bytes:
        return read_by_run(self, path)

    def write(self, path: str, data: bytes, mode: int = 0o600) -> None:
        write_by_run(self, path, data, mode)

    def attach_argv(self, argv: Sequence[str]) -> tuple[str, ...]:
        program = as_ascii(encode(plain_program(argv, None, None) + "\nexit $?\n"))
        return (sys.executable, "-P", "-m", "mngr.hosts.modal.attach", self._sandbox.object_id, program)

    def _run(
        self,
        argv: Sequence[str],
        program: str,
        mark: str,
        stdin: bytes,
        timeout_s: float,
        *,
        has_errors: bool,
    ) -> Completed:
        command = self._start(program, mark, has_input=bool(stdin), has_errors=has_errors)
        finishing = finish_command(command, mark, stdin, timeout_s, has_errors=has_errors)
        try:
            done = call("cannot hear a command", finishing, timeout_s + _SLACK_S)
        except TimedOutError:
            self._end(mark)
            raise TimedOutError(f"{argv[0]} on {self.name} did not end within {timeout_s:g} s") from None
        except KeyboardInterrupt:
            self._end(mark)
            raise
        if done.code < 0:
            raise self._gone(done.complaint)
        return done._replace(argv=tuple(argv))

    def _start(self, program: str, mark: str, *, has_input: bool, has_errors: bool) -> Any:
        async def begin() -> Any:
            start = partial(
                start_command, self._sandbox, program, mark, has_input=has_input, has_errors=has_errors
            )
            try:
                return await start()
            except sdk().exception.NotFoundError:
                if not forget_task(self._sandbox):
                    raise
                return await start()

        try:
            is_coming_up = self._begin_s > _BEGIN_S
            started = call("no command can be started", begin(), self._begin_s, watches=is_coming_up)
        except CapacityError:
            raise
        except (NotFoundError, UnreachableError) as error:
            raise self._gone(error.message) from error
        self._begin_s = _BEGIN_S
        return started

    def _end(self, mark: str) -> None:
        """Ends what has the mark, with its children: a command outlives its starter."""

        async def end() -> None:
            await (await self._sandbox.exec.aio(*argv("sh/end", mark), text=False)).wait.aio()

        try:
            call("cannot end a command", end(), _END_S)
        except MngrError:
            pass  # the sandbox is gone: the next call says so

    def _gone(self, complaint: str) -> UnreachableError:
        return UnreachableError(
            f'sandbox "{self.name}" cannot be reached: {complaint.strip() or "it ended"}',
            hint="mngr list --hosts shows which run",
        )
