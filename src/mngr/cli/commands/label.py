"""`mngr label`."""

import click

from mngr.actions.filter import Filter
from mngr.actions.label import label
from mngr.cli.call import Call
from mngr.cli.dry_run import would
from mngr.cli.options import Chosen, all_option, dry_run_option, jobs_option, with_filters
from mngr.cli.outcome import report
from mngr.cli.render import change_text
from mngr.cli.table import labels_text
from mngr.cli.targets import do_each
from mngr.cli.verb import verb
from mngr.errors import UsageError
from mngr.model.agent import Change
from mngr.model.labels import parse_labels
from mngr_lib.safe_text import one_line


@verb(
    "label",
    examples="""
        mngr label foo task=docs owner=me
        mngr label foo bar --remove owner
        mngr label --running batch=7
    """,
)
@click.argument("words", nargs=-1, metavar="[AGENT|-]... [KEY=VALUE]...")
@click.option("--remove", "-r", multiple=True, metavar="KEY", help="Take a label off; repeatable.")
@with_filters
@all_option
@jobs_option
@dry_run_option
def command(
    call: Call,
    *,
    words: tuple[str, ...],
    remove: tuple[str, ...],
    filter: Filter,
    all: bool,
    jobs: int,
    dry_run: bool,
) -> int:
    """Put labels on agents, or take them off."""
    call.output.check(Change)
    labels = parse_labels(word for word in words if "=" in word)
    chosen = Chosen(tuple(word for word in words if "=" not in word), filter, all).check()
    if not labels and not remove:
        raise UsageError("which labels?", hint="mngr label AGENT KEY=VALUE, or --remove KEY")
    if dry_run:
        return would(call, chosen, "label")
    outcomes = do_each(
        call, chosen, lambda _, row: label(row.agent, labels, remove, manager=call.manager), jobs
    )
    return report(
        call,
        chosen,
        outcomes,
        lambda change: (
            f"{change_text('Labelled', change)}: {one_line(labels_text(change.agent.labels)) or 'no labels'}"
        ),
    )
