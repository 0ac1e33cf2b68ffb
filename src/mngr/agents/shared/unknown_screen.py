"""A screen that an agent type does not understand: its words, and the event that says so."""

import re
import time

from mngr.model.event import SCREEN_UNKNOWN, Event
from mngr.sh.lines import append, ring
from mngr.sh.program import READ_AND_RUN, encode
from mngr.tmux.pane import AgentPane

# Letters and signs are kept; drawings, which move, are not.
_DRAWING = re.compile("[\u2500-\u259f\u2800-\u28ff]+")
_LINES = 12


def lines_of(screen: str) -> list[str]:
    """The lines that say something."""
    stripped = (_DRAWING.sub("", line).strip() for line in screen.splitlines())
    return [line for line in stripped if line]


def end_of(screen: str) -> str:
    """The end of a screen in one line, for a person who has to see what is in the way."""
    return " | ".join(lines_of(screen)[-_LINES:]) or "(nothing is on it)"


def tell_unknown(pane: AgentPane) -> None:
    """Writes down that its screen is not understood, so that its state is UNKNOWN until it says something."""
    event = append(pane.agent.events, Event(time.time(), SCREEN_UNKNOWN))
    pane.host.run(READ_AND_RUN, stdin=encode(f"{event}\n{ring(pane.paths.bell)}"))
