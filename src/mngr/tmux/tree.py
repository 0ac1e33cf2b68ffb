"""Ending process trees: the agent's session, its descendants, and whatever still carries its id in its environment."""

from collections.abc import Sequence

from mngr.errors import MngrError
from mngr.hosts.protocol import Host
from mngr.sh.program import READ_AND_RUN, encode, program, words
from mngr.store.paths import HostPaths
from mngr.tmux.server import tmux_values


def end_trees_script(paths: HostPaths, agent_ids: Sequence[str], grace_s: float) -> str:
    """Shell lines that end these agents' processes: TERM, HUP for shells, KILL after the grace; `$left` survived."""
    dirs = (paths.agent(agent_id).dir for agent_id in agent_ids)
    call = words("mngr_end_trees", str(max(1, int(grace_s / 0.04))), *dirs)
    return f"{program('sh/lib/tree', **tmux_values(paths))}{call}\n"


def end_trees(host: Host, agent_ids: Sequence[str], *, grace_s: float) -> None:
    """Ends the processes of these agents on their host, or says which survived."""
    script = end_trees_script(HostPaths(host.dir), agent_ids, grace_s) + 'echo "$left"\n'
    done = host.run(READ_AND_RUN, stdin=encode(script), timeout_s=grace_s + 30)
    survivors = done.text.strip()
    if survivors:
        raise MngrError(
            f"processes {survivors} on {host.name} could not be ended", hint="are they yours to end?"
        )
