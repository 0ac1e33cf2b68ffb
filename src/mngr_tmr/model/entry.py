"""A line of the journal: an intention before it is acted on, or a fact after."""

from typing import Any, Literal

from msgspec import Struct

Step = Literal["run", "base", "launch", "watch", "nudge", "pull", "stop", "verify", "integrate"]
Kind = Literal["intended", "done", "failed", "noted", "later"]


class Entry(Struct, frozen=True, omit_defaults=True):
    """`task` is empty for what concerns the whole run; `data` holds what the step's own record says.

    The outcome "later" is a refusal for now: the step is to be tried again, as if it had not been.
    """

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


class Later(Struct, frozen=True):
    """The data of an outcome "later": how long the provider asks to wait, 0 where it does not say, and a seed.

    The seed makes waits differ, so that those who were refused together do not come back together.
    """

    retry_after_s: float = 0.0
    seed: int = 0
