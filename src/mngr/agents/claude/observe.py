"""One look at a Claude Code: its screen, what it said last, and where its session file is, in one round trip."""

import time

from msgspec import Struct

from mngr.agents.claude.screen import ClaudeScreen, ScreenKind, read_screen
from mngr.model.event import (
    NEEDS_INPUT,
    PROMPT_SUBMITTED,
    RESUMED,
    SCREEN_UNKNOWN,
    STARTED,
    TURN_ENDED,
)
from mngr.process import wait_until
from mngr.sh.program import argv
from mngr.store.fold import Folded, fold
from mngr.store.untrusted import read_event
from mngr.tmux.pane import AgentPane, pane_values

KINDS = "|".join((STARTED, PROMPT_SUBMITTED, TURN_ENDED, NEEDS_INPUT, RESUMED, SCREEN_UNKNOWN))
_READY_S = 45
# A screen that is not understood and stays as it is for so long will not become a prompt by itself.
_STUCK_S = 5


class ClaudeObservation(Struct, frozen=True):
    """What was seen. `alive` false: nothing else is known."""

    alive: bool
    screen: ClaudeScreen = ClaudeScreen(ScreenKind.UNKNOWN, "")
    activity: str = ""
    session_file: str = ""

    @property
    def says_it_asks(self) -> bool:
        return self.activity in ("permission", "input")

    @property
    def asks(self) -> bool:
        """Whether it waits for an answer: its own word and its screen agree."""
        return self.says_it_asks and self.screen.kind is ScreenKind.QUESTION

    @property
    def is_settled(self) -> bool:
        """A hook speaks before its question is drawn: until both agree, the prompt is no place to type into."""
        return not self.alive or self.asks or (self.screen.is_ready and not self.says_it_asks)


def observe(pane: AgentPane) -> ClaudeObservation:
    values = {
        **pane_values(pane),
        "log": pane.agent.events,
        "kinds": KINDS,
        "home_dir": f"{pane.agent.dir}/claude",
    }
    done = pane.host.run(argv("agents/claude/observe", **values))
    if done.code != 0:
        return ClaudeObservation(alive=False)
    last, _, rest = done.stdout.partition(b"\n")
    session, _, screen = rest.partition(b"\n")
    event = read_event(last)
    return ClaudeObservation(
        alive=True,
        screen=read_screen(screen.decode(errors="replace")),
        activity=fold(Folded(), [event]).activity if event else "",
        session_file=session.decode("utf-8", "surrogateescape"),
    )


def settled(pane: AgentPane) -> ClaudeObservation:
    """An observation that more waiting would not change: ready, asking, gone, or stuck with something unknown."""
    since, before = time.monotonic(), ""
    last = ClaudeObservation(alive=True)

    def look() -> ClaudeObservation | None:
        nonlocal since, before, last
        last = observe(pane)
        if last.screen.text != before:
            since, before = time.monotonic(), last.screen.text
        is_stuck = bool(before.strip()) and time.monotonic() - since > _STUCK_S
        return last if last.is_settled or is_stuck else None

    return wait_until(look, _READY_S, every_s=0.1) or last
