"""What is tried on every real coding agent in the same way."""

import os
import signal
import threading
import time

import pytest
from tests.agents.desk import Desk
from tests.support.model import Reply

import mngr
from mngr.model.agent import AgentState, WaitingReason
from mngr.model.message import Delivery
from mngr.process import wait_until
from mngr.testing.waiting import PATIENCE_S

_OURS = {"sh", "dash", "bash", "python", "python3", "sleep", "cat", "awk", "mawk"}


def idle_then_busy(desk: Desk, launcher: str = "") -> None:
    """A message to an idle one is confirmed after its own word, one to a busy one waits, and its end is seen.

    Nobody of ours stays beside an idle one: what its hooks start ends, and nothing polls. `launcher` only waits.
    """
    go = threading.Event()
    desk.model.add(Reply("at last", until=go), match="take your time")
    receipt = desk.send("take your time")
    word = next(event.at for event in reversed(desk.events()) if event.kind == "prompt_submitted")
    assert (receipt.status, word <= receipt.at) == (Delivery.DELIVERED, True), receipt
    desk.wait(AgentState.RUNNING)
    queued = desk.send("and one more\nthing")
    assert queued.status is Delivery.QUEUED, queued
    seen: list[float] = []

    def wait() -> None:
        desk.wait_turn()
        seen.append(time.time())

    waiter = threading.Thread(target=wait)
    waiter.start()
    go.set()
    waiter.join(PATIENCE_S)
    both = ["take your time", "and one more\nthing"]
    assert wait_until(lambda: desk.said("user") == both, PATIENCE_S), desk.said("user")
    end = next(event.at for event in desk.events() if event.kind == "turn_ended")
    assert end <= seen[0]
    desk.wait_turn()
    assert desk.said("user") == both
    ours = _OURS - {launcher}
    assert wait_until(lambda: not ours & _programs(desk), PATIENCE_S), _programs(desk)


def _programs(desk: Desk) -> set[str]:
    return {os.path.basename(os.fsdecode(seen.argv[0])) for seen in desk.world.processes().values()}


def twenty_messages(desk: Desk, *odd: str) -> None:
    """Twenty, the odd ones and one of 64 KB among them, are each taken once."""
    count = 19 - len(odd)
    texts = [f"message {number}: {'words ' * (number * 7 % 40)}end" for number in range(count)]
    texts += [*odd, "the long one " + "0123456789abcdef\n" * 3800 + "end"]
    for text in texts:
        receipt = desk.send(text)
        assert receipt.status in (Delivery.DELIVERED, Delivery.QUEUED), (receipt, desk.screen())
    assert wait_until(lambda: len(desk.said("user")) == 20, PATIENCE_S)
    assert sorted(desk.said("user")) == sorted(texts)
    desk.wait_turn()


def killed_in_a_turn(desk: Desk) -> None:
    """A crash is a row that says so, and nothing is sent to it."""
    never = threading.Event()
    desk.model.add(Reply("never", until=never), match="take your time")
    desk.send("remember the owl")
    desk.wait_turn()
    assert desk.send("take your time").status is Delivery.DELIVERED
    desk.wait(AgentState.RUNNING)
    os.kill(desk.pid(), signal.SIGKILL)
    killed = desk.wait(AgentState.DONE)
    never.set()
    assert killed.signal == "SIGKILL"
    with pytest.raises(mngr.RefusedError, match="DONE"):
        desk.send("are you there?")


def goes_on(desk: Desk) -> None:
    """Started again it knows what was said before."""
    mngr.start("foo", manager=desk.manager)
    assert desk.send("who was it?").status is Delivery.DELIVERED
    desk.wait_turn()
    assert desk.said("user")[0] == "remember the owl"
    assert desk.said("user")[-1] == "who was it?"
    assert "remember the owl" in str(desk.model.last.body), desk.model.last


def begins_anew(desk: Desk) -> None:
    """Started again without its records, it begins another conversation."""
    assert mngr.transcript("foo", manager=desk.manager) == []
    mngr.start("foo", manager=desk.manager)
    assert desk.send("anew").status is Delivery.DELIVERED
    desk.wait_turn()
    assert desk.from_the_start().said("user") == ["anew"]


def asked_twice(desk: Desk, reason: WaitingReason, name: str = "foo") -> None:
    """A question is answered by the number of an option, or in words."""
    for answer, told in (("2", "blue"), ("violet, please", "violet, please")):
        assert desk.send("ask me something", name).status is Delivery.DELIVERED
        desk.wait(AgentState.WAITING, reason, name)
        assert desk.shows("Which colour?", name), desk.screen(name)
        assert desk.send(answer, name).status is Delivery.DELIVERED
        desk.wait_turn(name)
        assert told in str(desk.model.last.body)
        assert desk.said("agent", name)[-1] == "thank you"
