"""`python -m mngr.hosts.modal.attach SANDBOX PROGRAM`: this terminal for a program in a sandbox.

Modal's exec has a terminal that never changes its size, so ours tells it: a second command finds the first by its mark
and sets the size of the terminal that it has.
"""

import asyncio
import os
import signal
import sys
import termios
import tty
from typing import Any

from mngr.errors import MngrError
from mngr.hosts.container import parcels
from mngr.hosts.framed_exec import new_mark
from mngr.hosts.modal.call import in_our_words, sdk
from mngr.hosts.modal.stream import pump_in, pump_out
from mngr.sh.program import argv

_HUNG_UP = 129


async def attach(sandbox_id: str, program: str) -> int:
    """Runs the program until it ends, and returns its exit code; when we are hung up, it is ended."""
    mark = new_mark()
    given, unpack = parcels(program, mark)
    sandbox = await sdk().Sandbox.from_id.aio(sandbox_id)
    command = await sandbox.exec.aio("sh", "-c", unpack, "mngr", env=given, pty=True, text=False)
    ended, hung_up = asyncio.ensure_future(command.wait.aio()), asyncio.Event()
    loop = asyncio.get_running_loop()
    for number in (signal.SIGHUP, signal.SIGTERM):
        loop.add_signal_handler(number, hung_up.set)
    sizes = asyncio.create_task(_keep_size(sandbox, mark))
    keys = asyncio.create_task(pump_in(os.dup(0), command.stdin))
    shown = asyncio.create_task(pump_out(command.stdout, os.dup(1)))
    gone = asyncio.create_task(hung_up.wait())
    try:
        await asyncio.wait([ended, gone], return_when=asyncio.FIRST_COMPLETED)
        if ended.done():
            await shown
            return int(ended.result())
        await (await sandbox.exec.aio(*argv("sh/end", mark))).wait.aio()
        return _HUNG_UP
    finally:
        for task in (ended, gone, keys, shown, sizes):
            task.cancel()


async def _keep_size(sandbox: Any, mark: str) -> None:
    """Passes on every new size of our terminal; the last of several is enough."""
    changed = asyncio.Event()
    asyncio.get_running_loop().add_signal_handler(signal.SIGWINCH, changed.set)
    while await changed.wait():
        changed.clear()
        columns, rows = os.get_terminal_size(0)
        words = argv("sh/resize", mark, str(rows), str(columns))
        await (await sandbox.exec.aio(*words)).wait.aio()


def main() -> int:
    sandbox_id, program = sys.argv[1:]
    before = termios.tcgetattr(0) if os.isatty(0) else None
    try:
        if before:
            tty.setraw(0, termios.TCSADRAIN)
        return asyncio.run(attach(sandbox_id, program))
    except MngrError as error:
        problem = error
    except Exception as error:
        problem = in_our_words("cannot attach to the sandbox", error)
    finally:
        if before:
            termios.tcsetattr(0, termios.TCSADRAIN, before)
    print(f"error: {problem.message}", file=sys.stderr)
    return problem.exit_code


if __name__ == "__main__":
    sys.exit(main())
