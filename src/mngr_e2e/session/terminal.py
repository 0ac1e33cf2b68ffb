"""Drives a full-screen program in a tmux server that belongs to the test alone."""

import os
import re
import shlex
import signal
import sys
import time
from collections.abc import Callable, Sequence

from msgspec import Struct

from mngr_e2e.recorder import writer
from mngr_e2e.session.runner import ask
from mngr_e2e.session.steps import TerminalSteps
from mngr_e2e.session.world.isolation import World

_POLL_S = 0.03
_RECORDER_S = 10.0
# To the program it is a terminal like any other: one that sees tmux around it may refuse to start tmux itself.
_PLAIN = "unset TMUX TMUX_PANE\n"
# A longer command line is cut by tmux near 16 KB.
_TYPED_AT_ONCE = 4000
_FIELDS = "#{cursor_x} #{cursor_y} #{pid} #{pane_dead} #{pane_dead_status},#{pane_dead_signal}"
_OPTIONS = (
    "set -s escape-time 0 ; set -g status off ; set -g default-shell /bin/sh ; "
    "set -g remain-on-exit on ; set -g remain-on-exit-format ''"
)


class Screen(Struct, frozen=True):
    """What a terminal showed at one moment; `cursor` is (column, row), both from 0."""

    rows: tuple[str, ...]
    cursor: tuple[int, int] = (0, 0)
    ended: bool = False
    exit_code: int | None = None

    @property
    def text(self) -> str:
        return "\n".join(self.rows).rstrip("\n")

    def shows(self, expected: "str | re.Pattern[str]") -> bool:
        return expected in self.text if isinstance(expected, str) else expected.search(self.text) is not None

    def __str__(self) -> str:
        return self.text


class Shape(Struct, frozen=True):
    """What to start in a terminal, and how large."""

    command: str
    cwd: str
    name: str
    cols: int = 100
    rows: int = 30


class TerminalError(AssertionError):
    """A terminal did not come to show what was waited for."""


