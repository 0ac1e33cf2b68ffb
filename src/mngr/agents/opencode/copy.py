"""How a clone gets OpenCode's conversation: a copy of its database, taken while it runs or not."""

from mngr.agents.opencode.channel import request
from mngr.agents.opencode.home import home_of, make_home
from mngr.agents.opencode.session import session_id
from mngr.errors import MngrError
from mngr.hosts.protocol import Host
from mngr.model.agent import AgentSpec
from mngr.sh.codes import Exit
from mngr.sh.program import argv
from mngr.store.paths import HostPaths


def copy_conversation(agent: AgentSpec, clone: AgentSpec, host: Host) -> None:
    """Gives the clone its own copy, marked so that what it cost is not counted twice."""
    if not session_id(agent, host):
        return
    make_home(clone, host)
    source, target = home_of(agent, host), home_of(clone, host)
    database = f"{target}/data/opencode/opencode.db"
    state = HostPaths(host.dir).agent(agent.id).dir
    done = host.run(argv("agents/opencode/copy", source, target, state), timeout_s=600)
    if done.code != Exit.STILL_RUNS:
        done.check(f'copying the conversation of "{agent.name}"')
        return
    answer = request(host, source, "copy", to=database)
    if not answer.taken or answer.error:
        raise MngrError(
            f'the conversation of "{agent.name}" could not be copied: {answer.error or "its plugin does not answer"}',
            hint=f"mngr stop {agent.name}, then clone it",
        )
