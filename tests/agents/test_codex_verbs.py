"""Every verb on a real Codex that talks to a scripted model."""

import os
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.agents.desk import PATIENCE_S
from tests.agents.desk_codex import CodexDesk
from tests.agents.offline import KEY
from tests.support.model import Model, Reply, Tokens, ToolCall

import mngr
from mngr.model.agent import AgentState, WaitingReason
from mngr.model.message import Delivery
from mngr.process import wait_until

pytestmark = [pytest.mark.slow, pytest.mark.accept("K14")]

WRITE = ToolCall("exec_command", {"cmd": "echo made >made.txt && cat made.txt"})
# Asks to leave the sandbox, which Codex asks a person about.
OUTSIDE = ToolCall(
    "exec_command",
    {
        "cmd": "echo made >made.txt && cat made.txt",
        "sandbox_permissions": "require_escalated",
        "justification": "to make a file",
    },
)


@pytest.fixture
def desk(tmp_path: Path, model: Model) -> Iterator[CodexDesk]:
    made = CodexDesk(tmp_path, model)
    yield made
    made.end()


def test_a_first_message_is_answered_and_no_dialog_is_in_the_way(desk: CodexDesk) -> None:
    desk.model.add("a fine day", match="how is it")
    agent = desk.create(message="how is it?")
    assert agent.type == "codex"
    over = desk.wait_turn()
    assert (over.state, over.waiting_reason) == (AgentState.WAITING, WaitingReason.END_OF_TURN)
    assert (desk.said("user"), desk.said("agent")) == (["how is it?"], ["a fine day"])
    assert wait_until(lambda: "a fine day" in desk.screen(), PATIENCE_S)


def test_without_a_message_it_waits_for_one(desk: CodexDesk) -> None:
    desk.create()
    waits = desk.wait(AgentState.WAITING, WaitingReason.END_OF_TURN)
    assert "its title says" in waits.why
    assert desk.said("user") == []


def test_its_home_is_its_own_and_the_users_stays_as_it_is(desk: CodexDesk) -> None:
    agent = desk.create(message="hello")
    desk.wait_turn()
    assert os.listdir(desk.world.home) == []
    state = desk.world.paths.agent(agent.id).dir
    assert os.path.exists(f"{state}/codex/config.toml")
    assert os.stat(f"{state}/codex").st_mode & 0o077 == 0
    mngr.destroy("foo", manager=desk.manager)
    assert not os.path.exists(state)


@pytest.mark.accept("Q9")
def test_a_key_reaches_only_the_agent_it_was_given_to(desk: CodexDesk) -> None:
    desk.create("keyed", message="hello")
    desk.wait_turn("keyed")
    mngr.create("other", args=("sh", "-c", "env >seen; sleep 1000"), transfer="none", manager=desk.manager)
    seen = desk.world.repo / "seen"
    assert wait_until(lambda: seen.exists() and "MNGR_AGENT_NAME=other" in seen.read_text(), PATIENCE_S)
    assert KEY not in seen.read_text()
    assert KEY not in desk.world.tmux("show-environment", "-g").text
    assert all(asked.headers.get("authorization") == f"Bearer {KEY}" for asked in desk.model.asked)


def test_a_permission_request_is_seen_and_answered_by_a_message(desk: CodexDesk) -> None:
    desk.model.add(Reply("I make it", (OUTSIDE,)), "it is made", match="make a file")
    desk.create(message="make a file")
    asks = desk.wait(AgentState.WAITING, WaitingReason.PERMISSION)
    assert "permission" in asks.why
    puzzled = desk.send("what do you mean?")
    assert puzzled.status is Delivery.BLOCKED
    assert "echo made" in puzzled.why
    assert not (desk.world.repo / "made.txt").exists()
    assert desk.send("yes").status is Delivery.DELIVERED
    desk.wait_turn()
    assert (desk.world.repo / "made.txt").read_text() == "made\n"
    assert desk.said("agent") == ["I make it", "it is made"]
    assert desk.said("tool") == ["$ echo made >made.txt && cat made.txt", "made\n"]


@pytest.mark.parametrize(("answer", "told"), [("2", "blue"), ("violet, please", "violet, please")])
def test_a_question_is_answered_by_number_or_in_words(desk: CodexDesk, answer: str, told: str) -> None:
    colours = [{"label": "red", "description": "warm"}, {"label": "blue", "description": "cold"}]
    question = {"id": "colour", "header": "Colour", "question": "Which colour?", "options": colours}
    ask = ToolCall("request_user_input", {"questions": [question]})
    desk.model.add(Reply(calls=(ask,)), "thank you", match="ask me")
    desk.create(args=("--enable", "default_mode_request_user_input"), message="ask me something")
    assert wait_until(lambda: "Which colour?" in desk.screen(), PATIENCE_S)
    assert wait_until(lambda: desk.agent().state is AgentState.WAITING, PATIENCE_S), desk.agent().why
    assert desk.send(answer).status is Delivery.DELIVERED
    desk.wait_turn()
    assert told in str(desk.model.asked[-1].body["input"])
    assert desk.said("agent") == ["thank you"]


@pytest.mark.parametrize("word", ["no", "3"])
def test_a_permission_can_be_denied_and_the_turn_is_over(desk: CodexDesk, word: str) -> None:
    desk.model.add(Reply(calls=(OUTSIDE,)), match="make a file")
    desk.create(message="make a file")
    desk.wait(AgentState.WAITING, WaitingReason.PERMISSION)
    assert desk.send(word).status is Delivery.DELIVERED
    desk.wait(AgentState.WAITING, WaitingReason.END_OF_TURN)
    assert not (desk.world.repo / "made.txt").exists()
    assert desk.send("and now?").status is Delivery.DELIVERED


