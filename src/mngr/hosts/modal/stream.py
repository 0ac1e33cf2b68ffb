"""A command in a sandbox with real descriptors: the SDK's streams have none, so pipes are pumped to and from them."""

import asyncio
import fcntl
import os
from collections.abc import AsyncIterator
from typing import Any, BinaryIO, cast

from mngr.errors import TimedOutError, UnreachableError
from mngr.hosts.modal.call import in_our_words, sdk, start
from mngr.hosts.modal.run import WRITE_BYTES

# A pipe holds as much as this unless root raised the system's limit, and each write to Modal costs a round trip.
_PIPE_BYTES = 1 << 20


class ModalStream:
    """What the SDK calls a container process. To kill it is to let go of it: the command runs on."""

    def __init__(self, command: Any, name: str) -> None:
        self._command, self._name = command, name
        fed, feed = os.pipe()
        try:  # makes room for what comes while a write is under way
            fcntl.fcntl(fed, fcntl.F_SETPIPE_SZ, _PIPE_BYTES)
        except (AttributeError, OSError):
            pass  # another system, or too many such pipes: it is slower
        heard_out, out = os.pipe()
        heard_err, err = os.pipe()
        self.stdin = cast(BinaryIO, os.fdopen(feed, "wb", 0))
        self.stdout = cast(BinaryIO, os.fdopen(heard_out, "rb", 0))
        self.stderr = cast(BinaryIO, os.fdopen(heard_err, "rb", 0))
        self._pumps = [
            start(pump_in(fed, command.stdin)),
            start(pump_out(command.stdout, out)),
            start(pump_out(command.stderr, err)),
        ]

    def wait(self, timeout_s: float | None) -> int:
        waiting = start(self._command.wait.aio())
        try:
            return int(waiting.result(timeout_s))
        except TimeoutError:
            raise TimedOutError(f"{self._name} did not end within {timeout_s} s") from None
        except Exception as error:
            problem = in_our_words(f"{self._name} cannot be waited for", error)
            raise UnreachableError(problem.message, hint="see: mngr list --hosts") from error
        finally:
            waiting.cancel()

    def kill(self) -> None:
        for pump in self._pumps:
            pump.cancel()
        for pipe in (self.stdin, self.stdout, self.stderr):
            pipe.close()


async def pump_in(fd: int, to: Any) -> None:
    """Hands over what is written to our end, then its end; a command that has stopped listening costs nothing."""
    try:
        os.set_blocking(fd, False)
        while data := await _read_all(fd):
            to.write(data)
            await to.drain.aio()
        to.write_eof()
        await to.drain.aio()
    except (sdk().exception.Error, ValueError, OSError):
        pass
    finally:
        os.close(fd)


async def pump_out(of: AsyncIterator[bytes], fd: int) -> None:
    """Passes on what a command says; where the sandbox is lost our end just closes, and `wait` tells why."""
    try:
        os.set_blocking(fd, False)
        async for data in of:
            left = memoryview(data)
            while left:
                try:
                    left = left[os.write(fd, left) :]
                except BlockingIOError:
                    await _ready(fd, is_reading=False)
    except (sdk().exception.Error, OSError):
        pass
    finally:
        os.close(fd)


async def _read_all(fd: int) -> bytes:
    """All that is there now, up to the size of one write; nothing at the end."""
    held = bytearray()
    while len(held) < WRITE_BYTES:
        try:
            data = os.read(fd, min(_PIPE_BYTES, WRITE_BYTES - len(held)))
        except BlockingIOError:
            if held:
                break
            await _ready(fd, is_reading=True)
            continue
        if not data:
            break
        held += data
    return bytes(held)


async def _ready(fd: int, *, is_reading: bool) -> None:
    loop = asyncio.get_running_loop()
    ready = asyncio.Event()
    add, remove = (
        (loop.add_reader, loop.remove_reader) if is_reading else (loop.add_writer, loop.remove_writer)
    )
    add(fd, ready.set)
    try:
        await ready.wait()
    finally:
        remove(fd)
