"""What the types of coding agents share: each names its modules, and this class calls them."""

from collections.abc import Sequence
from typing import Protocol

from mngr.agents.prices import total
from mngr.agents.protocol import Command
from mngr.hosts.protocol import Host
from mngr.model.agent import AgentSpec
from mngr.model.message import Spending, Turn, Usage


class AgentHome(Protocol):
    """The module `home` of a type: the program's own directory, and how the program is started there."""

    def make_home(self, agent: AgentSpec, host: Host) -> None: ...
    def launch_argv(self, agent: AgentSpec, host: Host, *words: str) -> tuple[str, ...]: ...
    def launch_env(self, agent: AgentSpec, host: Host) -> dict[str, str]: ...


class AgentSession(Protocol):
    """The module `session` of a type: the conversation, and what each answer cost."""

    def resume_words(self, agent: AgentSpec, host: Host) -> tuple[str, ...]: ...
    def turns(self, agent: AgentSpec, host: Host) -> list[Turn]: ...
    def spendings_script(self, agent: AgentSpec, host_dir: str) -> str: ...
    def read_spendings(self, output: bytes) -> list[Spending]: ...


class CodingAgent:
    """A type with a home, sessions and a program of its own; its arguments are those of the program."""

    name: str
    program_name: str
    home: AgentHome
    session: AgentSession
    launch_words: tuple[str, ...] = ()
    """Words that every start of the program has."""

    def prepare(self, agent: AgentSpec, host: Host) -> None:
        self.home.make_home(agent, host)

    def command(self, agent: AgentSpec, host: Host) -> Command:
        argv = self.home.launch_argv(agent, host, *self.launch_words)
        return Command(argv, self.home.launch_env(agent, host))

    def resume_command(self, agent: AgentSpec, host: Host) -> Command:
        """Goes on with the last conversation; without one it begins."""
        words = (*self.launch_words, *self.session.resume_words(agent, host))
        return Command(self.home.launch_argv(agent, host, *words), self.home.launch_env(agent, host))

    def usage(self, agent: AgentSpec, host: Host) -> Usage:
        """All that it used so far, at the prices that come with mngr."""
        script = self.session.spendings_script(agent, host.dir)
        return total(self.session.read_spendings(host.run(("sh", "-c", script, "mngr-usage")).stdout))

    def transcript(self, agent: AgentSpec, host: Host) -> Sequence[Turn]:
        return self.session.turns(agent, host)

    def usage_script(self, agent: AgentSpec, host_dir: str) -> str:
        return self.session.spendings_script(agent, host_dir)

    def read_usage(self, output: bytes) -> Sequence[Spending]:
        return self.session.read_spendings(output)

    def program(self) -> str:
        return self.program_name
