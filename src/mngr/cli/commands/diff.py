"""`mngr diff`."""

import os
import sys

import click
from msgspec.structs import replace

from mngr.actions.diff import AgentDiff, diff
from mngr.actions.targets import agent_of_directory
from mngr.cli.call import Call
from mngr.cli.pager import show_paged
from mngr.cli.render import put_bytes
from mngr.cli.terminal_text import paint, wants_colour
from mngr.cli.verb import verb
from mngr.errors import ExitCode, UsageError
from mngr_lib.safe_text import safe_lines

# What a changed line begins with; before the first @@ of a file there are only lines about the file.
_COLOURS = {"+": "green", "-": "red", "@": "blue"}


@verb(
    "diff",
    takes_command=True,
    examples="""
        mngr diff foo
        mngr diff foo --stat
        mngr diff foo -- src/ README.md
        mngr diff foo | git apply
    """,
)
@click.argument("agent", required=False, default="")
@click.option("--stat", is_flag=True, help="Files with the number of changed lines.")
@click.option("--name-only", is_flag=True, help="Only the names of changed files.")
@click.option("--exit-code", is_flag=True, help="Exit with 1 when there are changes, as git diff does.")
def command(
    call: Call, *, agent: str, args: tuple[str, ...], stat: bool, name_only: bool, exit_code: bool
) -> int:
    """Show what an agent has changed since it was created, commits and uncommitted work together.

    New files count, ignored ones do not. Paths after -- limit it. Without AGENT it is the agent of this directory, or
    the only one. On a terminal it is shown in colors and by $PAGER.
    """
    if stat and name_only:
        raise UsageError("--stat and --name-only are two forms", hint="give one")
    call.output.check(AgentDiff)
    form = "stat" if stat else "names" if name_only else ""
    found = diff(agent or agent_of_directory(call.manager), form=form, paths=args, manager=call.manager)
    if found.truncated:
        call.warn("the changes are larger than 64 MB: only the first part is shown")
    if call.output.is_human:
        _show(found, form)
    else:
        # JSON holds no bytes that are no UTF-8.
        text = os.fsencode(found.text).decode(errors="replace")
        call.output.one(replace(found, text=text), lambda: "")
    return ExitCode.FAILED if exit_code and found.text else ExitCode.DONE


def _show(found: AgentDiff, form: str) -> None:
    """For a pipe the bytes of git, so that `git apply` takes them; for a person safe and in colors."""
    if not sys.stdout.isatty():
        put_bytes(os.fsencode(found.text))
        return
    text = safe_lines(found.text).rstrip("\n") or "No changes"
    if form or not wants_colour(sys.stdout):
        show_paged(text)
        return
    lines, is_about_file = [], True
    for line in text.split("\n"):
        is_about_file = line.startswith("diff --git ") or (is_about_file and not line.startswith("@@"))
        lines.append(paint(line, "bold" if is_about_file else _COLOURS.get(line[:1], ""), on=True))
    show_paged("\n".join(lines))