class Terminal:
    """A program on a screen: send it keys, wait for what it shows."""

    def __init__(self, world: World, shape: Shape, artifacts: str, steps: TerminalSteps) -> None:
        self.command, self._shape, self._artifacts = shape.command, shape, artifacts
        self._world, self._steps, self._snapshots = world, steps, 0
        steps.begin(shape.command, (shape.cols, shape.rows))
        self._start()

    def keys(self, *names: str) -> None:
        """Presses keys by tmux's names: "Enter", "C-c", "Up", "F1", "x"."""
        started = time.time()
        self._press(*names)
        self._steps.note(f"keys {shlex.join(names)}", started)

    def type(self, text: str) -> None:
        """Types text as it is; a newline in it presses Enter."""
        started = time.time()
        for at, line in enumerate(text.split("\n")):
            if at:
                self._press("Enter")
            for start in range(0, len(line), _TYPED_AT_ONCE):
                part = line[start : start + _TYPED_AT_ONCE]
                # A word that ends in ";" ends tmux's command unless escaped.
                escaped = f"{part[:-1]}\\;" if part.endswith(";") else part
                self._tmux("send-keys", "-l", "-t", self._target, "--", escaped)
        self._steps.note(f"type {text!r}", started)

    def screen(self, name: str = "") -> Screen:
        """What it shows now; also saved with the test's artifacts."""
        started = time.time()
        shown = self.look()
        self._snapshots += 1
        words = re.sub(r"[^A-Za-z0-9_]+", "-", name)[:40]
        file_name = "-".join(filter(None, (self._shape.name, str(self._snapshots), words)))
        folder = os.path.join(self._artifacts, "screens")
        os.makedirs(folder, exist_ok=True)
        with open(os.path.join(folder, f"{file_name}.txt"), "w", encoding="utf-8") as file:
            file.write(shown.text + "\n")
        self._steps.note(f"screen {name}".rstrip(), started, shown=shown.text)
        return shown

    def look(self) -> Screen:
        """What it shows now, without a trace in the artifacts."""
        printed = self._tmux(
            "display-message",
            "-p",
            "-t",
            self._target,
            _FIELDS,
            ";",
            "capture-pane",
            "-p",
            "-t",
            self._target,
        )
        head, _, body = printed.partition("\n")
        x, y, server, dead, how = head.split()
        # "STATUS,SIGNAL"; neither is a number in the moment when tmux has seen the end and not yet how it came.
        status, _, number = how.partition(",")
        code = None
        if dead == "1" and number.isdigit():
            code = 128 + int(number)
        elif dead == "1" and status.isdigit():
            code = int(status)
        elif dead == "1":
            # libutempter swallows the signal that a child ended (tmux before 3.5): tmux looks again on another.
            os.kill(int(server), signal.SIGCHLD)
        rows = tuple(body.removesuffix("\n").split("\n"))
        return Screen(rows, (int(x), int(y)), code is not None, code)

    def wait_for(self, expected: "str | re.Pattern[str]", timeout_s: float = 30) -> Screen:
        """Waits until the screen shows a text or matches a pattern."""
        description = repr(expected if isinstance(expected, str) else expected.pattern)
        shown = self.watch(f"wait for {description}", lambda screen: screen.shows(expected), timeout_s)
        if not shown.shows(expected):
            raise TerminalError(f"{description} did not show within {timeout_s:g} s\n{self.describe(shown)}")
        return shown

    def wait_quiet(self, quiet_s: float = 0.3, timeout_s: float = 30) -> Screen:
        """Waits until the screen has not changed for a while; the program's end is quiet too."""
        latest, since = self.look(), time.monotonic()

        def is_quiet(shown: Screen) -> bool:
            nonlocal latest, since
            if shown != latest:
                latest, since = shown, time.monotonic()
            return shown.ended or time.monotonic() - since >= quiet_s

        shown = self.watch("wait until it is quiet", is_quiet, timeout_s)
        if not is_quiet(shown):
            raise TerminalError(f"the screen was not quiet within {timeout_s:g} s\n{self.describe(shown)}")
        return shown

    def watch(self, words: str, condition: Callable[[Screen], bool], timeout_s: float) -> Screen:
        """Like `wait_until`, and told in the transcript in these words, with the screen if it did not come."""
        started = time.time()
        shown = self.wait_until(condition, timeout_s)
        is_ok = condition(shown)
        self._steps.note(words, started, shown="" if is_ok else shown.text, is_ok=is_ok)
        return shown

    def wait_until(self, condition: Callable[[Screen], bool], timeout_s: float) -> Screen:
        """Looks until the condition holds, the program has ended, or time is up; the last screen either way."""
        deadline = time.monotonic() + timeout_s
        while True:
            shown = self.look()
            if condition(shown) or shown.ended or time.monotonic() >= deadline:
                return shown
            time.sleep(_POLL_S)

    def describe(self, shown: Screen) -> str:
        """A screen with its frame, for a failure's message."""
        ended = f"\n(ended with exit code {shown.exit_code})" if shown.ended else ""
        body = "\n".join(f"| {row}" for row in shown.text.split("\n"))
        return f"$ {self.command}\n{body}{ended}"

    def close(self) -> None:
        """Ends the program and its terminal; twice is safe."""
        ask(self._argv("kill-session", "-t", f"={self._shape.name}"), self._world.env)

    def await_recorder(self) -> None:
        """Waits until its recorder has begun: one that is ended before that keeps nothing of a short test."""
        deadline = time.monotonic() + _RECORDER_S
        while not os.path.exists(self._cast) and time.monotonic() < deadline:
            time.sleep(_POLL_S)

    def _press(self, *names: str) -> None:
        self._tmux("send-keys", "-t", self._target, "--", *names)

    @property
    def _target(self) -> str:
        return f"={self._shape.name}:"

    def _start(self) -> None:
        """Starts program and recording in one call of tmux, so that no output is lost to the recording."""
        shape = self._shape
        # The program is started by a server: what watches this process for commands that tests start learns of it here.
        sys.audit("mngr_e2e.terminal", ("sh", "-c", shape.command), shape.cwd, dict(self._world.env))
        size = ("-x", str(shape.cols), "-y", str(shape.rows), "-c", shape.cwd)
        new = ("new-session", "-d", "-s", shape.name, *size, _PLAIN + shape.command)
        pipe = ("pipe-pane", "-O", "-t", self._target, self._recorder())
        options = shlex.split(_OPTIONS)
        self._tmux("-f", "/dev/null", "start-server", ";", *options, ";", *new, ";", *pipe)

    @property
    def _cast(self) -> str:
        return os.path.join(self._artifacts, "casts", f"{self._shape.name}.cast")

    def _recorder(self) -> str:
        path = self._cast
        os.makedirs(os.path.dirname(path), exist_ok=True)
        size = (str(self._shape.cols), str(self._shape.rows))
        named = (writer.title_of(path), self.command, repr(time.time()))
        argv = (sys.executable, "-I", "-S", writer.__file__, path, *size, *named)
        # tmux expands % in a pipe's command as a date and # as a format.
        return f"exec {shlex.join(argv)}".replace("%", "%%").replace("#", "##")

    def _tmux(self, *words: str) -> str:
        code, output = ask(self._argv(*words), self._world.env)
        if code:
            raise TerminalError(f"tmux said: {output.strip()}\n$ {self.command}")
        return output

    def _argv(self, *words: str) -> Sequence[str]:
        return ("tmux", "-u", "-S", self._world.socket, *words)
