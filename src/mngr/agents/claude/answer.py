"""Answers to what Claude Code asks: a permission, or a question with options, on its screen."""

import time

from mngr.agents.claude.observe import ClaudeObservation, observe
from mngr.agents.claude.screen import ClaudeScreen
from mngr.agents.command import receipt_of
from mngr.agents.shared.answers import option_number, plain_words, yes_or_no
from mngr.model.event import RESUMED, Event
from mngr.model.message import Delivery, Receipt
from mngr.process import wait_until
from mngr.sh.lines import append, ring
from mngr.sh.program import READ_AND_RUN, encode, quote
from mngr.tmux.pane import AgentPane, AroundPaste, paste, press

_EVIDENCE_S = 5.0


def choose(screen: ClaudeScreen, text: str) -> int:
    """The number of the option that a text means; 0 when it means none of them."""
    if number := option_number(text, len(screen.options)):
        return number
    is_yes = yes_or_no(text)
    for number, option in screen.options.items():
        shown = option.lower()
        if shown == plain_words(text) or (is_yes is not None and shown.startswith("yes" if is_yes else "no")):
            return number
    return 0


def answer(pane: AgentPane, seen: ClaudeObservation, text: str) -> Receipt:
    """Chooses an option, or types where one takes words; anything else is not sent."""
    number = choose(seen.screen, text)
    if number and number != seen.screen.free_text:
        pasted = paste(pane, b"", enter=False, around=AroundPaste(after=press(pane, str(number))))
    elif seen.screen.free_text:
        first = f"{press(pane, str(seen.screen.free_text))}\nsleep 0.3"
        pasted = paste(
            pane,
            text.encode(),
            enter=False,
            around=AroundPaste(before=first, after="sleep 0.3\n" + press(pane, quote("\r"))),
        )
    else:
        screen = seen.screen
        options = ", ".join(f"{number} ({text})" for number, text in screen.options.items())
        what_it_asks = (
            f"nothing was sent: it asks, and this is no answer to it; answer {options}: {screen.last_lines()}"
        )
        return Receipt(Delivery.BLOCKED, what_it_asks, time.time())
    if not pasted.taken:
        return receipt_of(pasted)
    # It was taken when the question is no longer there, or another one is.
    chosen = seen.screen.options.get(number, text)

    def moved_on() -> ClaudeObservation | None:
        now = observe(pane)
        is_other = (
            now.screen.options != seen.screen.options or now.screen.last_lines() != seen.screen.last_lines()
        )
        return now if not now.alive or is_other else None

    after = wait_until(moved_on, _EVIDENCE_S)
    now = time.time()
    if after is None:
        return Receipt(Delivery.UNKNOWN, f"it still asks {_EVIDENCE_S:g} s after the answer", now)
    if not after.alive:
        return Receipt(Delivery.UNKNOWN, "its process ended as the answer arrived", now)
    if after.activity in ("permission", "input") and not after.asks and not chosen.lower().startswith("no"):
        event = append(pane.agent.events, Event(now, RESUMED))
        pane.host.run(READ_AND_RUN, stdin=encode(f"{event}\n{ring(pane.paths.bell)}"))
    return Receipt(Delivery.DELIVERED, f"its question was answered: {chosen[:100]}", now)
