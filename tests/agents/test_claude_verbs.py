"""Every verb on a real Claude Code that talks to a scripted model."""

import os
from collections.abc import Iterator

import pytest
from tests.agents.desk import Desk, opened
from tests.agents.offline import KEY
from tests.agents.scenes import (
    asked_twice,
    first_message,
    idle_then_busy,
    interrupted,
    permission_by_message,
    twenty_messages,
)
from tests.support.model import Reply, Tokens, ToolCall

import mngr
from mngr.model.agent import WaitingReason
from mngr.model.message import Delivery

pytestmark = [pytest.mark.slow, pytest.mark.accept("K14")]

WRITE = ToolCall("Bash", {"command": "echo made >made.txt && cat made.txt", "description": "makes a file"})
QUESTION = {
    "question": "Which colour?",
    "header": "Colour",
    "multiSelect": False,
    "options": [{"label": "red", "description": "warm"}, {"label": "blue", "description": "cold"}],
}


@pytest.fixture(scope="module")
def shared(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Desk]:
    with opened(Desk, tmp_path_factory.mktemp("claude")) as made:
        yield made


@pytest.fixture
def desk(shared: Desk) -> Desk:
    return shared.at_rest()


@pytest.mark.accept("Q9")
def test_a_first_message_is_answered_by_one_with_a_home_and_a_key_of_its_own(shared: Desk) -> None:
    desk = shared.cleared()
    home = first_message(desk, ("x-api-key", KEY), ".claude.json")
    assert [path.name for path in (home / "tmp").iterdir()] == [f"claude-{os.getuid()}"], (
        "what it leaves goes with it"
    )
    assert not (home / "plugins").exists(), "it went to the network for more of itself"
    mngr.destroy("first", manager=desk.manager)
    assert not home.parent.exists()


def test_a_permission_request_is_seen_and_granted_or_denied_by_a_message(desk: Desk) -> None:
    permission_by_message(
        desk,
        WRITE,
        shown="Do you want to proceed?",
        told=["Bash: echo made >made.txt && cat made.txt", "made"],
    )


def test_a_question_is_answered_by_number_or_in_words(desk: Desk) -> None:
    ask = ToolCall("AskUserQuestion", {"questions": [QUESTION]})
    desk.model.add(Reply(calls=(ask,)), "thank you", match="ask me")
    asked_twice(desk, WaitingReason.INPUT)


@pytest.mark.accept("K8")
def test_messages_to_an_idle_and_to_a_busy_one_and_the_end_of_its_turn(desk: Desk) -> None:
    idle_then_busy(desk)


@pytest.mark.accept("K8")
def test_twenty_messages_are_each_taken_once(desk: Desk) -> None:
    twenty_messages(desk)


def test_a_person_who_interrupts_it_is_seen(desk: Desk) -> None:
    agent = interrupted(desk, shown=("esc to interrupt", "\u2026"), told=False)
    assert "no hook said" in agent.why or "end_of_turn" in agent.why


@pytest.mark.accept("K1", "O1")
@pytest.mark.parametrize("type", ["claude", "claude-headless"])
def test_unattended_it_works_restarts_is_cloned_and_each_turn_is_paid_once(shared: Desk, type: str) -> None:
    desk = shared.cleared()
    tokens = Tokens(input=1000, output=200, cache_read=10_000, cache_write=400)
    desk.model.add(Reply(calls=(WRITE,), tokens=tokens), Reply("ok", tokens=tokens), match="remember the fox")
    made = desk.world.repo / "made.txt"
    made.unlink(missing_ok=True)
    unattended = ("--dangerously-skip-permissions", "--model", "claude-opus-4-8")
    desk.create("one", type=type, args=unattended, message="remember the fox")
    desk.wait_turn("one")
    assert made.read_text() == "made\n"
    assert "needs_input" not in desk.kinds("one")

    (spent,) = mngr.usage("one", manager=desk.manager).usage
    assert (spent.group, spent.agents, spent.turns, spent.models) == ("one", 1, 2, ("claude-opus-4-8",))
    counts = (spent.input_tokens, spent.output_tokens, spent.cache_read_tokens, spent.cache_write_tokens)
    assert counts == (2000, 400, 20_000, 800)
    once = (1000 * 5 + 200 * 25 + 10_000 * 0.5 + 400 * 6.25) / 1e6
    assert spent.cost_usd == pytest.approx(2 * once)

    mngr.stop("one", manager=desk.manager)
    assert desk.said("user", "one") == ["remember the fox"]
    assert mngr.start("one", manager=desk.manager).changed
    assert desk.send("who was it?", "one").status is Delivery.DELIVERED
    desk.wait_turn("one")
    mngr.clone("one", "two", manager=desk.manager)
    assert desk.send("and in the clone?", "two").status is Delivery.DELIVERED
    desk.wait_turn("two")
    assert desk.said("user", "two") == ["remember the fox", "who was it?", "and in the clone?"]
    assert desk.said("user", "one") == ["remember the fox", "who was it?"]
    assert "remember the fox" in str(desk.model.last.body["messages"])
    turns = {spent.group: spent.turns for spent in mngr.usage(["one", "two"], manager=desk.manager).usage}
    assert turns == {"one": 3, "two": 1}
