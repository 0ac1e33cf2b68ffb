"""Commands in a sandbox, as the task command router keeps them: started once by id, heard from any offset."""

import asyncio
import os
import re
import subprocess
import sys
from collections.abc import AsyncIterator, Mapping, Sequence
from typing import IO

# Runs a command on a terminal of the box itself. $1 rows, $2 columns, then the command.
_ON_A_TERMINAL = """
import fcntl, os, pty, select, struct, sys, termios
rows, columns, *argv = sys.argv[1:]
pid, fd = pty.fork()
if not pid:
    os.execvp(argv[0], argv)
fcntl.ioctl(fd, termios.TIOCSWINSZ, struct.pack("HHHH", int(rows), int(columns), 0, 0))
ears = [0, fd]
while True:
    for ear in select.select(ears, [], [])[0]:
        try:
            data = os.read(ear, 65536)
        except OSError:
            data = b""
        if not data and ear == fd:
            sys.exit(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) % 256)
        if not data:
            ears.remove(0)
        while data:
            data = data[os.write(fd if ear == 0 else 1, data):]
"""


def on_a_terminal(argv: Sequence[str], rows: int, columns: int) -> list[str]:
    # A box shares the interpreter itself, not the environment of the tests.
    return [
        os.path.realpath(sys.executable),
        "-c",
        _ON_A_TERMINAL,
        str(rows or 24),
        str(columns or 80),
        *argv,
    ]


class Output:
    """All that was said on one output."""

    def __init__(self) -> None:
        self._said, self._is_over, self._more = bytearray(), False, asyncio.Event()

    def add(self, data: bytes) -> None:
        self._said += data
        self._is_over = self._is_over or not data
        more, self._more = self._more, asyncio.Event()
        more.set()

    async def since(self, offset: int) -> AsyncIterator[bytes]:
        while True:
            more = self._more
            while offset < len(self._said):
                data = bytes(self._said[offset : offset + (1 << 16)])
                offset += len(data)
                yield data
            if self._is_over:
                return
            if more is self._more:
                await more.wait()


class Exec:
    """A command that was started; its input is counted when it is handed over, before it is read."""

    def __init__(self, child: "subprocess.Popen[bytes]") -> None:
        self._child, self._fed, self._lock = child, 0, asyncio.Lock()
        self._pipes: list[asyncio.BaseTransport] = []
        self.outputs = (Output(), Output())
        self.code: asyncio.Future[int] = asyncio.get_running_loop().create_future()

    @classmethod
    async def start(cls, argv: Sequence[str], env: Mapping[str, str]) -> "Exec":
        pipe = subprocess.PIPE
        child = subprocess.Popen(
            argv, stdin=pipe, stdout=pipe, stderr=pipe, env=dict(env), bufsize=0, start_new_session=True
        )
        made = cls(child)
        await made._connect()
        return made

    async def _connect(self) -> None:
        loop = asyncio.get_running_loop()
        feed, flow = await loop.connect_write_pipe(asyncio.streams.FlowControlMixin, self._child.stdin)
        self._stdin = asyncio.StreamWriter(feed, flow, None, loop)
        self._pipes.append(feed)
        self._tasks = [asyncio.create_task(self._bury())]
        await self._listen(self._child.stdout, self.outputs[0])
        await self._listen(self._child.stderr, self.outputs[1])

    async def _listen(self, pipe: IO[bytes] | None, output: Output) -> None:
        reader = asyncio.StreamReader()
        protocol = asyncio.StreamReaderProtocol(reader)
        transport, _ = await asyncio.get_running_loop().connect_read_pipe(lambda: protocol, pipe)
        self._pipes.append(transport)
        self._tasks.append(asyncio.create_task(self._hear(reader, output)))

    async def feed(self, offset: int, data: bytes, eof: bool) -> None:
        """Takes input once, however often it is sent. BrokenPipeError when nobody listens any more."""
        new = data[max(0, self._fed - offset) :]
        self._fed += len(new)
        async with self._lock:
            if self.code.done() and new:
                raise BrokenPipeError
            if new:
                self._stdin.write(new)
                await self._stdin.drain()
            if eof:
                self._stdin.close()

    async def end(self) -> None:
        """Lets go of everything, once the box has ended and the command with it."""
        await self.code
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        for pipe in self._pipes:
            pipe.close()

    async def _hear(self, pipe: asyncio.StreamReader, output: Output) -> None:
        while data := await pipe.read(1 << 16):
            output.add(data)
        output.add(b"")

    async def _bury(self) -> None:
        """Waits for the command alone: asyncio's own way also waits for all who have its pipes."""
        loop, ended, fd = asyncio.get_running_loop(), asyncio.Event(), os.pidfd_open(self._child.pid)
        try:
            loop.add_reader(fd, ended.set)
            await ended.wait()
        finally:
            loop.remove_reader(fd)
            os.close(fd)
        self.code.set_result(self._child.wait())


class StubExec:
    """A command that ended at once: a look with an answer that was made before, anything else without output."""

    def __init__(self, env: Mapping[str, str], look: bytes) -> None:
        program = "".join(value for name, value in sorted(env.items()) if name.startswith("MNGR_DO_"))
        found = re.search(r"^m=(\w+);", program, re.M)
        mark = f"<{found[1]}>".encode() if found else b""
        self.outputs = (Output(), Output())
        self.code: asyncio.Future[int] = asyncio.get_running_loop().create_future()
        self.code.set_result(0)
        said = look if "mngr-probe" in program else b""
        for output, text in zip(self.outputs, (said, b""), strict=True):
            if mark:
                output.add(mark + text + mark + b"000")
            output.add(b"")

    async def feed(self, _offset: int, _data: bytes, _eof: bool) -> None:
        """Takes input, and forgets it."""

    async def end(self) -> None:
        """There is nothing to let go of."""
