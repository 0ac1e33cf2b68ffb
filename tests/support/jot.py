"""The example program jot, installed as its users would install it, with its suite to run."""

import os
import shutil
import sys
from pathlib import Path

from tests.support.world import LEAN, TEMPORARY

from mngr import process
from mngr.process import CommandFailedError, Completed

EXAMPLE = Path(__file__).parents[2] / "examples/jot"


class Jot:
    """A copy of the example and a place where it is installed."""

    def __init__(self, folder: Path) -> None:
        self.site = folder / "site"
        self.root = shutil.copytree(EXAMPLE, folder / "jot", ignore=shutil.ignore_patterns(".mngr"))
        pip = [sys.executable, "-m", "pip", "install", "-q", "--disable-pip-version-check", "--no-deps"]
        source = shutil.copytree(self.root, folder / "source")
        argv = [*pip, "--no-build-isolation", "--no-index", "--target", str(self.site), str(source)]
        process.run(argv, timeout_s=120).check("install jot")

    def __call__(self, *argv: str) -> Completed:
        """Runs a program of this Python's environment in the example's folder, whatever its exit code."""
        programs = os.path.dirname(sys.executable)
        env = {
            "PATH": os.pathsep.join((str(self.site / "bin"), programs, os.environ["PATH"])),
            "PYTHONPATH": str(self.site),
            "HOME": str(self.root),
            "LANG": "C.UTF-8",
            **LEAN,
            **TEMPORARY,
        }
        try:
            return process.run(argv, env=env, cwd=str(self.root), timeout_s=300)
        except CommandFailedError as error:
            return error.completed

    def attempts(self, run: str) -> list[Path]:
        return sorted((self.root / ".mngr/e2e" / run).glob("*/attempt-1"))
