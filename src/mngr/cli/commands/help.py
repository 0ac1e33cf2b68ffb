"""`mngr help`."""

import click

from mngr import registry
from mngr.cli.call import Call
from mngr.cli.commands import ALIASES, COMMANDS
from mngr.cli.overview import overview
from mngr.cli.render import put
from mngr.cli.shipped import read_shipped, shipped_topics
from mngr.cli.verb import verb
from mngr.errors import ExitCode, UsageError, did_you_mean


@verb(
    "help",
    uses_config=False,
    examples="""
        mngr help create
        mngr help pipes
        mngr help snapshot restore
    """,
)
@click.argument("words", nargs=-1, metavar="[COMMAND|TOPIC]")
@click.pass_context
def command(ctx: click.Context, _: Call, *, words: tuple[str, ...]) -> int:
    """Help on a command or a topic."""
    if not words:
        put(overview().rstrip("\n"))
        return ExitCode.DONE
    topics = shipped_topics()
    if words[0] in topics:
        put(read_shipped(f"topics/{words[0]}.txt").rstrip("\n"))
        return ExitCode.DONE
    known = [*COMMANDS, *ALIASES, *registry.entries(registry.COMMANDS)]
    if words[0] not in known:
        raise UsageError(f'no help on "{words[0]}"', hint=did_you_mean(words[0], [*known, *topics]))
    root = ctx.find_root().command
    with root.make_context("mngr", [*words, "--help"]) as context:
        root.invoke(context)
    return ExitCode.DONE
