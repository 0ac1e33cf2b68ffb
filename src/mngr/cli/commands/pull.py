"""`mngr pull`."""

import click

from mngr.actions.pull import Pulled, home_of, pull, pull_files, pull_outbox, pull_warnings
from mngr.actions.rows import Row
from mngr.cli.call import Call
from mngr.cli.dry_run import would
from mngr.cli.options import Chosen, dry_run_option, jobs_option, with_targets
from mngr.cli.outcome import report
from mngr.cli.render import with_notes
from mngr.cli.stdin import Item
from mngr.cli.targets import do_each
from mngr.cli.verb import verb
from mngr.errors import UsageError
from mngr.hosts.protocol import shares_files
from mngr_lib.safe_text import one_line


@verb(
    "pull",
    many_values=("--files",),
    examples="""
        mngr pull foo
        mngr pull foo --merge
        mngr pull foo --outbox --to results
        mngr pull foo --files 'build/*.log' --to logs
        mngr wait --all --until done --format jsonl | mngr pull -
    """,
)
@with_targets
@click.option(
    "--merge", "mode", flag_value="merge", default=None, help="Also merge it into the checked-out branch."
)
@click.option("--rebase", "mode", flag_value="rebase", help="Also put the checked-out branch on top of it.")
@click.option(
    "--ff-only", "mode", flag_value="ff-only", help="Also fast-forward the checked-out branch, or refuse."
)
@click.option("--include-dirty", is_flag=True, help="Bring its uncommitted work too.")
@click.option(
    "--outbox", is_flag=True, help="Instead of commits, what it put into $MNGR_OUTBOX; it goes into DIR/NAME."
)
@click.option(
    "--files",
    "patterns",
    multiple=True,
    metavar="PATTERN...",
    help="Instead of commits, these files of its work dir.",
)
@click.option("--to", default=None, metavar="DIR", help="Where files go; --outbox and --files need it.")
@click.option("--overwrite", is_flag=True, help="Replace files that are there already.")
@jobs_option
@dry_run_option
def command(
    call: Call,
    chosen: Chosen,
    *,
    mode: str | None,
    include_dirty: bool,
    outbox: bool,
    patterns: tuple[str, ...],
    to: str | None,
    overwrite: bool,
    jobs: int,
    dry_run: bool,
) -> int:
    """Bring an agent's commits home as a branch, or its files into a directory.

    The branch arrives in the source repository without touching the files checked out there; --merge, --rebase
    and --ff-only go on from there. Nothing is overwritten, unless you say --overwrite.
    """
    call.output.check(Pulled)
    if outbox and patterns:
        raise UsageError("--outbox and --files are two pulls", hint="do one after the other")
    if (outbox or patterns) and mode:
        raise UsageError(f"--{mode} goes with commits, not with files", hint="pull them one after the other")
    if (outbox or patterns) and to is None:
        raise UsageError("where should the files go?", hint="--to DIR")
    if to is not None and not (outbox or patterns):
        raise UsageError("--to goes with --outbox or --files", hint="commits arrive in the source repository")
    if dry_run:
        return would(call, chosen, "pull")

    def work(_: Item, row: Row) -> Pulled:
        if outbox:
            return pull_outbox(row.agent, to or ".", force=overwrite, manager=call.manager)
        if patterns:
            return pull_files(row.agent, patterns, to or ".", force=overwrite, manager=call.manager)
        if not shares_files(row.host):
            call.warn(*pull_warnings(home_of(row, call.manager)))
        return pull(row.agent, mode=mode or "", include_dirty=include_dirty, manager=call.manager)

    # Merging changes the one checked-out branch: side by side they would fight over it.
    return report(call, chosen, do_each(call, chosen, work, 1 if mode else jobs), pulled_text)


def pulled_text(pulled: Pulled) -> str:
    name = one_line(pulled.agent.name)
    if pulled.files or not pulled.branch:
        count = len(pulled.files)
        line = f"{name}: {count} file{'' if count == 1 else 's'}"
        return with_notes("\n".join([line, *(f"  {one_line(file)}" for file in pulled.files)]), pulled.notes)
    branch = one_line(pulled.branch) + (f" in {one_line(pulled.repository)}" if pulled.repository else "")
    if not pulled.changed:
        return with_notes(f"{name}: {branch} is up to date", pulled.notes)
    span = f"{pulled.before[:10]}..{pulled.after[:10]}" if pulled.before else f"new at {pulled.after[:10]}"
    return with_notes(f"{name}: {branch} {span}", pulled.notes)
