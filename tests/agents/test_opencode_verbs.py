"""Every verb on a real OpenCode that talks to a scripted model."""

import os
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.agents.desk_opencode import PATIENCE_S, OpenCodeDesk
from tests.agents.offline import KEY
from tests.support.model import Model, Reply, Tokens, ToolCall

import mngr
from mngr.model.agent import AgentState, WaitingReason
from mngr.model.message import Delivery
from mngr.process import wait_until

pytestmark = [pytest.mark.slow, pytest.mark.accept("K14")]

COMMAND = "echo made >made.txt && cat made.txt"
WRITE = ToolCall("bash", {"command": COMMAND, "description": "makes a file"})
ASK = {"bash": "ask"}


@pytest.fixture
def desk(tmp_path: Path, model: Model) -> Iterator[OpenCodeDesk]:
    made = OpenCodeDesk(tmp_path, model)
    yield made
    made.world.end()


def test_a_first_message_is_answered_and_no_dialog_is_in_the_way(desk: OpenCodeDesk) -> None:
    desk.model.add("a fine day", match="how is it")
    agent = desk.create(message="how is it?")
    assert agent.type == "opencode"
    over = desk.wait_turn()
    assert (over.state, over.waiting_reason) == (AgentState.WAITING, WaitingReason.END_OF_TURN)
    assert (desk.said("user"), desk.said("agent")) == (["how is it?"], ["a fine day"])
    assert wait_until(lambda: "a fine day" in desk.screen(), PATIENCE_S), desk.screen()


def test_without_a_message_it_waits_for_one_and_a_person_may_type_it(desk: OpenCodeDesk) -> None:
    desk.create()
    waits = desk.wait(AgentState.WAITING, WaitingReason.END_OF_TURN)
    assert "its title says" in waits.why
    assert desk.said("user") == []
    desk.world.tmux("send-keys", "-t", "=mngr-foo:", "-l", "typed by hand")
    assert wait_until(lambda: "typed by hand" in desk.screen(), PATIENCE_S)
    desk.world.tmux("send-keys", "-t", "=mngr-foo:", "Enter")
    assert wait_until(lambda: "turn_ended" in desk.kinds(), PATIENCE_S), desk.screen()
    assert desk.send("and by mngr").status is Delivery.DELIVERED
    desk.wait_turn()
    assert desk.said("user") == ["typed by hand", "and by mngr"]


@pytest.mark.accept("Q9")
def test_its_home_and_its_keys_are_its_own(desk: OpenCodeDesk) -> None:
    desk.model.add(
        Reply(calls=(ToolCall("bash", {"command": "env | grep XDG_", "description": "x"}),)),
        "ok",
        match="look",
    )
    agent = desk.create(message="look around")
    desk.wait_turn()
    assert os.listdir(desk.world.home) == []
    state = desk.world.paths.agent(agent.id).dir
    assert os.path.exists(f"{state}/opencode/data/opencode/opencode.db")
    assert os.stat(f"{state}/opencode").st_mode & 0o077 == 0
    assert state not in desk.said("tool")[-1]
    mngr.create("other", args=("sh", "-c", "env >seen; sleep 1000"), transfer="none", manager=desk.manager)
    seen = desk.world.repo / "seen"
    assert wait_until(lambda: seen.exists() and "MNGR_AGENT_NAME=other" in seen.read_text(), PATIENCE_S)
    assert KEY not in seen.read_text()
    assert KEY not in desk.world.tmux("show-environment", "-g").text
    assert all(asked.headers.get("authorization") == f"Bearer {KEY}" for asked in desk.model.asked)
    mngr.destroy("foo", manager=desk.manager)
    assert not os.path.exists(state)


def test_a_permission_request_is_seen_and_answered_by_a_message(desk: OpenCodeDesk) -> None:
    desk.configure(permission=ASK)
    desk.model.add(Reply("I make it", (WRITE,)), "it is made", match="make a file")
    desk.create(message="make a file")
    asks = desk.wait(AgentState.WAITING, WaitingReason.PERMISSION)
    assert "permission" in asks.why
    puzzled = desk.send("what do you mean?")
    assert puzzled.status is Delivery.BLOCKED
    assert COMMAND in puzzled.why
    assert not (desk.world.repo / "made.txt").exists()
    assert desk.send("yes").status is Delivery.DELIVERED
    desk.wait_turn()
    assert (desk.world.repo / "made.txt").read_text() == "made\n"
    assert desk.said("agent") == ["I make it", "it is made"]
    assert desk.said("tool") == [f"bash: {COMMAND}", "made\n"]
    (desk.world.repo / "made.txt").unlink()
    assert desk.send("make a file once more").status is Delivery.DELIVERED
    desk.wait(AgentState.WAITING, WaitingReason.PERMISSION)
    assert desk.send("no").status is Delivery.DELIVERED
    desk.wait(AgentState.WAITING, WaitingReason.END_OF_TURN)
    assert not (desk.world.repo / "made.txt").exists()
    assert desk.send("and now?").status is Delivery.DELIVERED


def test_a_question_is_answered_by_number_or_in_words(desk: OpenCodeDesk) -> None:
    options = [{"label": "red", "description": "warm"}, {"label": "blue", "description": "cold"}]
    question = {"question": "Which colour?", "header": "Colour", "options": options}
    desk.model.add(
        Reply(calls=(ToolCall("question", {"questions": [question]}),)), "thank you", match="ask me"
    )
    desk.create(message="ask me something")
    for answer, told in (("2", "blue"), ("violet, please", "violet, please")):
        desk.wait(AgentState.WAITING, WaitingReason.INPUT)
        assert desk.send(answer).status is Delivery.DELIVERED
        desk.wait_turn()
        assert told in desk.said("tool")[-1]
        assert desk.said("agent")[-1] == "thank you"
        desk.send("ask me again")


