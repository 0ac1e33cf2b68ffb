"""Answers to what Codex asks: a permission, or a question, which its app server repeats to everyone who joins."""

import time
from collections.abc import Callable
from typing import Any

from mngr.agents.codex.channel import Channel, Message, NotConnectedError
from mngr.agents.shared.answers import answers_to, option_number, questions_in, questions_text, yes_or_no
from mngr.model.event import NEEDS_INPUT, RESUMED, Event
from mngr.model.message import Delivery, Receipt
from mngr.sh.lines import append, ring
from mngr.sh.program import READ_AND_RUN, encode, quote
from mngr.tmux.pane import AgentPane

_EVIDENCE_S = 10.0
_QUESTION = "item/tool/requestUserInput"
_FILE_CHANGE = "item/fileChange/requestApproval"
_APPROVALS = ("item/commandExecution/requestApproval", _FILE_CHANGE)
_SHOWN = 2000

# As its own screen does: "no" ends the turn, so that the next message can say what to do instead.
_COMMAND: tuple[Any, ...] = ("accept", "cancel")
_FILES: tuple[Any, ...] = ("accept", "acceptForSession", "cancel")


def answer(channel: Channel, pane: AgentPane, thread: Message, text: str) -> Receipt:
    """Answers the first thing it asks; what is no answer to it is not sent."""
    channel.ask("thread/resume", {"threadId": thread["id"], "excludeTurns": True})
    request = _wait_for(channel, lambda message: "id" in message and "method" in message)
    if request is None:
        return Receipt(
            Delivery.BLOCKED, "nothing was sent: it asks for something only its screen can show", time.time()
        )
    result = result_for(request, text)
    if result is None:
        return Receipt(Delivery.BLOCKED, _what_it_asks(request), time.time())
    request_id = request["id"]

    def is_resolved(message: Message) -> bool:
        is_about_one = message.get("method") == "serverRequest/resolved"
        return is_about_one and message["params"].get("requestId") == request_id

    try:
        channel.answer(request, result)
        is_taken = _wait_for(channel, is_resolved) is not None
    except NotConnectedError as error:
        return Receipt(Delivery.UNKNOWN, f"as the answer was handed over: {error.message}", time.time())
    if not is_taken:
        why = f"it did not say within {_EVIDENCE_S:g} s that it took the answer"
        return Receipt(Delivery.UNKNOWN, why, time.time())
    if result.get("decision") != "cancel":
        # Nothing else tells it before the tool is done; a hook that spoke meanwhile knows better.
        log = pane.agent.events
        event = append(log, Event(time.time(), RESUMED))
        script = f"tail -n 1 {quote(log)} | grep -q {NEEDS_INPUT} && {event}\n{ring(pane.paths.bell)}"
        pane.host.run(READ_AND_RUN, stdin=encode(script))
    return Receipt(Delivery.DELIVERED, f"its question was answered: {text[:100]}", time.time())


def result_for(request: Message, text: str) -> Message | None:
    """What to answer; None when the text is no answer to that."""
    method, params = str(request["method"]), request["params"]
    if method == _QUESTION:
        questions = questions_in(params)
        answers = answers_to(questions, text)
        if answers is None:
            return None
        pairs = zip(questions, answers, strict=True)
        return {"answers": {question["id"]: {"answers": [answer]} for question, answer in pairs}}
    is_yes = yes_or_no(text)
    if is_yes is None:
        options = _options(request) if method in _APPROVALS else ()
        number = option_number(text, len(options))
        return {"decision": options[number - 1]} if number else None
    if method in _APPROVALS:
        return {"decision": "accept" if is_yes else "cancel"}
    if method == "item/permissions/requestApproval":
        return {"permissions": params.get("permissions") if is_yes else {}}
    if method == "mcpServer/elicitation/request":
        return {"action": "accept", "content": {}} if is_yes else {"action": "decline"}
    return None


def _options(request: Message) -> tuple[Any, ...]:
    """The decisions in the order in which its screen numbers them."""
    if request["method"] == _FILE_CHANGE:
        return _FILES
    return tuple(request["params"].get("availableDecisions") or _COMMAND)


def _what_it_asks(request: Message) -> str:
    params = request["params"]
    if request["method"] == _QUESTION:
        return f"nothing was sent: {questions_text(questions_in(params))}"[:_SHOWN]
    subject = params.get("command") or params.get("message") or params.get("reason") or "to change files"
    why = f" ({params['reason']})" if params.get("reason") else ""
    numbers = ""
    if request["method"] in _APPROVALS:
        numbers = f", or a number from 1 to {len(_options(request))} as on its screen"
    return f"nothing was sent: it asks for permission; answer yes or no{numbers}: {subject}{why}"[:_SHOWN]


def _wait_for(channel: Channel, is_meant: Callable[[Message], bool]) -> Message | None:
    deadline = time.monotonic() + _EVIDENCE_S
    while (left := deadline - time.monotonic()) > 0:
        message = channel.listen(left)
        if message is None or is_meant(message):
            return message
    return None