@pytest.mark.parametrize(
    "args",
    [("--dangerously-bypass-approvals-and-sandbox",), ("-a", "never", "--sandbox=danger-full-access")],
)
def test_unattended_it_asks_nothing_after_a_restart_either(desk: CodexDesk, args: tuple[str, ...]) -> None:
    desk.model.add(Reply(calls=(WRITE,)), "it is made", match="make a file")
    desk.create(args=args, message="make a file")
    desk.wait_turn()
    (desk.world.repo / "made.txt").unlink()
    mngr.stop("foo", manager=desk.manager)
    mngr.start("foo", manager=desk.manager)
    assert desk.send("make a file again").status is Delivery.DELIVERED
    desk.wait_turn()
    assert (desk.world.repo / "made.txt").read_text() == "made\n"
    assert "needs_input" not in desk.kinds()


@pytest.mark.accept("K8")
def test_a_message_to_an_idle_one_is_confirmed_by_its_hook(desk: CodexDesk) -> None:
    desk.create(message="hello")
    desk.wait_turn()
    receipt = desk.send("and again")
    hook = next(event.at for event in reversed(desk.events()) if event.kind == "prompt_submitted")
    assert receipt.status is Delivery.DELIVERED
    assert hook <= receipt.at, "its own word came first"


@pytest.mark.accept("K8")
def test_a_message_to_a_busy_one_is_queued_and_taken_once(desk: CodexDesk) -> None:
    go = threading.Event()
    desk.model.add(Reply("at last", until=go), match="take your time")
    desk.create(message="take your time")
    desk.wait(AgentState.RUNNING)
    assert desk.send("and one more\nthing").status is Delivery.QUEUED
    go.set()
    assert wait_until(lambda: desk.said("user") == ["take your time", "and one more\nthing"], PATIENCE_S)
    desk.wait_turn()
    assert desk.said("user").count("and one more\nthing") == 1


def test_the_end_of_a_turn_is_seen_as_it_comes(desk: CodexDesk) -> None:
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
def test_twenty_messages_are_each_taken_once(desk: CodexDesk) -> None:
    desk.create()
    texts = [f"message {number}: {'words ' * (number * 7 % 40)}end" for number in range(18)]
    texts.append("bytes\x1b[201~ of\x03 any \x00 kind\t\r\n end ")
    texts.append("the long one " + "0123456789abcdef\n" * 3800 + "end")
    for text in texts:
        assert desk.send(text).status in (Delivery.DELIVERED, Delivery.QUEUED), desk.screen()
    assert wait_until(lambda: len(desk.said("user")) == 20, PATIENCE_S)
    assert sorted(desk.said("user")) == sorted(texts)


def test_a_restart_and_a_clone_go_on_with_the_conversation(desk: CodexDesk) -> None:
    desk.create(message="remember the fox")
    desk.wait_turn()
    mngr.stop("foo", manager=desk.manager)
    assert desk.said("user") == ["remember the fox"]
    assert mngr.start("foo", manager=desk.manager).changed
    assert desk.send("who was it?").status is Delivery.DELIVERED
    desk.wait_turn()
    mngr.clone("foo", "bar", manager=desk.manager)
    desk.model.add(Reply(calls=(ToolCall("exec_command", {"cmd": "pwd"}),)), "there", match="in the clone")
    assert desk.send("and in the clone?", "bar").status is Delivery.DELIVERED
    desk.wait_turn("bar")
    assert desk.said("user", "bar") == ["remember the fox", "who was it?", "and in the clone?"]
    assert desk.said("user") == ["remember the fox", "who was it?"]
    assert desk.said("tool", "bar")[-1].strip() == desk.agent("bar").work_dir
    assert "remember the fox" in str(desk.model.asked[-1].body["input"])


@pytest.mark.accept("K1", "O1")
def test_usage_tells_tokens_and_cost_of_every_turn_once(desk: CodexDesk) -> None:
    tokens = Tokens(input=1000, output=200, cache_read=10_000)
    desk.model.add(Reply(calls=(WRITE,), tokens=tokens), Reply("ok", tokens=tokens), match="work")
    desk.create(message="work")
    desk.wait_turn()
    (spent,) = mngr.usage(manager=desk.manager).usage
    assert (spent.group, spent.agents, spent.turns, spent.models) == ("foo", 1, 2, ("gpt-5.1-codex",))
    assert (spent.input_tokens, spent.output_tokens, spent.cache_read_tokens) == (2000, 400, 20_000)
    once = (1000 * 1.25 + 200 * 10 + 10_000 * 0.125) / 1e6
    assert spent.cost_usd == pytest.approx(2 * once)
    mngr.clone("foo", "bar", manager=desk.manager)
    assert desk.send("hello", "bar").status is Delivery.DELIVERED
    desk.wait_turn("bar")
    turns = {spent.group: spent.turns for spent in mngr.usage(manager=desk.manager).usage}
    assert turns == {"foo": 2, "bar": 1}


def test_a_person_who_interrupts_it_is_seen(desk: CodexDesk) -> None:
    held = threading.Event()
    desk.model.add(Reply("never", until=held), match="take your time")
    desk.create(message="take your time")
    desk.wait(AgentState.RUNNING)
    assert wait_until(lambda: "esc to interrupt" in desk.screen(), PATIENCE_S)
    desk.world.tmux("send-keys", "-t", "=mngr-foo:", "Escape")
    desk.wait(AgentState.WAITING, WaitingReason.END_OF_TURN)
    held.set()
    assert "(the turn was interrupted)" in desk.said("tool")
    assert {"reason": "interrupted"} in [event.data for event in desk.events()]
