"""How a message reaches OpenCode: as a file that its plugin gives to the program, and the program's own answer."""

import time

from mngr.agents.opencode.answer import answer_to, what_it_asks
from mngr.agents.opencode.channel import PluginReply, request, see
from mngr.agents.shared.jsonl import table
from mngr.agents.shared.plain_text import check_text
from mngr.agents.shared.unknown_screen import end_of, tell_unknown
from mngr.errors import TimedOutError, UnreachableError
from mngr.model.message import Delivery, Receipt
from mngr.tmux.pane import AgentPane, capture, check_size

_NO_LOGIN = "No providers are available"
_ADVICE = "; give it the key of a provider by name (--pass-env), or the file of a login in MNGR_OPENCODE_CREDENTIALS"


def send(pane: AgentPane, message: bytes) -> Receipt:
    """Hands over one message, or the answer to what it asks, whatever characters it holds."""
    check_size(message)
    text = check_text(message, "OpenCode")
    try:
        seen = see(pane)
        if not seen.alive:
            return _blocked("its process has ended, or its session is gone")
        if not seen.is_up:
            tell_unknown(pane)
            return _blocked(f"its screen shows something unknown: {end_of(capture(pane))}")
        home = f"{pane.agent.dir}/opencode"
        if seen.asked:
            answer = answer_to(seen.asked[0], text)
            if answer is None:
                return _blocked(what_it_asks(seen.asked[0]))
            return _judge(request(pane.host, home, **answer), f"its question was answered: {text[:100]}")
        options = table(pane.host.read(f"{home}/prompt.json"))
        return _judge(
            request(pane.host, home, "prompt", text=text, options=options),
            "its conversation holds the message",
        )
    except (UnreachableError, TimedOutError) as error:
        return Receipt(Delivery.UNKNOWN, f"no word from its host: {error.message}", time.time())


def _judge(answer: PluginReply, why: str) -> Receipt:
    now = time.time()
    if answer.taken is False:
        return _blocked("its plugin does not take it")
    if answer.taken is None or not answer.reply:
        return Receipt(Delivery.UNKNOWN, "its plugin took it and has not said what became of it", now)
    if answer.reply.get("silent"):
        return Receipt(Delivery.UNKNOWN, "it took the message, which is not in its conversation yet", now)
    if answer.error:
        return _blocked(f"it said: {answer.error}{_ADVICE if _NO_LOGIN in answer.error else ''}")
    if answer.reply.get("busy"):
        return Receipt(Delivery.QUEUED, "it is busy and has it in its conversation, to be read next", now)
    return Receipt(Delivery.DELIVERED, why, now)


def _blocked(why: str) -> Receipt:
    return Receipt(Delivery.BLOCKED, f"nothing was sent: {why}", time.time())
