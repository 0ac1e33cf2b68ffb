"""A line of the journal: an intention before it is acted on, or a fact after."""

from typing import Any, Literal

from msgspec import Struct

Step = Literal["run", "base", "launch", "watch", "nudge", "pull", "stop", "verify", "integrate"]
Kind = Literal["intended", "done", "failed", "noted"]


class Entry(Struct, frozen=True, omit_defaults=True):
    """`task` is empty for what concerns the whole run; `data` holds what the step's own record says."""

    at: float
    step: Step
    kind: Kind
    task: str = ""
    attempt: int = 0
    message: str = ""
    data: dict[str, Any] = {}


class StopAsked(Struct, frozen=True):
    """The data of an intended stop, where its agent has a host of its own: end the host, or stop it with its files."""

    host: Literal["end", "stop"]
