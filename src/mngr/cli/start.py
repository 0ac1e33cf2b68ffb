"""`mngr start`."""

from mngr.actions.start import start_row
from mngr.cli.call import Call
from mngr.cli.changes import change_text
from mngr.cli.dry_run import would
from mngr.cli.options import Chosen, dry_run_option, jobs_option, with_targets
from mngr.cli.outcome import report
from mngr.cli.targets import do_each
from mngr.cli.verb import verb
from mngr.model.agent import Change


@verb(
    "start",
    examples="""
        mngr start foo
        mngr start --all
        mngr start --where 'why=reboot'
    """,
)
@with_targets
@jobs_option
@dry_run_option
def command(call: Call, chosen: Chosen, *, jobs: int, dry_run: bool) -> int:
    """Bring stopped or ended agents back: same program, arguments, environment and directory.

    Where the agent's type can, its conversation goes on too. An agent that runs is left alone.
    """
    call.output.check(Change)
    if dry_run:
        return would(call, chosen, "start")
    outcomes = do_each(call, chosen, lambda _, row: start_row(row, call.manager), jobs)
    return report(
        call, chosen, outcomes, lambda change: change_text("Started", change, unchanged="Runs already:")
    )
