"""`mngr tutorial install-command`."""

import os
from contextlib import suppress

import click

import mngr
from mngr_e2e.authoring.agent.slash_command import NAME, shipped_text
from mngr_e2e.authoring.repository import write_file
from mngr_e2e.cli.output import print_json, print_text
from mngr_lib.safe_text import one_line


@click.command("install-command")
@click.option(
    "--dir",
    "folder",
    default=os.path.join(".claude", "commands"),
    show_default=True,
    metavar="DIR",
    help="Where Claude Code looks for commands.",
)
@click.option("-f", "--force", is_flag=True, help="Replace a file that is there and differs.")
@click.option("--json", "as_json", is_flag=True, help="One JSON document.")
def install_command(folder: str, force: bool, as_json: bool) -> int:
    """Write the slash command sync-tutorial-to-e2e-tests for Claude Code; twice is safe.

    \b
    mngr tutorial install-command
    mngr tutorial install-command --dir ~/.claude/commands
    """
    path = os.path.join(os.path.expanduser(folder), f"{NAME}.md")
    shipped = shipped_text().encode()
    there = None
    with suppress(FileNotFoundError), open(path, "rb") as file:
        there = file.read()
    if there not in (None, shipped) and not force:
        raise mngr.RefusedError(f"{path} is there and differs", hint="--force replaces it")
    if there != shipped:
        write_file(path, shipped)
    if as_json:
        print_json({"schema": 1, "path": path, "changed": there != shipped})
    else:
        print_text(
            f"{one_line(path)}: {'up to date' if there == shipped else 'written'}; in Claude Code: /{NAME}"
        )
    return 0
