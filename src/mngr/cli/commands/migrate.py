"""`mngr migrate`."""

import click

from mngr.actions.migrate import destination, migrate
from mngr.cli.call import Call
from mngr.cli.dry_run import would
from mngr.cli.options import Chosen, dry_run_option, jobs_option
from mngr.cli.outcome import report
from mngr.cli.render import change_text
from mngr.cli.targets import do_each
from mngr.cli.verb import verb
from mngr.errors import UsageError
from mngr.model.agent import Change
from mngr_lib.safe_text import one_line


@verb(
    "migrate",
    examples="""
        mngr migrate foo @.docker
        mngr migrate foo @box.ssh
        mngr migrate foo bar@local
        mngr list --format jsonl --host box | mngr migrate - @.docker
    """,
)
@click.argument("names", nargs=-1, required=True, metavar="[AGENT|-]...")
@click.argument("target", metavar="[NAME]@HOST[.PROVIDER]")
@jobs_option
@dry_run_option
def command(call: Call, *, names: tuple[str, ...], target: str, jobs: int, dry_run: bool) -> int:
    """Move agents to another host: their work, commits, outbox and, where the type can, conversation.

    Each is stopped, copied and started there, and removed where it was. If that fails it goes on where it was.
    """
    call.output.check(Change)
    chosen = Chosen(names).check()
    address = destination(target, call.manager)
    if address.name and not chosen.is_one:
        raise UsageError(
            f'several agents cannot all be "{address.name}"',
            hint=f"leave it out: @{target.partition('@')[2]}",
        )
    if dry_run:
        return would(call, chosen, f"move to {target}:")
    outcomes = do_each(call, chosen, lambda _, row: migrate(row.agent, target, manager=call.manager), jobs)

    def text(change: Change) -> str:
        return f"{change_text('Moved', change)} to {one_line(change.agent.host.address)}"

    return report(call, chosen, outcomes, text)
