"""Commands that have this terminal to themselves: an editor, an attached pane."""

import os
import signal
import subprocess
import sys
from collections.abc import Mapping, Sequence
from typing import NoReturn

from mngr.process import child_env, exit_code


def run_in_terminal(argv: Sequence[str], *, env: Mapping[str, str] | None = None) -> int:
    """Lends our terminal to a command (an editor, an attached pane) and returns its exit code."""
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        return exit_code(subprocess.run(list(argv), env=child_env(env), check=False).returncode)
    finally:
        signal.signal(signal.SIGINT, before)


def replace_ourselves(argv: Sequence[str], *, env: Mapping[str, str] | None = None) -> NoReturn:
    """Becomes the command; returns never."""
    sys.stdout.flush()
    sys.stderr.flush()
    os.execvpe(argv[0], list(argv), child_env(env))
