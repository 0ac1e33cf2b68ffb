"""Shell lines that follow a transfer's own in the same visit to a host, and fail apart from them."""

from mngr.process import Completed
from mngr.transfer.git import prelude

THEN = "MNGR_THEN"
"""The variable that holds the lines: they may hold secrets, and everybody may read a command line."""
MOST = 100_000
"""How long they may be, in bytes: one variable of an environment may hold 128 KB on Linux."""


def followed(script: str, mark: str) -> str:
    """A program: the script and, where it succeeds, the lines in a shell of their own.

    The script's stdout may carry a protocol, so what they print follows a mark on stderr, as `apart` reads it.
    """
    # Not `( … ) || exit`: the script would go on after a failure.
    return f"""\
then=${THEN}; unset {THEN}
(
{prelude(script)})
code=$?; [ "$code" = 0 ] || exit "$code"
printf %s {mark} >&2
said=$(exec </dev/null; eval "$then")
code=$?; printf '%s%s' {mark} "$said" >&2
exit "$code"
"""


def apart(done: Completed, mark: str) -> tuple[Completed, Completed | None]:
    """How the script ended, and how the lines did if they were reached."""
    before, *rest = done.stderr.split(mark.encode())
    if not rest:
        return done, None
    heard, said = rest[0], rest[1] if len(rest) > 1 else b""
    return done._replace(code=0, stderr=before), done._replace(stdout=said, stderr=heard)
