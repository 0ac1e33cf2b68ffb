"""`mngr start`."""

from collections.abc import Iterator

from mngr.actions.hosts import start_host
from mngr.actions.start import start_row
from mngr.actions.start_hosts import start_stopped_hosts
from mngr.cli.call import Call
from mngr.cli.dry_run import would
from mngr.cli.host_targets import with_hosts
from mngr.cli.options import Chosen, dry_run_option, jobs_option, with_targets
from mngr.cli.outcome import TargetOutcome, report
from mngr.cli.render import change_text
from mngr.cli.targets import do_each
from mngr.cli.verb import verb
from mngr.model.agent import Change


@verb(
    "start",
    examples="""
        mngr start foo
        mngr start --all
        mngr start --where 'why=reboot'
        mngr start @box.docker
    """,
)
@with_targets
@jobs_option
@dry_run_option
def command(call: Call, chosen: Chosen, *, jobs: int, dry_run: bool) -> int:
    """Bring stopped or ended agents back: same program, arguments, environment and directory.

    Where the agent's type can, its conversation goes on too. An agent that runs is left alone. A stopped
    host is started first; @HOST.PROVIDER starts only the host.
    """
    call.output.check(Change)
    if dry_run:
        return would(call, chosen, "start")

    def start_agents(rest: Chosen) -> Iterator[TargetOutcome]:
        if not rest.from_stdin and not rest.is_empty:
            lost = start_stopped_hosts(rest.names, rest.filter, call.manager)
            if lost and rest.names:
                raise lost[0].why
        return do_each(call, rest, lambda _, row: start_row(row, call.manager), jobs)

    def start_whole(host: str) -> list[Change]:
        return [Change(agent, changed=False) for agent in start_host(host, manager=call.manager)]

    return report(
        call,
        chosen,
        with_hosts(chosen, start_whole, start_agents),
        lambda change: change_text("Started", change, unchanged="Left as it is:"),
    )
