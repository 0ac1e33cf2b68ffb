"""Claude Code, as people use it: on its terminal, watched through its own hooks."""

from collections.abc import Sequence

from mngr.agents.claude import home, session
from mngr.agents.claude.phase import phase
from mngr.agents.claude.send import send
from mngr.agents.shared.coding_agent import CodingAgent
from mngr.hosts.protocol import Host
from mngr.model.agent import AgentSpec
from mngr.model.finding import Finding, LaunchPlan
from mngr.model.message import Receipt
from mngr.tmux.pane import AgentPane


class ClaudeType(CodingAgent):
    """The type `claude`."""

    name = program_name = "claude"
    home = home
    session = session
    phase = staticmethod(phase)

    def send(self, pane: AgentPane, message: bytes) -> Receipt:
        return send(pane, message)

    def copy_conversation(self, agent: AgentSpec, clone: AgentSpec, host: Host) -> None:
        session.copy_session(agent, clone, host)

    def login_findings(self, plan: LaunchPlan) -> Sequence[Finding]:
        from mngr.agents.claude.login import login_findings  # http.client: only preflights need it

        return login_findings(plan)