def test_unattended_it_asks_nothing(desk: OpenCodeDesk) -> None:
    desk.configure(permission=ASK)
    desk.model.add(Reply(calls=(WRITE,)), "it is made", match="make a file")
    desk.create(args=("--auto",), message="make a file")
    desk.wait_turn()
    assert wait_until(lambda: desk.said("agent") == ["it is made"], PATIENCE_S), desk.screen()
    assert (desk.world.repo / "made.txt").read_text() == "made\n"


@pytest.mark.accept("K8")
def test_messages_to_a_busy_one_and_its_end_of_turn(desk: OpenCodeDesk) -> None:
    go = threading.Event()
    desk.model.add(Reply("at last", until=go), match="take your time")
    desk.create(message="hello")
    desk.wait_turn()
    receipt = desk.send("take your time")
    hook = next(event.at for event in reversed(desk.events()) if event.kind == "prompt_submitted")
    assert (receipt.status, receipt.at >= hook) == (Delivery.DELIVERED, True)
    desk.wait(AgentState.RUNNING)
    assert desk.send("and one more\nthing").status is Delivery.QUEUED
    go.set()
    desk.wait_turn()
    seen, end = time.time(), desk.events()[-1]
    assert (end.kind, seen >= end.at) == ("turn_ended", True)
    assert desk.said("user") == ["hello", "take your time", "and one more\nthing"]
    assert desk.said("agent")[-1] == "You said: and one more\nthing"


@pytest.mark.accept("K8")
def test_twenty_messages_are_each_taken_once(desk: OpenCodeDesk) -> None:
    desk.create()
    texts = [f"message {number}: {'words ' * (number * 7 % 40)}end" for number in range(18)]
    texts.append("bytes\x1b[201~ of\x03 any \x00 kind\t\r\n end ")
    texts.append("the long one " + "0123456789abcdef\n" * 3800 + "end")
    for text in texts:
        assert desk.send(text).status in (Delivery.DELIVERED, Delivery.QUEUED), desk.screen()
    assert wait_until(lambda: len(desk.said("user")) == 20, PATIENCE_S)
    assert sorted(desk.said("user")) == sorted(texts)


@pytest.mark.accept("K1", "O1")
def test_a_restart_and_a_clone_go_on_with_the_conversation_and_cost_is_counted_once(
    desk: OpenCodeDesk,
) -> None:
    tokens = Tokens(input=1000, output=200, cache_read=10_000)
    desk.model.add(Reply("a fox", tokens=tokens), match="remember the fox")
    desk.create(message="remember the fox")
    desk.wait_turn()
    (spent,) = mngr.usage(manager=desk.manager).usage
    assert (spent.group, spent.turns, spent.models) == ("foo", 1, ("gpt-5.1",))
    assert (spent.input_tokens, spent.output_tokens, spent.cache_read_tokens) == (1000, 200, 10_000)
    assert spent.cost_usd == pytest.approx((1000 * 1.25 + 200 * 10 + 10_000 * 0.125) / 1e6)
    mngr.stop("foo", manager=desk.manager)
    assert desk.said("user") == ["remember the fox"]
    assert mngr.start("foo", manager=desk.manager).changed
    assert desk.send("who was it?").status is Delivery.DELIVERED
    desk.wait_turn()
    mngr.clone("foo", "bar", manager=desk.manager)
    pwd = ToolCall("bash", {"command": "pwd", "description": "where"})
    desk.model.add(Reply(calls=(pwd,)), "there", match="in the clone")
    assert desk.send("and in the clone?", "bar").status is Delivery.DELIVERED
    desk.wait_turn("bar")
    assert desk.said("user", "bar") == ["remember the fox", "who was it?", "and in the clone?"]
    assert desk.said("user") == ["remember the fox", "who was it?"]
    assert desk.said("tool", "bar")[-1].strip() == desk.agent("bar").work_dir
    assert "remember the fox" in str(desk.model.asked[-1].body["messages"])
    turns = {spent.group: spent.turns for spent in mngr.usage(manager=desk.manager).usage}
    assert turns == {"foo": 2, "bar": 2}


@pytest.mark.accept("O1")
def test_a_model_of_its_own_choice_is_used_and_priced_by_the_program_itself(desk: OpenCodeDesk) -> None:
    desk.model.add(Reply("ok", tokens=Tokens(input=1000, output=100)), match="hello")
    desk.create(args=("--model", "offline/odd"), message="hello")
    desk.wait_turn()
    (spent,) = mngr.usage(manager=desk.manager).usage
    assert spent.models == ("odd",)
    assert spent.cost_usd == pytest.approx((1000 * 2 + 100 * 8) / 1e6)
    assert [asked.model for asked in desk.model.asked if asked.has_tools] == ["odd"]


def test_a_person_who_interrupts_it_is_seen(desk: OpenCodeDesk) -> None:
    held = threading.Event()
    desk.model.add(Reply("never", until=held), match="take your time")
    desk.create(message="take your time")
    desk.wait(AgentState.RUNNING)
    assert wait_until(lambda: "esc interrupt" in desk.screen(), PATIENCE_S), desk.screen()
    for _ in range(2):
        desk.world.tmux("send-keys", "-t", "=mngr-foo:", "Escape")
        wait_until(lambda: "again to interrupt" in desk.screen(), 3)
    desk.wait(AgentState.WAITING, WaitingReason.END_OF_TURN)
    held.set()
    assert {"reason": "interrupted"} in [event.data for event in desk.events()]
    assert "(the turn was interrupted)" in desk.said("tool")
