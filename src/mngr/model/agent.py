"""An agent: what it was created with (`AgentSpec`) and what everyone sees (`Agent`)."""

from enum import StrEnum
from typing import Any, Literal

from msgspec import Struct

from mngr.model.host import HostRef

SCHEMA = 1

ErrorKind = Literal["authentication", "billing", "permission", "model", "rate_limit", "other"]


class AgentState(StrEnum):
    CREATING = "CREATING"
    RUNNING = "RUNNING"
    WAITING = "WAITING"
    DONE = "DONE"
    STOPPED = "STOPPED"
    UNKNOWN = "UNKNOWN"


class WaitingReason(StrEnum):
    END_OF_TURN = "end_of_turn"
    PERMISSION = "permission"
    INPUT = "input"


class Creator(Struct, frozen=True):
    """The process that is creating an agent, so that others can tell an interrupted creation."""

    machine: str
    boot: str
    pid: int
    start: str


class AgentSpec(Struct, frozen=True, omit_defaults=True):
    """`agent.json`: written once, never edited. Holds no environment: that stays in the agent's 0600 run file."""

    id: str
    name: str
    type: str
    argv: tuple[str, ...]
    work_dir: str
    created_at: float
    schema: int = SCHEMA
    labels: dict[str, str] = {}
    project: str = ""
    branch: str = ""
    base_commit: str = ""
    source: str = ""
    source_machine: str = ""
    transfer: str = "none"
    owns_work_dir: bool = False
    owns_branch: bool = False
    owns_host: bool = False
    prefix: str = "mngr-"
    record: bool = False
    isolate: str = ""
    windows: dict[str, str] = {}
    type_options: dict[str, Any] = {}
    creator: Creator | None = None

    @property
    def session(self) -> str:
        return self.prefix + self.name


class ModelError(Struct, frozen=True):
    """What the model's provider, or the agent's program for it, said last. `rate_limit` and `other` may pass."""

    kind: ErrorKind
    message: str

    @property
    def is_final(self) -> bool:
        """Whether the same request cannot succeed before a person changes a key, an account or a model's name."""
        return self.kind not in ("rate_limit", "other")


class Agent(Struct, frozen=True):
    """The public record: what `list --json` prints and every verb returns."""

    id: str
    name: str
    address: str
    type: str
    state: AgentState
    schema: int = SCHEMA
    waiting_reason: WaitingReason | None = None
    why: str = ""
    exit_code: int | None = None
    signal: str | None = None
    labels: dict[str, str] = {}
    project: str = ""
    branch: str = ""
    base_commit: str = ""
    work_dir: str = ""
    source: str = ""
    transfer: str = ""
    host: HostRef = HostRef()
    session: str = ""
    attach: tuple[str, ...] = ()
    result: bool = False
    model_error: ModelError | None = None
    created_at: str | None = None
    started_at: str | None = None
    ended_at: str | None = None


class Change(Struct, frozen=True):
    """What a mutating verb returns: the agent afterwards, whether anything changed, and what to tell a person."""

    agent: Agent
    changed: bool
    notes: tuple[str, ...] = ()
