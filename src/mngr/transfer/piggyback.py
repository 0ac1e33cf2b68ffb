"""Shell lines that follow a transfer's own in the same visit to a host, and fail apart from them."""

from mngr.process import Completed
from mngr.sh.program import assignments, load
from mngr.transfer.git import prelude

THEN = "MNGR_THEN"
"""The variable that holds the lines: they may hold secrets, and everybody may read a command line."""
MOST = 100_000
"""How long they may be, in bytes: one variable of an environment may hold 128 KB on Linux."""


def followed(script: str, mark: str) -> str:
    """A program: the script and, where it succeeds, the lines in a shell of their own.

    The script's stdout may carry a protocol, so what they print follows a mark on stderr, as `apart` reads it.
    """
    before = f"{assignments(mark=mark)}then=${THEN}; unset {THEN}\n"
    return f"{before}(\n{prelude(script)})\n{load('sh/run_then')}"


def apart(done: Completed, mark: str) -> tuple[Completed, Completed | None]:
    """How the script ended, and how the lines did if they were reached."""
    before, *rest = done.stderr.split(mark.encode())
    if not rest:
        return done, None
    heard, output = rest[0], rest[1] if len(rest) > 1 else b""
    return done._replace(code=0, stderr=before), done._replace(stdout=output, stderr=heard)
