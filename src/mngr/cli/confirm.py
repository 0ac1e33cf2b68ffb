"""Questions to the person at the terminal, if there is one."""

import sys

from mngr.cli.terminal_text import is_interactive
from mngr.errors import RefusedError
from mngr_lib.safe_text import one_line


def confirm(question: str, *, yes: bool) -> None:
    """Returns when the user agrees; raises RefusedError otherwise, also without a terminal."""
    if yes:
        return
    if not is_interactive():
        raise RefusedError(f"not done without a confirmation: {question}", hint="say --yes")
    if ask(f"{question} [y/N] ").lower() not in ("y", "yes"):
        raise RefusedError("nothing was done")


def ask(prompt: str) -> str:
    """One line from the terminal; the prompt is on stderr, so that stdout stays the result's."""
    sys.stdout.flush()
    sys.stderr.write(one_line(prompt))
    sys.stderr.flush()
    return sys.stdin.readline().strip()
