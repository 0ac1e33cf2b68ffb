"""The integration of a run as its journal tells it. It comes after all tasks, and nothing is decided by it."""

from typing import Literal

from msgspec import Struct
from msgspec.structs import replace

from mngr_tmr.model.entry import Entry


class IntegrationState(Struct, frozen=True):
    """The integration of a run, as far as the journal tells: the step it is at since `step_at`, or how it ended.

    `progress` is "none" also for runs of older versions, whose journals say nothing of it.
    """

    progress: Literal["none", "running", "done", "failed"] = "none"
    started_at: float = 0.0
    step: str = ""
    step_at: float = 0.0
    ended_at: float = 0.0
    message: str = ""

    def after(self, entry: Entry) -> "IntegrationState":
        """How it stands after one entry of its step."""
        if entry.kind == "intended":
            return IntegrationState("running", entry.at, step_at=entry.at)
        if entry.kind == "noted":
            return replace(self, step=entry.message, step_at=entry.at)
        return replace(self, progress=entry.kind, ended_at=entry.at, message=entry.message)
