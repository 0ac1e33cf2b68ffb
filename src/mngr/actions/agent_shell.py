"""Where an agent is: its work dir and its environment, for commands that are run beside its program."""

from collections.abc import Sequence

from mngr.hosts.protocol import Host, shares_files
from mngr.sh.program import load
from mngr.store.paths import HostPaths


def agent_shell_argv(host: Host, agent_id: str, argv: Sequence[str]) -> list[str]:
    """The words that run a command as the agent would.

    On another host nothing of our environment arrives. Here it must not: what is run may be what an agent wrote.
    """
    run = HostPaths(host.dir).agent(agent_id).run
    enter = ["sh", "-c", load("sh/enter"), run] if shares_files(host) else ["sh", run]
    return [*enter, "--", *argv]
