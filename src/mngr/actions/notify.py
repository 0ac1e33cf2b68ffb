"""`[notify] command`: run once when an agent starts to wait, by the first process that sees it."""

from collections.abc import Iterable

from mngr import process
from mngr.actions.manager import Manager
from mngr.actions.rows import Row
from mngr.errors import MngrError
from mngr.model.agent import AgentState
from mngr.sh.program import READ_AND_RUN, encode, quote
from mngr.store.paths import HostPaths

_DEADLINE_S = 10.0


def notify(rows: Iterable[Row], manager: Manager) -> None:
    """Runs the user's command, with one sentence as its last argument, for each agent that newly waits."""
    command = manager.config.get("notify.command")
    if not command:
        return
    for row in rows:
        if row.agent.state != AgentState.WAITING:
            continue
        # The mark that this waiting was notified is made where the agent is.
        agent = HostPaths(row.host.dir).agent(row.agent.id)
        mark = f"{agent.dir}/told-{row.evidence.folded.activity_at or 0:.3f}"
        script = f"(set -C; : >{quote(mark)}) 2>/dev/null || exit 9\n"
        script += f"for old in {quote(agent.dir)}/told-*; do\n"
        script += f'  [ "$old" = {quote(mark)} ] || rm -f "$old"\ndone\n'
        if row.host.run(READ_AND_RUN, stdin=encode(script)).code:
            continue
        reason = (row.agent.waiting_reason or "waiting").replace("_", " ")
        sentence = f"{row.agent.name} waits: {reason}"
        argv = (
            ["sh", "-c", f'{command} "$@"', "mngr", sentence]
            if isinstance(command, str)
            else [*command, sentence]
        )
        env = {
            "MNGR_AGENT_NAME": row.agent.name,
            "MNGR_AGENT_ID": row.agent.id,
            "MNGR_WAITING_REASON": reason,
        }
        try:
            process.run(argv, env=env, timeout_s=_DEADLINE_S).check("notify.command")
        except MngrError as error:
            manager.warn(f"could not notify: {error.message}")
