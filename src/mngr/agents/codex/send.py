"""How a message reaches Codex: a turn through its app server, believed when its session file holds the message."""

import os
import time

from mngr.agents.codex.answer import answer
from mngr.agents.codex.channel import Channel, Message, NotConnectedError, NotGrantedError
from mngr.agents.codex.screen import unknown_screen_text
from mngr.agents.shared.plain_text import check_text
from mngr.agents.shared.unknown_screen import lines_of, tell_unknown
from mngr.errors import TimedOutError, UnreachableError
from mngr.model.message import Delivery, Receipt
from mngr.process import wait_until
from mngr.sh.program import argv, quote
from mngr.tmux.pane import AgentPane, capture, check_size, pane_values
from mngr.tmux.server import tmux_sh

_COMES_UP_S = 45
# A screen that stays as it is for so long, without a conversation behind it, will not get one by itself.
_STUCK_S = 8
_EVIDENCE_S, _BUSY_S = 20.0, 1.0
_TICK_S = 0.05
_ASKED = ("waitingOnApproval", "waitingOnUserInput")
_TAIL = 1 << 20


def send(pane: AgentPane, message: bytes) -> Receipt:
    """Hands over one message, or the answer to what it asks, whatever characters it holds."""
    check_size(message)
    text = check_text(message, "Codex")

    def line() -> Channel | str | None:
        """A line to its app server; None while it comes up, and a word when it has ended."""
        if not _is_alive(pane):
            return "ended"
        try:
            return Channel(pane.host, f"{pane.agent.dir}/codex")
        except NotConnectedError:
            return None

    try:
        channel = wait_until(line, _COMES_UP_S, every_s=0.2)
        if not isinstance(channel, Channel):
            return _blocked(pane, "its app server does not answer")
        try:
            with channel:
                thread = _thread(channel, pane)
                if thread is None:
                    tell_unknown(pane)
                    return _blocked(pane)
                if any(flag in _ASKED for flag in thread["status"].get("activeFlags") or ()):
                    return answer(channel, pane, thread, text)
                return _start_turn(channel, pane, thread, text)
        except (NotConnectedError, NotGrantedError) as error:
            return _blocked(pane, error.message)
    except (UnreachableError, TimedOutError) as error:
        return Receipt(Delivery.UNKNOWN, f"no word from its host: {error.message}", time.time())


def _start_turn(channel: Channel, pane: AgentPane, thread: Message, text: str) -> Receipt:
    """Once the request is out, the message may have arrived: a lost line is then no proof that it did not."""
    ours = f"mngr-{os.urandom(8).hex()}"
    part = {"type": "text", "text": text}
    is_busy = thread["status"].get("type") == "active"
    try:
        channel.ask("turn/start", {"threadId": thread["id"], "clientUserMessageId": ours, "input": [part]})
    except NotConnectedError as error:
        return Receipt(Delivery.UNKNOWN, f"as the message was handed over: {error.message}", time.time())
    values = {**pane_values(pane), "session": str(thread.get("path")), "text": f'"client_id":"{ours}"'}
    timeout_s = _BUSY_S if is_busy else _EVIDENCE_S
    command = argv("agents/codex/sent", **values, tail=_TAIL, tries=int(timeout_s / _TICK_S))
    if pane.host.run(command, timeout_s=timeout_s + 60).code == 0:
        return Receipt(Delivery.DELIVERED, "its session file holds the message", time.time())
    if is_busy:
        return Receipt(Delivery.QUEUED, "it is busy and reads the message at its next pause", time.time())
    why = f"it took the message, which was not in its session file {_EVIDENCE_S:g} s later"
    return Receipt(Delivery.UNKNOWN, why, time.time())


def _thread(channel: Channel, pane: AgentPane) -> Message | None:
    """The conversation on its screen. None when a screen without one does not change any more."""
    since, before = time.monotonic(), ""

    def seen() -> Message | str | None:
        nonlocal since, before
        # Codex has short-lived conversations of its own, for titles, and one for each of its helpers.
        found: list[Message] = []
        for name in channel.ask("thread/loaded/list", {}).get("data", ()):
            try:
                thread = channel.ask("thread/read", {"threadId": name})["thread"]
            except NotGrantedError:
                continue  # a short-lived one that ended since it was listed
            if not thread.get("ephemeral") and not thread.get("parentThreadId"):
                found.append(thread)
        thread = max(found, key=lambda thread: thread.get("recencyAt") or 0, default=None)
        screen = "" if thread else " ".join(lines_of(capture(pane)))
        if screen != before:
            since, before = time.monotonic(), screen
        return thread or ("stuck" if time.monotonic() - since > _STUCK_S else None)

    found = wait_until(seen, _COMES_UP_S, every_s=0.2)
    return found if isinstance(found, dict) else None


def _is_alive(pane: AgentPane) -> bool:
    show = f"{tmux_sh(pane.paths)} display-message -p -t {quote(pane.target)} '#{{pane_dead}}'"
    script = f'[ "$({show} 2>/dev/null </dev/null)" = 0 ]'
    return pane.host.run(("sh", "-c", script, "mngr-codex")).code == 0


def _blocked(pane: AgentPane, why: str = "") -> Receipt:
    """Nothing was sent; without a reason, what is on the screen is in the way."""
    if not _is_alive(pane):
        why = "its process has ended, or its session is gone"
    return Receipt(
        Delivery.BLOCKED, f"nothing was sent: {why or unknown_screen_text(capture(pane))}", time.time()
    )
