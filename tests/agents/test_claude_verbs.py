"""Every verb on a real Claude Code that talks to a scripted model."""

import os
import threading
import time

import pytest
from tests.agents.desk import PATIENCE_S, Desk
from tests.agents.offline import KEY
from tests.support.model import Reply, Tokens, ToolCall

import mngr
from mngr.model.agent import AgentState, WaitingReason
from mngr.model.message import Delivery
from mngr.process import wait_until

pytestmark = [pytest.mark.slow, pytest.mark.accept("K14")]

WRITE = ToolCall("Bash", {"command": "echo made >made.txt && cat made.txt", "description": "makes a file"})
QUESTION = {
    "question": "Which colour?",
    "header": "Colour",
    "multiSelect": False,
    "options": [{"label": "red", "description": "warm"}, {"label": "blue", "description": "cold"}],
}


def test_a_first_message_is_answered_and_no_dialog_is_in_the_way(desk: Desk) -> None:
    desk.model.add("a fine day", match="how is it")
    agent = desk.create(message="how is it?")
    assert agent.type == "claude"
    over = desk.wait_turn()
    assert (over.state, over.waiting_reason) == (AgentState.WAITING, WaitingReason.END_OF_TURN)
    assert (desk.said("user"), desk.said("agent")) == (["how is it?"], ["a fine day"])
    assert "a fine day" in desk.screen()


def test_its_home_is_its_own_and_the_users_stays_as_it_is(desk: Desk) -> None:
    agent = desk.create(message="hello")
    desk.wait_turn()
    assert os.listdir(desk.world.home) == []
    state = desk.world.paths.agent(agent.id).dir
    assert os.path.exists(f"{state}/claude/.claude.json")
    assert os.stat(f"{state}/claude").st_mode & 0o077 == 0
    mngr.destroy("foo", manager=desk.manager)
    assert not os.path.exists(state)


@pytest.mark.accept("Q9")
def test_a_key_reaches_only_the_agent_it_was_given_to(desk: Desk) -> None:
    desk.create("keyed", message="hello")
    desk.wait_turn("keyed")
    mngr.create("other", args=("sh", "-c", "env >seen; sleep 1000"), transfer="none", manager=desk.manager)
    seen = desk.world.repo / "seen"
    assert wait_until(lambda: seen.exists() and "MNGR_AGENT_NAME=other" in seen.read_text(), PATIENCE_S)
    assert "ANTHROPIC" not in seen.read_text()
    assert KEY not in desk.world.tmux("show-environment", "-g").text
    assert all(asked.headers.get("x-api-key") == KEY for asked in desk.model.asked)


def test_a_permission_request_is_seen_and_answered_by_a_message(desk: Desk) -> None:
    desk.model.add(Reply("I make it", (WRITE,)), "it is made", match="make a file")
    desk.create(message="make a file")
    asks = desk.wait(AgentState.WAITING, WaitingReason.PERMISSION)
    assert "permission" in asks.why
    puzzled = desk.send("what do you mean?")
    assert puzzled.status is Delivery.BLOCKED
    assert "Do you want to proceed?" in puzzled.why
    assert not (desk.world.repo / "made.txt").exists()
    assert desk.send("yes").status is Delivery.DELIVERED
    desk.wait_turn()
    assert (desk.world.repo / "made.txt").read_text() == "made\n"
    assert desk.said("agent") == ["I make it", "it is made"]
    assert desk.said("tool") == ["Bash: echo made >made.txt && cat made.txt", "made"]


def test_a_permission_can_be_denied_and_the_turn_is_over(desk: Desk) -> None:
    desk.model.add(Reply(calls=(WRITE,)), match="make a file")
    desk.create(message="make a file")
    desk.wait(AgentState.WAITING, WaitingReason.PERMISSION)
    assert desk.send("no").status is Delivery.DELIVERED
    desk.wait(AgentState.WAITING, WaitingReason.END_OF_TURN)
    assert not (desk.world.repo / "made.txt").exists()
    assert desk.send("and now?").status is Delivery.DELIVERED


@pytest.mark.parametrize(("answer", "told"), [("2", "blue"), ("violet, please", "violet, please")])
def test_a_question_is_answered_by_number_or_in_words(desk: Desk, answer: str, told: str) -> None:
    desk.model.add(
        Reply(calls=(ToolCall("AskUserQuestion", {"questions": [QUESTION]}),)), "thank you", match="ask"
    )
    desk.create(message="ask me something")
    desk.wait(AgentState.WAITING, WaitingReason.INPUT)
    assert desk.send(answer).status is Delivery.DELIVERED
    desk.wait_turn()
    assert told in desk.said("tool")[-1]
    assert desk.said("agent") == ["thank you"]


def test_unattended_it_asks_nothing(desk: Desk) -> None:
    desk.model.add(Reply(calls=(WRITE,)), "it is made", match="make a file")
    desk.create(args=("--dangerously-skip-permissions",), message="make a file")
    desk.wait_turn()
    assert (desk.world.repo / "made.txt").read_text() == "made\n"
    assert "needs_input" not in desk.kinds()


