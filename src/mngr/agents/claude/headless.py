"""Claude Code without its screen: messages go in as JSON lines through a pipe, and every character arrives."""

from mngr.agents.claude import home, pipe
from mngr.agents.claude.type import ClaudeType
from mngr.hosts.protocol import Host
from mngr.model.agent import AgentSpec
from mngr.model.message import Receipt
from mngr.sh.program import quote
from mngr.tmux.pane import AgentPane


class ClaudeHeadlessType(ClaudeType):
    """The type `claude-headless`: the same program, home, hooks and records as `claude`.

    It asks for no permission: what it may not do is refused to it.
    """

    name = "claude-headless"
    launch_words = ("--print", "--verbose", "--input-format", "stream-json", "--output-format", "stream-json")

    def prepare(self, agent: AgentSpec, host: Host) -> None:
        home.make_home(agent, host)
        fifo = quote(f"{home.home_of(agent, host)}/in")
        host.run(("sh", "-c", f"[ -p {fifo} ] || mkfifo -m 600 {fifo}")).check(f'preparing "{agent.name}"')

    def send(self, pane: AgentPane, message: bytes) -> Receipt:
        """Writes one line into its pipe, then looks for its hook's report that it took it."""
        return pipe.send(pane, message)
