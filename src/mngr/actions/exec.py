"""`exec`: a command on the agent's host, in its work dir and environment."""

import threading
import time
from collections.abc import Callable, Sequence
from typing import BinaryIO

from mngr.actions.environment import agent_shell_argv
from mngr.actions.manager import Manager, default_manager
from mngr.actions.rows import Row
from mngr.actions.targets import resolve_one
from mngr.errors import TimedOutError, UsageError
from mngr.model.agent import Agent
from mngr.process import Stream

_CHUNK = 1 << 16
# A grandchild may keep the pipes open after the command ended: for so long it may be silent.
_DRAIN_S = 0.5
_JOIN_S = 1.0

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

    `on_output("stdout" | "stderr", bytes)` is called as output comes. TimedOutError, or an error of `on_output`, ends
    its whole process group.
    """
    manager = default_manager(manager)
    return exec_row(resolve_one(manager, agent), argv, timeout_s=timeout_s, stdin=stdin, on_output=on_output)


def exec_row(
    row: Row,
    argv: Sequence[str],
    *,
    timeout_s: float | None,
    stdin: BinaryIO | None,
    on_output: OnOutput,
    running: "RunningCommands | None" = None,
) -> int:
    """Like `exec_in`, for an agent that was found. An error of `on_output` ends the command and is raised here."""
    if not argv:
        raise UsageError("what should be run?", hint="mngr exec NAME -- PROGRAM ARGS")
    stream = row.host.stream(agent_shell_argv(row.host, row.agent.id, argv))
    command = _Command(stream, on_output)
    # Its output is handed on only in here: a reader that leaves at the first line interrupts us, and then it is ended.
    try:
        command.start()
        if running:
            running.add(command)
        if stdin:

            def body() -> None:
                try:
                    while data := stdin.read(_CHUNK):
                        stream.stdin.write(data)
                    stream.stdin.close()
                except (OSError, ValueError):
                    return

            threading.Thread(target=body, daemon=True).start()
        else:
            stream.stdin.close()
        code = stream.wait(timeout_s)
        command.drain()
    except TimedOutError:
        raise TimedOutError(f"{argv[0]} in {row.agent.name} did not end within {timeout_s:g} s") from None
    finally:
        command.end()
        command.join()
    if command.error is not None:
        raise command.error
    return code


class RunningCommands:
    """The commands of one call, so that another thread can end all of them."""

    def __init__(self) -> None:
        self._commands: list[_Command] = []
        self._is_over = False
        self._lock = threading.Lock()

    def add(self, command: "_Command") -> None:
        with self._lock:
            self._commands.append(command)
            is_over = self._is_over
        if is_over:
            command.end()

    def end(self) -> None:
        with self._lock:
            self._is_over = True
            commands = list(self._commands)
        for command in commands:
            command.end()


class _Command:
    """A command that runs, and the threads that hand on what it writes."""

    def __init__(self, stream: Stream, on_output: OnOutput) -> None:
        self.error: Exception | None = None
        self._stream, self._on_output = stream, on_output
        self._ending, self._is_ended = threading.Lock(), False
        self._pumps = [
            _Pump(stream.stdout, lambda data: self._hand_on("stdout", data)),
            _Pump(stream.stderr, lambda data: self._hand_on("stderr", data)),
        ]

    def start(self) -> None:
        """Begins to hand on what it writes."""
        for pump in self._pumps:
            pump.start()

    def end(self) -> None:
        """Kills it with all that it started, and returns when that is done; safe from any thread, and twice."""
        with self._ending:
            if not self._is_ended:
                self._is_ended = True
                self._stream.kill()

    def join(self) -> None:
        """Waits a moment for the threads: one that holds the lock of our stdout when Python ends would abort it."""
        for pump in self._pumps:
            if pump.is_alive():
                pump.join(_JOIN_S)

    def drain(self) -> None:
        """Waits until all that it wrote is handed on, however slow the reader; not for a grandchild that may write."""
        for pump in self._pumps:
            while pump.is_alive() and pump.idle_s() < _DRAIN_S:
                pump.join(_DRAIN_S / 10)

    def _hand_on(self, name: str, data: bytes) -> None:
        try:
            self._on_output(name, data)
        except Exception as error:
            self.error = self.error or error
            self.end()
            raise


class _Pump(threading.Thread):
    """Reads a pipe to its end and passes on what comes; stops where either fails."""

    def __init__(self, source: BinaryIO, sink: Callable[[bytes], None]) -> None:
        super().__init__(daemon=True)
        self._source, self._sink = source, sink
        self._waits_since: float | None = time.monotonic()

    def idle_s(self) -> float:
        """For how long nothing has come to be handed on."""
        since = self._waits_since
        return time.monotonic() - since if since is not None else 0.0

    def run(self) -> None:
        try:
            while data := self._source.read(_CHUNK):
                self._waits_since = None
                self._sink(data)
                self._waits_since = time.monotonic()
        except Exception:
            return  # the pipe was closed here, or the sink's error is known to the command
