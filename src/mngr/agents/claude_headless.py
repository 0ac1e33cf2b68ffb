"""Claude Code without its screen: messages go in as JSON lines through a pipe, and every character arrives."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from mngr.agents.claude import claude_phase
from mngr.agents.protocol import Command
from mngr.hosts.protocol import Host
from mngr.model.agent import AgentSpec
from mngr.model.message import Receipt, Spending, Turn, Usage
from mngr.store.probe import Evidence
from mngr.store.script import quote
from mngr.store.state import Phase
from mngr.tmux.pane import AgentPane

if TYPE_CHECKING:
    from mngr.model.finding import Finding, LaunchPlan

_WORDS = ("--print", "--verbose", "--input-format", "stream-json", "--output-format", "stream-json")


class ClaudeHeadlessType:
    """The type `claude-headless`: the same program, home, hooks and records as `claude`. It asks for nothing: what it
    may not do is refused to it."""

    name = "claude-headless"

    def prepare(self, agent: AgentSpec, host: Host) -> None:
        from mngr.agents.claude_home import home_of, make_home

        make_home(agent, host)
        pipe = quote(f"{home_of(agent, host)}/in")
        host.run(("sh", "-c", f"[ -p {pipe} ] || mkfifo -m 600 {pipe}")).check(f'preparing "{agent.name}"')

    def command(self, agent: AgentSpec, host: Host) -> Command:
        from mngr.agents.claude_home import launch_argv, launch_env

        return Command(launch_argv(agent, host, *_WORDS), launch_env(agent, host))

    def phase(self, evidence: Evidence, now: float) -> Phase:
        return claude_phase(evidence, now)

    def send(self, pane: AgentPane, message: bytes) -> Receipt:
        """Writes one line into its pipe, then looks for its own word that it took it."""
        from mngr.agents.claude_pipe import send

        return send(pane, message)

    def usage(self, agent: AgentSpec, host: Host) -> Usage:
        from mngr.agents.claude_session import used

        return used(agent, host)

    def transcript(self, agent: AgentSpec, host: Host) -> Sequence[Turn]:
        from mngr.agents.claude_session import turns

        return turns(agent, host)

    def resume_command(self, agent: AgentSpec, host: Host) -> Command:
        """Goes on with the last conversation; without one it begins."""
        from mngr.agents.claude_home import launch_argv, launch_env
        from mngr.agents.claude_session import resume_words

        words = (*_WORDS, *resume_words(agent, host))
        return Command(launch_argv(agent, host, *words), launch_env(agent, host))

    def copy_conversation(self, agent: AgentSpec, clone: AgentSpec, host: Host) -> None:
        from mngr.agents.claude_session import copy_session

        copy_session(agent, clone, host)

    def usage_script(self, agent: AgentSpec, host_dir: str) -> str:
        from mngr.agents.claude_session import spendings_script

        return spendings_script(agent, host_dir)

    def read_usage(self, output: bytes) -> Sequence[Spending]:
        from mngr.agents.claude_session import read_spendings

        return read_spendings(output)

    def program(self) -> str:
        return "claude"

    def login_findings(self, plan: "LaunchPlan") -> "Sequence[Finding]":
        from mngr.agents.claude_login import login_findings

        return login_findings(plan)
