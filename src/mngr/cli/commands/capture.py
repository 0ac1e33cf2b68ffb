"""`mngr capture`."""

import re
import sys

import click
from msgspec import Struct

from mngr.actions.capture import capture, cast
from mngr.actions.rows import Row
from mngr.cli.call import Call
from mngr.cli.follow import follow_screen
from mngr.cli.options import Chosen, jobs_option, with_targets
from mngr.cli.outcome import report
from mngr.cli.reader import while_read
from mngr.cli.render import put, put_bytes, put_styled
from mngr.cli.stdin import Item
from mngr.cli.targets import do_each
from mngr.cli.verb import verb
from mngr.errors import ExitCode, UsageError
from mngr.model.agent import Agent
from mngr_lib.safe_text import one_line, safe_lines

# tmux also prints links and changes of the character set; neither is a color.
_COLOR = re.compile(r"(\x1b\[[0-9;:]*m)")
_LINK = re.compile(r"\x1b\]8;[^\x1b\x07]*(?:\x1b\\|\x07)|[\x0e\x0f]")


class Captured(Struct, frozen=True):
    """What an agent's terminal shows."""

    agent: Agent
    screen: str


@verb(
    "capture",
    examples="""
        mngr capture foo
        mngr capture foo --full | less
        mngr capture foo --follow
        mngr capture foo --cast >foo.cast
    """,
)
@with_targets
@click.option("--full", is_flag=True, help="The whole history, not only the screen.")
@click.option("--ansi", is_flag=True, help="With colors, as escape sequences; all others are made visible.")
@click.option("--follow", is_flag=True, help="Go on with new lines until the agent ends.")
@click.option(
    "--cast", "wants_cast", is_flag=True, help="The recording as an asciicast (needs create --record)."
)
@jobs_option
def command(
    call: Call, chosen: Chosen, *, full: bool, ansi: bool, follow: bool, wants_cast: bool, jobs: int
) -> int:
    """Print what an agent's terminal shows; of a stopped agent, its last screen."""
    call.output.check(Captured)
    if (follow or wants_cast) and not chosen.is_one:
        raise UsageError("--follow and --cast go with one agent", hint="name one")
    if wants_cast:
        # The file as it is, unless a person would look at it.
        recording = cast(chosen.names[0], manager=call.manager)
        if sys.stdout.isatty():
            put(recording.decode(errors="replace").rstrip("\n"))
        else:
            put_bytes(recording)
        return ExitCode.DONE
    if follow:
        with while_read():
            return follow_screen(call, chosen.names[0])

    def work(_: Item, row: Row) -> Captured:
        return Captured(row.agent, capture(row.agent, full=full, ansi=ansi, manager=call.manager))

    def text_of(captured: Captured) -> str:
        if not chosen.is_one:
            put(f"==> {one_line(captured.agent.name)} <==", sys.stderr)
        screen = captured.screen.rstrip("\n")
        if not ansi:
            return screen
        put_styled(only_colors(screen))
        return ""

    return report(call, chosen, do_each(call, chosen, work, jobs), text_of)


def only_colors(text: str) -> str:
    """The text with the escape sequences that set colors and styles as they are, and everything else made safe."""
    pieces = _COLOR.split(_LINK.sub("", text))
    return "".join(piece if index % 2 else safe_lines(piece) for index, piece in enumerate(pieces))