@pytest.mark.accept("K8")
def test_a_message_to_an_idle_one_is_confirmed_by_its_hook(desk: Desk) -> None:
    desk.create(message="hello")
    desk.wait_turn()
    receipt = desk.send("and again")
    hook = next(event.at for event in reversed(desk.events()) if event.kind == "prompt_submitted")
    assert receipt.status is Delivery.DELIVERED
    assert hook <= receipt.at, "its own word came first"


@pytest.mark.accept("K8")
def test_a_message_to_a_busy_one_is_queued_and_taken_once(desk: Desk) -> None:
    go = threading.Event()
    desk.model.add(Reply("at last", until=go), match="take your time")
    desk.create(message="take your time")
    desk.wait(AgentState.RUNNING)
    receipt = desk.send("and one more\nthing")
    assert (receipt.status, "queue" in receipt.why) == (Delivery.QUEUED, True)
    go.set()
    assert wait_until(lambda: desk.said("user") == ["take your time", "and one more\nthing"], PATIENCE_S)
    desk.wait_turn()
    assert desk.said("user").count("and one more\nthing") == 1


def test_the_end_of_a_turn_is_seen_as_it_comes(desk: Desk) -> None:
    go = threading.Event()
    desk.model.add(Reply("over", until=go), match="slowly")
    desk.create(message="slowly")
    seen: list[float] = []

    def wait() -> None:
        desk.wait_turn()
        seen.append(time.time())

    waiter = threading.Thread(target=wait)
    waiter.start()
    go.set()
    waiter.join(PATIENCE_S)
    stop = next(event.at for event in reversed(desk.events()) if event.kind == "turn_ended")
    assert stop <= seen[0]


@pytest.mark.accept("K8")
def test_twenty_messages_are_each_taken_once(desk: Desk) -> None:
    desk.create()
    texts = [f"message {number}: {'words ' * (number * 7 % 40)}end" for number in range(19)]
    texts.append("the long one " + "0123456789abcdef\n" * 3800 + "end")
    for text in texts:
        assert desk.send(text).status in (Delivery.DELIVERED, Delivery.QUEUED), desk.screen()
    assert wait_until(lambda: len(desk.said("user")) == 20, PATIENCE_S)
    assert sorted(desk.said("user")) == sorted(texts)


@pytest.mark.parametrize("type", ["claude", "claude-headless"])
def test_a_restart_and_a_clone_go_on_with_the_conversation(desk: Desk, type: str) -> None:
    desk.create(type=type, message="remember the fox")
    desk.wait_turn()
    mngr.stop("foo", manager=desk.manager)
    assert desk.said("user") == ["remember the fox"]
    assert mngr.start("foo", manager=desk.manager).changed
    assert desk.send("who was it?").status is Delivery.DELIVERED
    desk.wait_turn()
    mngr.clone("foo", "bar", manager=desk.manager)
    assert desk.send("and in the clone?", "bar").status is Delivery.DELIVERED
    desk.wait_turn("bar")
    assert desk.said("user", "bar") == ["remember the fox", "who was it?", "and in the clone?"]
    assert desk.said("user") == ["remember the fox", "who was it?"]
    told = str(desk.model.asked[-1].body["messages"])
    assert "remember the fox" in told


@pytest.mark.accept("K1", "O1")
def test_usage_tells_tokens_and_cost_of_every_turn_once(desk: Desk) -> None:
    tokens = Tokens(input=1000, output=200, cache_read=10_000, cache_write=400)
    desk.model.add(
        Reply(calls=(ToolCall("Bash", {"command": "true", "description": "x"}),), tokens=tokens),
        Reply("ok", tokens=tokens),
        match="work",
    )
    desk.create(args=("--model", "claude-opus-4-8"), message="work")
    desk.wait_turn()
    report = mngr.usage(manager=desk.manager)
    (spent,) = report.usage
    assert (spent.group, spent.agents, spent.turns, spent.models) == ("foo", 1, 2, ("claude-opus-4-8",))
    counts = (spent.input_tokens, spent.output_tokens, spent.cache_read_tokens, spent.cache_write_tokens)
    assert counts == (2000, 400, 20_000, 800)
    once = (1000 * 5 + 200 * 25 + 10_000 * 0.5 + 400 * 6.25) / 1e6
    assert spent.cost_usd == pytest.approx(2 * once)
    mngr.clone("foo", "bar", manager=desk.manager)
    assert desk.send("hello", "bar").status is Delivery.DELIVERED
    desk.wait_turn("bar")
    turns = {spent.group: spent.turns for spent in mngr.usage(manager=desk.manager).usage}
    assert turns == {"foo": 2, "bar": 1}


def test_a_person_who_interrupts_it_is_seen(desk: Desk) -> None:
    held = threading.Event()
    desk.model.add(Reply("never", until=held), match="take your time")
    desk.create(message="take your time")
    desk.wait(AgentState.RUNNING)
    assert wait_until(lambda: "esc to interrupt" in desk.screen() or "\u2026" in desk.screen(), PATIENCE_S)
    desk.world.tmux("send-keys", "-t", "=mngr-foo:", "Escape")
    agent = desk.wait(AgentState.WAITING, WaitingReason.END_OF_TURN)
    held.set()
    assert "no hook said" in agent.why or "end_of_turn" in agent.why
