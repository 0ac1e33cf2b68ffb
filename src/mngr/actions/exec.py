"""`exec`: a command on the agent's host, in its work dir and environment."""

import threading
import time
from collections.abc import Callable, Sequence
from typing import BinaryIO

from mngr.actions.inside import inside
from mngr.actions.manager import Manager, default_manager
from mngr.actions.rows import Row
from mngr.actions.targets import resolve_one
from mngr.errors import TimedOutError, UsageError
from mngr.model.agent import Agent

_CHUNK = 1 << 16
# A grandchild may keep the pipes open after the command ended; then what was read so far is all.
_DRAIN_S = 0.5

OnOutput = Callable[[str, bytes], None]


def exec_in(
    agent: Agent | str,
    argv: Sequence[str],
    *,
    timeout_s: float | None = None,
    stdin: BinaryIO | None = None,
    on_output: OnOutput,
    manager: Manager | None = None,
) -> int:
    """Runs the command to its end and returns its own exit code (128 + n for signal n).

    `on_output("stdout" | "stderr", bytes)` is called as output comes. TimedOutError ends its whole process group.
    """
    manager = default_manager(manager)
    return exec_row(resolve_one(manager, agent), argv, timeout_s=timeout_s, stdin=stdin, on_output=on_output)


def exec_row(
    row: Row, argv: Sequence[str], *, timeout_s: float | None, stdin: BinaryIO | None, on_output: OnOutput
) -> int:
    if not argv:
        raise UsageError("what should be run?", hint="mngr exec NAME -- PROGRAM ARGS")
    stream = row.host.stream(inside(row.host, row.agent.id, argv))
    pumps = [
        _pump(stream.stdout, lambda data: on_output("stdout", data)),
        _pump(stream.stderr, lambda data: on_output("stderr", data)),
    ]
    if stdin:
        _feed(stdin, stream.stdin)
    else:
        stream.stdin.close()
    try:
        code = stream.wait(timeout_s)
        end = time.monotonic() + _DRAIN_S
        for pump in pumps:
            pump.join(max(0.0, end - time.monotonic()))
    except TimedOutError:
        raise TimedOutError(f"{argv[0]} in {row.agent.name} did not end within {timeout_s:g} s") from None
    finally:
        stream.kill()
    return code


def _pump(source: BinaryIO, sink: Callable[[bytes], None]) -> threading.Thread:
    def body() -> None:
        try:
            while data := source.read(_CHUNK):
                sink(data)
        except (OSError, ValueError):
            return

    thread = threading.Thread(target=body, daemon=True)
    thread.start()
    return thread


def _feed(source: BinaryIO, sink: BinaryIO) -> None:
    def body() -> None:
        try:
            while data := source.read(_CHUNK):
                sink.write(data)
            sink.close()
        except (OSError, ValueError):
            return

    threading.Thread(target=body, daemon=True).start()
