"""A line of the journal: an intention before it is acted on, or a fact after."""

from typing import Literal

from msgspec import Struct, field

from mngr_tmr.model.facts import AnyFact

Step = Literal[
    "run", "base", "launch", "watch", "nudge", "pull", "stop", "verify", "integrate", "meter", "alert"
]
Kind = Literal["intended", "done", "failed", "noted", "later"]


class Entry(Struct, frozen=True, omit_defaults=True):
    """`task` is empty for what concerns the whole run. `message` is for people, and nothing is decided by it.

    The outcome "later" is a refusal for now: the step is to be tried again, as if it had not been.
    """

    at: float
    step: Step
    kind: Kind
    task: str = ""
    attempt: int = 0
    message: str = ""
    fact: AnyFact | None = field(default=None, name="data")
