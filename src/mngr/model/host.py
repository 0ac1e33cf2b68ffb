"""A host: where agents live."""

from enum import StrEnum

from msgspec import Struct


class HostState(StrEnum):
    RUNNING = "RUNNING"
    STOPPED = "STOPPED"
    UNREACHABLE = "UNREACHABLE"
    DESTROYED = "DESTROYED"


class HostRef(Struct, frozen=True):
    """Names a host in records: who provides it and how it does."""

    name: str = "local"
    provider: str = "local"
    state: HostState = HostState.RUNNING
    why: str = ""
    """Why it is stopped, where it ended by itself."""

    @property
    def stopped_agent(self) -> str:
        """Why an agent is stopped whose host is."""
        return f"its host is stopped: {self.why}" if self.why else "its host is stopped"


class HostSpec(Struct, frozen=True):
    """What a provider is asked to make. An option it cannot honour is an error (see `Provider.options`)."""

    name: str = ""
    image: str = ""
    cpus: float = 0
    memory: str = ""
    offline: bool = False
    snapshot: str = ""
    idle_timeout: str = ""
    lease: str = ""
    timeout: str = ""
    tags: dict[str, str] = {}
