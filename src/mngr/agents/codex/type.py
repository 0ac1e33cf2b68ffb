"""Codex, as people use it: its own screen in the pane, and messages through its app server."""

from collections.abc import Sequence

from mngr.agents.codex import home, session
from mngr.agents.codex.phase import phase
from mngr.agents.codex.send import send
from mngr.agents.shared.coding_agent import CodingAgent
from mngr.hosts.protocol import Host
from mngr.model.agent import AgentSpec
from mngr.model.finding import Finding, LaunchPlan


class CodexType(CodingAgent):
    """The type `codex`."""

    name = program_name = "codex"
    home = home
    session = session
    phase = staticmethod(phase)
    send = staticmethod(send)

    def copy_conversation(self, agent: AgentSpec, clone: AgentSpec, host: Host) -> None:
        session.copy_session(agent, clone, host)

    def login_findings(self, plan: LaunchPlan) -> Sequence[Finding]:
        return home.login_findings(plan)
