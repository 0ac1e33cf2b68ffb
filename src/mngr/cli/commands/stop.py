"""`mngr stop`."""

from collections.abc import Iterator

import click

from mngr.actions.hosts import stop_host
from mngr.actions.rows import Row
from mngr.actions.stop import stop_rows
from mngr.cli.call import Call
from mngr.cli.dry_run import would
from mngr.cli.host_targets import with_hosts
from mngr.cli.options import Chosen, dry_run_option, duration, with_targets
from mngr.cli.outcome import TargetOutcome, report
from mngr.cli.render import change_text
from mngr.cli.targets import changes_of, do_together
from mngr.cli.verb import verb
from mngr.model.agent import Change


@verb(
    "stop",
    examples="""
        mngr stop foo
        mngr stop foo bar --grace 2s
        mngr stop --all
        mngr stop @box.docker
        mngr list --format jsonl --label batch=7 | mngr stop -
    """,
)
@with_targets
@click.option(
    "--grace", "grace_s", type=duration, default="10s", show_default=True, metavar="DURATION",
    help="How long a process may take to end by itself.",
)  # fmt: skip
@dry_run_option
def command(call: Call, chosen: Chosen, *, grace_s: float, dry_run: bool) -> int:
    """End agents' processes, whole trees of them, and keep their work.

    Returns as soon as they are gone. mngr start brings them back. @HOST.PROVIDER stops a host too, after
    its agents, where it can be started again.
    """
    call.output.check(Change)
    if dry_run:
        return would(call, chosen, "stop")

    def work(rows: list[Row]) -> list[Change]:
        return stop_rows(rows, grace_s=grace_s, manager=call.manager)

    def human(change: Change) -> str:
        return change_text("Stopped", change, unchanged="Not running:")

    def stop_agents(rest: Chosen) -> Iterator[TargetOutcome]:
        return do_together(call, rest, lambda rows: changes_of(work, rows))

    def stop_whole(host: str) -> list[Change]:
        return stop_host(host, grace_s=grace_s, manager=call.manager)

    return report(call, chosen, with_hosts(chosen, stop_whole, stop_agents), human)
