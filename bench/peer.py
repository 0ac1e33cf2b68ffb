"""The published peer, `imbue-mngr` from PyPI, in a virtualenv of its own that is kept for the next run."""

import os
import subprocess
from collections.abc import Sequence

from bench.results import PEER
from bench.stage import Stage
from bench.timing import Step

PACKAGE = "imbue-mngr"
_VERSIONS = ("3.14", "3.13", "3.12")
_JOBS = 8


class NoPeerError(Exception):
    """The peer cannot be had here; the message says why."""


class Peer:
    """Its own flags for the same steps, as of its 0.3."""

    name = PEER

    def __init__(self, stage: Stage, program: str) -> None:
        self.stage = stage
        self._mngr = program

    def help(self) -> Step:
        return self._step("--help")

    def create(self, name: str) -> Step:
        return Step((self._create(name, "git-worktree"),))

    def run(self, name: str, program: Sequence[str]) -> Step:
        return Step((self._create(name, "none", program),))

    def create_many(self, names: Sequence[str]) -> Step:
        """It has no command for many: as many calls, some at once."""
        return Step(tuple(self._create(name, "git-worktree") for name in names), jobs=_JOBS)

    def fill(self, names: Sequence[str]) -> Step:
        return Step(tuple(self._create(name, "none") for name in names), jobs=_JOBS)

    def list(self) -> Step:
        return self._step("list")

    def exec(self, name: str) -> Step:
        return self._step("exec", name, "echo hello")

    def message(self, name: str) -> Step:
        return self._step("message", name, "-m", "hello")

    def stop(self, names: Sequence[str]) -> Step:
        return self._step("stop", *names)

    def destroy(self, names: Sequence[str]) -> Step:
        """By default it leaves the branch behind."""
        return self._step("destroy", *names, "--force")

    def destroy_stopped(self, names: Sequence[str]) -> Step:
        return self.destroy(names)

    def _create(
        self, name: str, transfer: str, program: Sequence[str] = ("sleep", "100000")
    ) -> tuple[str, ...]:
        flags = ("--type", "command", "--no-connect", "--transfer", transfer, "--yes")
        return (self._mngr, "create", name, *flags, "--", *program)

    def _step(self, *words: str) -> Step:
        return Step(((self._mngr, *words),))


def install() -> tuple[str, str]:
    """The peer's program and its version; NoPeerError when there is no Python for it or no way to fetch it."""
    cache = os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache")
    venv = f"{cache}/mngr-bench/peer"
    program = f"{venv}/bin/mngr"
    if not os.path.exists(f"{venv}/.ready"):
        python = find_python()
        if python is None:
            raise NoPeerError("the peer needs Python 3.12 or newer, and there is none here")
        _call((python, "-m", "venv", "--clear", venv), "its virtualenv could not be made")
        _call((f"{venv}/bin/pip", "install", "--quiet", PACKAGE), "pip could not install it")
        with open(f"{venv}/.ready", "w"):
            pass
    ask = (
        "from platform import python_version as p; from importlib.metadata import version as v; import sys; "
    )
    code = ask + "print(v(sys.argv[1]), p())"
    version, python_version = _call((f"{venv}/bin/python", "-c", code, PACKAGE), "it does not start").split()
    return program, f"{PACKAGE} {version} (Python {python_version})"


def find_python() -> str | None:
    """A Python ≥ 3.12 that starts: from PATH, else from pyenv; a pyenv shim of an unselected version does not start."""
    candidates = [f"python{version}" for version in _VERSIONS]
    candidates += [f"{path}/bin/python" for path in _pyenv_versions()]
    for candidate in candidates:
        try:
            real = _call(
                (candidate, "-c", "import sys, venv; print(sys.executable, sys.version_info >= (3, 12))"), ""
            )
        except NoPeerError:
            continue
        path, _, is_new = real.strip().rpartition(" ")
        if is_new == "True":
            return path
    return None


def _pyenv_versions() -> list[str]:
    try:
        root = _call(("pyenv", "root"), "").strip()
        return sorted((f"{root}/versions/{name}" for name in os.listdir(f"{root}/versions")), reverse=True)
    except (NoPeerError, OSError):
        return []


def _call(argv: tuple[str, ...], problem: str) -> str:
    try:
        done = subprocess.run(argv, capture_output=True, text=True, check=False, timeout=900)
    except (OSError, subprocess.TimeoutExpired):
        raise NoPeerError(f"no peer: {problem}") from None
    if done.returncode != 0:
        raise NoPeerError(f"no peer: {problem}")
    return done.stdout
