"""`mngr push`."""

import click

from mngr.actions.pull import Pulled
from mngr.actions.push import push, push_files
from mngr.actions.rows import Row
from mngr.cli.call import Call
from mngr.cli.commands.pull import pulled_text
from mngr.cli.dry_run import would
from mngr.cli.options import Chosen, dry_run_option, jobs_option, with_targets
from mngr.cli.outcome import report
from mngr.cli.stdin import Item
from mngr.cli.targets import do_each
from mngr.cli.verb import verb


@verb(
    "push",
    many_values=("--files",),
    examples="""
        mngr push foo
        mngr push foo --ref main
        mngr push foo --files fixtures/input.json
        mngr push --all
    """,
)
@with_targets
@click.option(
    "--ref", default="HEAD", show_default=True, metavar="REF", help="The commit of the source to send."
)
@click.option(
    "--files",
    "paths",
    multiple=True,
    metavar="PATH...",
    help="Files and folders for the top of its work dir, instead of commits.",
)
@jobs_option
@dry_run_option
def command(call: Call, chosen: Chosen, *, ref: str, paths: tuple[str, ...], jobs: int, dry_run: bool) -> int:
    """Bring commits of the source repository, or files, to agents.

    The agent's checked-out branch moves forward; where that would lose its work, it is refused.
    """
    call.output.check(Pulled)
    if dry_run:
        return would(call, chosen, "push to")

    def work(_: Item, row: Row) -> Pulled:
        if paths:
            return push_files(row.agent, paths, manager=call.manager)
        return push(row.agent, ref=ref, manager=call.manager)

    return report(call, chosen, do_each(call, chosen, work, jobs), pulled_text)
