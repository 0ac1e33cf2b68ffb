"""An agent's pane: look at it, capture it, paste into it."""

from msgspec import Struct

from mngr.hosts.protocol import Host
from mngr.store.paths import AgentPaths, HostPaths


class AgentPane(Struct, frozen=True):
    """Where an agent's terminal is."""

    host: Host
    agent_id: str
    session: str

    @property
    def paths(self) -> HostPaths:
        return HostPaths(self.host.dir)

    @property
    def agent(self) -> AgentPaths:
        return self.paths.agent(self.agent_id)

    @property
    def target(self) -> str:
        """`=` makes tmux match the whole name; without it `foo` also finds `foo-2`."""
        return f"={self.session}:0.0"
