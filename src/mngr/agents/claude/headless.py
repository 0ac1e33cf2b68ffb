"""Claude Code without its screen: messages go in as JSON lines through a pipe, and every character arrives."""

from mngr.agents.claude import home, pipe, session
from mngr.agents.claude.type import ClaudeType
from mngr.agents.protocol import Command
from mngr.hosts.protocol import Host
from mngr.model.agent import AgentSpec
from mngr.model.message import Receipt
from mngr.sh.quote import quote
from mngr.tmux.pane import AgentPane

_WORDS = ("--print", "--verbose", "--input-format", "stream-json", "--output-format", "stream-json")


class ClaudeHeadlessType(ClaudeType):
    """The type `claude-headless`: the same program, home, hooks and records as `claude`.

    It asks for no permission: what it may not do is refused to it.
    """

    name = "claude-headless"

    def prepare(self, agent: AgentSpec, host: Host) -> None:
        home.make_home(agent, host)
        fifo = quote(f"{home.home_of(agent, host)}/in")
        host.run(("sh", "-c", f"[ -p {fifo} ] || mkfifo -m 600 {fifo}")).check(f'preparing "{agent.name}"')

    def command(self, agent: AgentSpec, host: Host) -> Command:
        return Command(home.launch_argv(agent, host, *_WORDS), home.launch_env(agent, host))

    def send(self, pane: AgentPane, message: bytes) -> Receipt:
        """Writes one line into its pipe, then looks for its hook's report that it took it."""
        return pipe.send(pane, message)

    def resume_command(self, agent: AgentSpec, host: Host) -> Command:
        """Goes on with the last conversation; without one it begins."""
        words = (*_WORDS, *session.resume_words(agent, host))
        return Command(home.launch_argv(agent, host, *words), home.launch_env(agent, host))
