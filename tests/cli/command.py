"""Runs the real `mngr`, through pipes or on a terminal."""

import fcntl
import os
import pty
import select
import subprocess
import sys
import termios
import time
from pathlib import Path
from typing import Any, NamedTuple

import msgspec
from tests.support.world import World

from mngr import process
from mngr.process import OnlyEnv
from mngr.testing.waiting import PATIENCE_S

ARGV = (sys.executable, "-m", "mngr")


class Done(NamedTuple):
    """How a command ended."""

    code: int
    stdout: str
    stderr: str

    @property
    def json(self) -> Any:
        return msgspec.json.decode(self.stdout)

    @property
    def lines(self) -> list[Any]:
        return [msgspec.json.decode(line) for line in self.stdout.splitlines()]


class Mngr:
    """`mngr("list", "--json")` in a world."""

    def __init__(self, world: World) -> None:
        self.world = world
        self.env = {**world.env, "PATH": f"{Path(sys.executable).parent}:{world.env['PATH']}"}

    def __call__(self, *words: str, stdin: str | bytes = b"", cwd: Path | None = None, **env: str) -> Done:
        data = stdin.encode() if isinstance(stdin, str) else stdin
        ran = process.run(
            [*ARGV, *words],
            stdin=data,
            timeout_s=PATIENCE_S,
            env=OnlyEnv({**self.env, **env}),
            cwd=str(cwd or self.world.repo),
        )
        return Done(ran.code, ran.stdout.decode(errors="replace"), ran.stderr.decode(errors="replace"))

    def ok(self, *words: str, stdin: str | bytes = b"", **env: str) -> Done:
        done = self(*words, stdin=stdin, cwd=None, **env)
        assert done.code == 0, done
        return done

    def start(self, *words: str, **env: str) -> "subprocess.Popen[bytes]":
        """The command with its pipes, for what happens while it runs."""
        return subprocess.Popen(
            [*ARGV, *words],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env={**self.env, **env},
            cwd=self.world.repo,
            bufsize=0,
        )

    def terminal(self, *words: str, **env: str) -> "Terminal":
        return Terminal([*ARGV, *words], {**self.env, "TERM": "xterm-256color", **env}, str(self.world.repo))


class Terminal:
    """A command on a terminal of 100 columns: what it shows, and keys for it."""

    def __init__(self, argv: list[str], env: dict[str, str], cwd: str) -> None:
        self._ours, theirs = pty.openpty()
        subprocess.run(["stty", "cols", "100", "rows", "30"], stdin=theirs, check=True)
        self.child = subprocess.Popen(
            argv,
            stdin=theirs,
            stdout=theirs,
            stderr=theirs,
            env=env,
            cwd=cwd,
            start_new_session=True,
            preexec_fn=lambda: fcntl.ioctl(0, termios.TIOCSCTTY, 0),
        )
        os.close(theirs)
        self.shown = ""

    def wait_for(self, text: str) -> None:
        deadline = time.monotonic() + PATIENCE_S
        while text not in self.shown:
            assert time.monotonic() < deadline, f"{text!r} is not in {self.shown!r}"
            assert self._read(), f"it ended, and {text!r} is not in {self.shown!r}"

    def type(self, keys: str) -> None:
        # tmux takes keys that come within a millisecond of each other for a paste, in which no key is bound.
        time.sleep(0.02)
        os.write(self._ours, keys.encode())

    def end(self) -> int:
        """Reads to its end and returns the exit code."""
        deadline = time.monotonic() + PATIENCE_S
        while self._read():
            assert time.monotonic() < deadline, self.shown
        os.close(self._ours)
        return self.child.wait(PATIENCE_S)

    def _read(self) -> bool:
        if not select.select([self._ours], [], [], 0.2)[0]:
            return True
        try:
            data = os.read(self._ours, 65536)
        except OSError:
            return False
        self.shown += data.decode(errors="replace")
        return bool(data)
