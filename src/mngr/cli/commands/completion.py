"""`mngr completion`."""

import click

from mngr.cli.call import Call
from mngr.cli.render import put
from mngr.cli.shipped import read_shipped
from mngr.cli.verb import verb
from mngr.errors import ExitCode


@verb(
    "completion",
    uses_config=False,
    examples="""
        eval "$(mngr completion bash)"
        mngr completion zsh >"${fpath[1]}/_mngr"
        mngr completion fish >~/.config/fish/completions/mngr.fish
    """,
)
@click.argument("shell", type=click.Choice(["bash", "zsh", "fish"]))
def command(_: Call, *, shell: str) -> int:
    """Print a script that completes commands, options and agents' names."""
    put(read_shipped(f"completion.{shell}").rstrip("\n"))
    return ExitCode.DONE
