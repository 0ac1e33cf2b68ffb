"""OpenCode, as people use it: its own screen in the pane, and messages through a plugin inside it."""

from collections.abc import Sequence

from mngr.agents.opencode import home, session
from mngr.agents.opencode.copy import copy_conversation
from mngr.agents.opencode.phase import phase
from mngr.agents.opencode.send import send
from mngr.agents.protocol import Command
from mngr.agents.shared.login_file import login_file
from mngr.hosts.protocol import Host
from mngr.model.agent import AgentSpec
from mngr.model.finding import Finding, LaunchPlan
from mngr.model.message import Receipt, Spending, Turn, Usage
from mngr.store.probe import Evidence
from mngr.store.state import Phase
from mngr.tmux.pane import AgentPane


class OpenCodeType:
    """The type `opencode`. Its arguments are those of the program."""

    name = "opencode"

    def prepare(self, agent: AgentSpec, host: Host) -> None:
        home.make_home(agent, host)

    def command(self, agent: AgentSpec, host: Host) -> Command:
        return Command(home.launch_argv(agent, host), home.launch_env())

    def phase(self, evidence: Evidence, now: float) -> Phase:
        return phase(evidence, now)

    def send(self, pane: AgentPane, message: bytes) -> Receipt:
        return send(pane, message)

    def usage(self, agent: AgentSpec, host: Host) -> Usage:
        return session.used(agent, host)

    def transcript(self, agent: AgentSpec, host: Host) -> Sequence[Turn]:
        return session.turns(agent, host)

    def resume_command(self, agent: AgentSpec, host: Host) -> Command:
        """Goes on with the last conversation; without one it begins."""
        return Command(home.launch_argv(agent, host, session.session_id(agent, host)), home.launch_env())

    def copy_conversation(self, agent: AgentSpec, clone: AgentSpec, host: Host) -> None:
        copy_conversation(agent, clone, host)

    def usage_script(self, agent: AgentSpec, host_dir: str) -> str:
        return session.spendings_script(agent, host_dir)

    def read_usage(self, output: bytes) -> Sequence[Spending]:
        return session.read_spendings(output)

    def program(self) -> str:
        return "opencode"

    def login_findings(self, plan: LaunchPlan) -> Sequence[Finding]:
        """Of a key nothing can be told: its providers are many, and some need none."""
        found = login_file("login of opencode", "MNGR_OPENCODE_CREDENTIALS", plan)
        return (found,) if found else ()
