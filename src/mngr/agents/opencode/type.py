"""OpenCode, as people use it: its own screen in the pane, and messages through a plugin inside it."""

from collections.abc import Sequence

from mngr.agents.opencode import home, session
from mngr.agents.opencode.copy import copy_conversation
from mngr.agents.opencode.phase import phase
from mngr.agents.opencode.send import send
from mngr.agents.shared.coding_agent import CodingAgent
from mngr.agents.shared.login_file import login_file
from mngr.hosts.protocol import Host
from mngr.model.agent import AgentSpec
from mngr.model.finding import Finding, LaunchPlan


class OpenCodeType(CodingAgent):
    """The type `opencode`."""

    name = program_name = "opencode"
    home = home
    session = session
    phase = staticmethod(phase)
    send = staticmethod(send)

    def copy_conversation(self, agent: AgentSpec, clone: AgentSpec, host: Host) -> None:
        copy_conversation(agent, clone, host)

    def login_findings(self, plan: LaunchPlan) -> Sequence[Finding]:
        """Of a key nothing can be known: its providers are many, and some need none."""
        found = login_file("login of opencode", "MNGR_OPENCODE_CREDENTIALS", plan)
        return (found,) if found else ()
