"""The protocol `AgentType`, and the optional protocols that an agent type may implement as well."""

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Protocol, runtime_checkable

from msgspec import Struct

from mngr.hosts.protocol import Host
from mngr.model.agent import AgentSpec
from mngr.model.message import Receipt, Spending, Turn, Usage
from mngr.store.probe import Evidence
from mngr.store.state import Phase

if TYPE_CHECKING:  # `list` needs none of them
    from mngr.model.finding import Finding, LaunchPlan
    from mngr.tmux.pane import AgentPane


class Command(Struct, frozen=True):
    """What to run for an agent: argv, and environment on top of what every agent gets."""

    argv: tuple[str, ...]
    env: dict[str, str] = {}


class AgentType(Protocol):
    """What to run for an agent, how to send it messages and what its evidence means. One object serves all agents."""

    name: str

    def prepare(self, agent: AgentSpec, host: Host) -> None:
        """Puts what the program needs on the host, inside the agent's own directory. Twice is safe."""
        ...

    def command(self, agent: AgentSpec, host: Host) -> Command:
        """What `run.sh` executes. Raises UsageError when the arguments make no sense for this type."""
        ...

    def phase(self, evidence: Evidence, now: float) -> Phase:
        """What a living agent is doing. Only asked while its process lives; `now` is the host's clock."""
        ...

    def send(self, pane: "AgentPane", message: bytes) -> Receipt:
        """Sends a message exactly once, or refuses it before anything is sent."""
        ...

    def usage(self, agent: AgentSpec, host: Host) -> Usage:
        """What it used so far, by its own records."""
        ...


@runtime_checkable
class Transcribed(Protocol):
    """A type that can return its conversation."""

    def transcript(self, agent: AgentSpec, host: Host) -> Iterable[Turn]: ...


@runtime_checkable
class Resumable(Protocol):
    """A type whose conversation survives a stop: `start` runs this instead, and `clone` copies the conversation."""

    def resume_command(self, agent: AgentSpec, host: Host) -> Command: ...
    def copy_conversation(self, agent: AgentSpec, clone: AgentSpec, host: Host) -> None: ...


@runtime_checkable
class Metered(Protocol):
    """A type whose records say what each answer cost; the scripts of many agents run as one on their host."""

    def usage_script(self, agent: AgentSpec, host_dir: str) -> str: ...
    def read_usage(self, output: bytes) -> Sequence[Spending]: ...


@runtime_checkable
class Preflighted(Protocol):
    """A type that can say, before anything is launched, what its agents would be missing."""

    def program(self) -> str:
        """The program that has to be on the PATH of the host."""
        ...

    def login_findings(self, plan: "LaunchPlan") -> "Sequence[Finding]":
        """Whether agents would have a login, and whether it is accepted if that can be asked within seconds.

        No finding means that it cannot be told. Values of variables are never in a finding.
        """
        ...
