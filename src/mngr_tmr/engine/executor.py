"""The interface between the loop and the world: threads and real agents, or a simulation."""

from collections.abc import Sequence
from typing import Protocol

from mngr_tmr.engine.observation import Poll
from mngr_tmr.model.entry import Entry


class Executor(Protocol):
    """Carries out intentions. An intention that is repeated after a crash takes up what the first one left."""

    def now(self) -> float:
        """The run's time: seconds since 1970, and never backwards."""
        ...

    def begin(self, intention: Entry) -> None:
        """Starts a step and returns at once; its outcome is one of the `results`."""
        ...

    def results(self, timeout_s: float) -> Sequence[Entry | Poll]:
        """Outcomes and polls since the last call; waits at most this long for the first of them."""
        ...
