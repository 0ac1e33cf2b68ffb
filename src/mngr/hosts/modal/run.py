"""A command in a sandbox, run to its end: three or four calls, and no descriptor but the sandbox's connection."""

import asyncio
from collections.abc import AsyncIterator
from typing import Any

from mngr.errors import MngrError, TimedOutError
from mngr.hosts.container import parcels
from mngr.hosts.framed_exec import FramedOutput
from mngr.hosts.modal.call import sdk
from mngr.process import Completed

# One message holds at most so much: each costs a round trip, and many servers take no more than 4 MiB.
WRITE_BYTES = 2 << 20


async def start_command(sandbox: Any, program: str, mark: str, *, has_input: bool, has_errors: bool) -> Any:
    """Starts a program; without input or errors there is nothing to send or to read of them."""
    given, unpack = parcels(program, mark, has_input=has_input)
    kinds = sdk().stream_type.StreamType
    errors = kinds.PIPE if has_errors else kinds.DEVNULL
    return await sandbox.exec.aio("sh", "-c", unpack, "mngr", env=given, text=False, stderr=errors)


async def finish_command(
    command: Any, mark: str, stdin: bytes, timeout_s: float, *, has_errors: bool
) -> Completed:
    """Feeds and hears a command until its end; the code is -1 where its output ended without a mark.

    Raises TimedOutError at the deadline; the command runs on then.
    """
    out, err = FramedOutput(mark), FramedOutput(mark)
    outputs = [(command.stdout, out), *([(command.stderr, err)] if has_errors else [])]
    jobs = [asyncio.ensure_future(_hear(stream, output)) for stream, output in outputs]
    feeding = asyncio.ensure_future(_feed(command.stdin, stdin)) if stdin else None
    try:
        done, late = await asyncio.wait(jobs, timeout=timeout_s, return_when=asyncio.FIRST_EXCEPTION)
        for job in done:
            job.result()
        if late:
            raise TimedOutError(f"no end within {timeout_s:g} s")
    finally:
        for job in (*jobs, *([feeding] if feeding else [])):
            job.cancel()
    code = min(out.code, err.code) if has_errors else out.code
    return Completed((), code, out.framed, err.framed)


async def _hear(stream: AsyncIterator[bytes], output: FramedOutput) -> None:
    """Takes what a command says until its mark; where the sandbox is lost there is none."""
    try:
        async for data in stream:
            output.take(data)
            if output.is_done:
                return
    except MngrError:
        raise
    except (sdk().exception.Error, OSError) as error:
        output.take(f"{error}".encode())
    output.take(b"")


async def _feed(to: Any, data: bytes) -> None:
    """Hands over all input, then its end; a command that has stopped listening costs nothing."""
    try:
        for at in range(0, len(data), WRITE_BYTES):
            to.write(data[at : at + WRITE_BYTES])
            await to.drain.aio()
        to.write_eof()
        await to.drain.aio()
    except (sdk().exception.Error, ValueError, OSError):
        pass
