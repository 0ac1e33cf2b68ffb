"""This project's `mngr`, as installed beside the interpreter that runs the benchmark."""

import os
import sys
from collections.abc import Sequence

import msgspec
from bench.results import OURS
from bench.stage import Stage
from bench.timing import Step

PROGRAM = ("sleep", "100000")


class Ours:
    """One command line per step; many agents go through stdin."""

    name = OURS

    def __init__(self, stage: Stage) -> None:
        self.stage = stage
        self._mngr = os.path.join(os.path.dirname(sys.executable), "mngr")

    def help(self) -> Step:
        return self._step("--help")

    def create(self, name: str) -> Step:
        return self._step("create", name, "--no-connect", "--", *PROGRAM)

    def run(self, name: str, program: Sequence[str]) -> Step:
        """An agent that runs this in the repository itself."""
        return self._step("create", name, "--no-connect", "--transfer", "none", "--", *program)

    def create_many(self, names: Sequence[str], *flags: str) -> Step:
        lines = [msgspec.json.encode({"name": name, "args": PROGRAM}) for name in names]
        return Step(((self._mngr, "create", "-", *flags),), stdin=b"\n".join(lines) + b"\n")

    def fill(self, names: Sequence[str]) -> Step:
        return self.create_many(names, "--transfer", "none")

    def list(self, *flags: str) -> Step:
        return self._step("list", *flags)

    def exec(self, name: str) -> Step:
        return self._step("exec", name, "--", "echo", "hello")

    def message(self, name: str) -> Step:
        return self._step("message", name, "-m", "hello")

    def stop(self, names: Sequence[str]) -> Step:
        return self._step("stop", *names)

    def destroy(self, names: Sequence[str]) -> Step:
        return self._step("destroy", "--yes", *names)

    def destroy_stopped(self, names: Sequence[str]) -> Step:
        return self.destroy(names)

    def _step(self, *words: str) -> Step:
        return Step(((self._mngr, *words),))
