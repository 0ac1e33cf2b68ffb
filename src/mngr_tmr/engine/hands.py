"""What the loop needs of a world: the real one, with agents, or a simulated one, with none."""

from collections.abc import Sequence
from typing import Protocol

from mngr_tmr.engine.sight import Look
from mngr_tmr.model.entry import Entry


class Hands(Protocol):
    """Carries out intentions. Doing one a second time, after a crash, must find what the first left and go on."""

    def now(self) -> float:
        """The run's time: seconds since 1970, and never backwards."""
        ...

    def begin(self, intention: Entry) -> None:
        """Starts it and returns at once; its outcome comes with the news."""
        ...

    def news(self, timeout_s: float) -> Sequence[Entry | Look]:
        """Outcomes and looks since the last call; waits for the first of them, at most this long."""
        ...
