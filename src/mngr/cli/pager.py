"""Long output on a terminal, shown by a pager as git does."""

import os
import sys
from tempfile import TemporaryDirectory

from mngr.cli.render import put_styled
from mngr.process import run_in_terminal


def show_paged(text: str) -> None:
    """Shows text that is safe for a terminal by `$MNGR_PAGER`, `$PAGER` or less."""
    pager = os.environ.get("MNGR_PAGER") or os.environ.get("PAGER") or "less"
    if not (sys.stdin.isatty() and sys.stdout.isatty()) or pager == "cat" or os.environ.get("TERM") == "dumb":
        put_styled(text)
        return
    with TemporaryDirectory(prefix="mngr-pager-") as folder:
        path = os.path.join(folder, "text")
        with open(path, "w", encoding="utf-8", errors="replace") as file:
            file.write(text)
        # The variable may hold options, so a shell splits it. As git has it: F ends it where all fits on one screen,
        # R shows colors, X leaves the text there.
        env = {"LESS": os.environ.get("LESS", "FRX")}
        code = run_in_terminal(["sh", "-c", f'{pager} <"$1"', "mngr", path], env=env)
    if code in (126, 127):
        put_styled(text)
