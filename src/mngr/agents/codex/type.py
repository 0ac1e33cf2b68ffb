"""Codex, as people use it: its own screen in the pane, and messages through its app server."""

from collections.abc import Sequence

from mngr.agents.codex import home, session
from mngr.agents.codex.phase import phase
from mngr.agents.codex.send import send
from mngr.agents.protocol import Command
from mngr.hosts.protocol import Host
from mngr.model.agent import AgentSpec
from mngr.model.finding import Finding, LaunchPlan
from mngr.model.message import Receipt, Spending, Turn, Usage
from mngr.store.probe import Evidence
from mngr.store.state import Phase
from mngr.tmux.pane import AgentPane


class CodexType:
    """The type `codex`. Its arguments are those of the program."""

    name = "codex"

    def prepare(self, agent: AgentSpec, host: Host) -> None:
        home.make_home(agent, host)

    def command(self, agent: AgentSpec, host: Host) -> Command:
        return Command(home.launch_argv(agent, host), home.launch_env(agent, host))

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
        return Command(
            home.launch_argv(agent, host, session.thread_id(agent, host)), home.launch_env(agent, host)
        )

    def copy_conversation(self, agent: AgentSpec, clone: AgentSpec, host: Host) -> None:
        session.copy_session(agent, clone, host)

    def usage_script(self, agent: AgentSpec, host_dir: str) -> str:
        return session.spendings_script(agent, host_dir)

    def read_usage(self, output: bytes) -> Sequence[Spending]:
        return session.read_spendings(output)

    def program(self) -> str:
        return "codex"

    def login_findings(self, plan: LaunchPlan) -> Sequence[Finding]:
        return home.login_findings(plan)
