"""Where things are under a host dir."""

from msgspec import Struct

REMOVED = ".removed."
"""What the name of a directory begins with that is on its way out: renamed at once, and then removed file by file."""


class AgentPaths(Struct, frozen=True):
    """The files of one agent."""

    dir: str

    @property
    def spec(self) -> str:
        return f"{self.dir}/agent.json"

    @property
    def id(self) -> str:
        """The id itself, in a file that the agent's name links to."""
        return f"{self.dir}/id"

    @property
    def events(self) -> str:
        return f"{self.dir}/events.jsonl"

    @property
    def fold(self) -> str:
        return f"{self.dir}/fold.json"

    @property
    def run(self) -> str:
        """The 0600 file with cwd, environment and argv: the only place an agent's secrets are."""
        return f"{self.dir}/run.sh"

    @property
    def pid(self) -> str:
        return f"{self.dir}/pid"

    @property
    def exit(self) -> str:
        return f"{self.dir}/exit.json"

    @property
    def outbox(self) -> str:
        return f"{self.dir}/outbox"

    @property
    def result(self) -> str:
        return f"{self.dir}/outbox/result.json"

    @property
    def bin(self) -> str:
        """Programs for this agent alone, first on its PATH."""
        return f"{self.dir}/bin"

    @property
    def screen(self) -> str:
        """The last screen, kept when a session ends."""
        return f"{self.dir}/screen"

    @property
    def raw(self) -> str:
        return f"{self.dir}/raw"

    @property
    def raw_times(self) -> str:
        return f"{self.dir}/raw.tim"


class HostPaths(Struct, frozen=True):
    """The files of one host dir."""

    dir: str

    @property
    def agents(self) -> str:
        return f"{self.dir}/agents"

    @property
    def names(self) -> str:
        """A file per agent name that holds its id: linking it, which only one can, is what claims the name."""
        return f"{self.dir}/names"

    @property
    def bell(self) -> str:
        return f"{self.dir}/bell"

    @property
    def work(self) -> str:
        return f"{self.dir}/work"

    @property
    def snapshots(self) -> str:
        return f"{self.dir}/snapshots"

    @property
    def tmux(self) -> str:
        return f"{self.dir}/tmux"

    @property
    def socket(self) -> str:
        """The tmux socket: always in our own directory, also where its path is too long for a socket's address."""
        return f"{self.tmux}/socket"

    def agent(self, agent_id: str) -> AgentPaths:
        return AgentPaths(f"{self.agents}/{agent_id}")

    def name(self, name: str) -> str:
        return f"{self.names}/{name}"
