"""What is tried on every real coding agent in the same way."""

import os
import signal
import threading
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from tests.agents.desk import Desk
from tests.agents.offline import KEY
from tests.support.model import Reply, ToolCall

import mngr
from mngr.model.agent import Agent, AgentState, WaitingReason
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


def interrupted(
    desk: Desk, *, shown: tuple[str, ...], interrupt: Callable[[], object] | None = None, told: bool = True
) -> Agent:
    """A person at its terminal interrupts a turn: it waits for the next message, and with `told` its records say why.

    `shown` is what is on the screen of a busy one, `interrupt` what the person does: Escape.
    """
    held = threading.Event()
    desk.model.add(Reply("never", until=held), match="take your time")
    desk.send("take your time")
    desk.wait(AgentState.RUNNING)
    assert wait_until(lambda: any(text in desk.screen() for text in shown), PATIENCE_S), desk.screen()
    if interrupt:
        interrupt()
    else:
        desk.keys_typed("Escape")
    agent = desk.wait(AgentState.WAITING, WaitingReason.END_OF_TURN)
    held.set()
    if told:
        reason = {"reason": "interrupted"}
        assert wait_until(lambda: reason in [event.data for event in desk.events()], PATIENCE_S), (
            desk.events()
        )
        assert "(the turn was interrupted)" in desk.said("tool")
    return agent


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


def first_message(desk: Desk, key_header: tuple[str, str], file_of_home: str) -> Path:
    """An agent made with a message answers it, in a home and with a key that nobody else has; returns the home."""
    desk.model.add("a fine day", match="how is it")
    agent = desk.create("first", message="how is it?")
    assert agent.type == desk.type
    over = desk.wait_turn("first")
    assert (over.state, over.waiting_reason) == (AgentState.WAITING, WaitingReason.END_OF_TURN)
    assert (desk.said("user", "first"), desk.said("agent", "first")) == (["how is it?"], ["a fine day"])
    assert desk.shows("a fine day", "first"), desk.screen("first")

    assert os.listdir(desk.world.home) == []
    home = desk.state_dir("first") / desk.type
    assert (home / file_of_home).exists()
    assert home.stat().st_mode & 0o077 == 0

    mngr.create("other", args=("sh", "-c", "env >seen; sleep 1000"), transfer="none", manager=desk.manager)
    seen = desk.world.repo / "seen"
    assert wait_until(lambda: seen.exists() and "MNGR_AGENT_NAME=other" in seen.read_text(), PATIENCE_S)
    assert KEY not in seen.read_text()
    assert "ANTHROPIC" not in seen.read_text()
    assert KEY not in desk.world.tmux("show-environment", "-g").text
    name, value = key_header
    assert all(asked.headers.get(name) == value for asked in desk.model.asked)
    return home


def permission_by_message(
    desk: Desk, call: ToolCall, *, shown: str, told: list[str], denials: tuple[str, ...] = ("no",)
) -> None:
    """A request to run `call`, which writes `made.txt`, is a question; a message grants or denies it.

    `shown` is what the question says, `told` what the transcript has of the tool.
    """
    desk.model.add(Reply("I make it", (call,)), "it is made", match="make a file")
    assert desk.send("make a file").status is Delivery.DELIVERED
    asks = desk.wait(AgentState.WAITING, WaitingReason.PERMISSION)
    assert "permission" in asks.why
    puzzled = desk.send("what do you mean?")
    assert puzzled.status is Delivery.BLOCKED
    assert shown in puzzled.why
    made = desk.world.repo / "made.txt"
    assert not made.exists()
    assert desk.send("yes").status is Delivery.DELIVERED
    desk.wait_turn()
    assert made.read_text() == "made\n"
    assert desk.said("agent") == ["I make it", "it is made"]
    assert desk.said("tool") == told
    made.unlink()
    for denial in denials:
        assert desk.send("make a file once more").status is Delivery.DELIVERED
        desk.wait(AgentState.WAITING, WaitingReason.PERMISSION)
        assert desk.send(denial).status is Delivery.DELIVERED
        desk.wait(AgentState.WAITING, WaitingReason.END_OF_TURN)
        assert not made.exists()
    assert desk.send("and now?").status is Delivery.DELIVERED
    desk.wait_turn()
