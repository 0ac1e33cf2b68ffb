"""A host: where agents live."""

from enum import StrEnum
from typing import Annotated

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
    def address(self) -> str:
        """What stands after the @ of an agent's address."""
        return f"{self.name}.{self.provider}"

    @property
    def stopped_agent(self) -> str:
        """Why an agent is stopped whose host is."""
        return f"its host is stopped: {self.why}" if self.why else "its host is stopped"


class HostOptions(Struct, frozen=True, kw_only=True):
    """What can be asked of a new host, each field with its option of `mngr create` and what help says of it."""

    image: Annotated[str, "--image IMAGE", "The image of a new host."] = ""
    cpus: Annotated[float, "--cpus N", "Processors of a new host."] = 0.0
    memory: Annotated[str, "--memory SIZE", "Memory of a new host, such as 4G."] = ""
    offline: Annotated[bool, "--offline", "A new host without network."] = False
    snapshot: Annotated[str, "--snapshot NAME", "Start from a snapshot."] = ""
    idle_timeout: Annotated[str, "--idle-timeout DURATION", "Stop the host after this long without work."] = (
        ""
    )
    lease: Annotated[
        str, "--lease DURATION", "Stop the host when no mngr has looked at it for this long."
    ] = ""
    timeout: Annotated[str, "--timeout DURATION", "Stop the host after this long, whatever runs on it."] = ""


class HostSpec(HostOptions, frozen=True):
    """What a provider is asked to make. An option it cannot honour is an error (see `Provider.options`)."""

    name: str = ""
    tags: dict[str, str] = {}
