"""Every verb on a real OpenCode that talks to a scripted model."""

import os
from collections.abc import Iterator

import pytest
from tests.agents.desk import opened
from tests.agents.desk_opencode import OpenCodeDesk
from tests.agents.offline import KEY
from tests.agents.scenes import (
    asked_twice,
    idle_then_busy,
    interrupted,
    permission_by_message,
    twenty_messages,
)
from tests.support.model import Reply, Tokens, ToolCall

import mngr
from mngr.model.agent import AgentState, WaitingReason
from mngr.model.message import Delivery
from mngr.process import wait_until
from mngr.testing.waiting import PATIENCE_S

pytestmark = [pytest.mark.slow, pytest.mark.accept("K14")]

COMMAND = "echo made >made.txt && cat made.txt"
WRITE = ToolCall("bash", {"command": COMMAND, "description": "makes a file"})
ODD = "bytes\x1b[201~ of\x03 any \x00 kind\t\r\n end "


@pytest.fixture(scope="module")
def shared(tmp_path_factory: pytest.TempPathFactory) -> Iterator[OpenCodeDesk]:
    """Its agents ask before they run a command that may change something."""
    with opened(OpenCodeDesk, tmp_path_factory.mktemp("opencode")) as made:
        harmless = dict.fromkeys(("env*", "grep*", "pwd"), "allow")
        made.configure(permission={"bash": {"*": "ask", **harmless}})
        yield made


@pytest.fixture
def desk(shared: OpenCodeDesk) -> OpenCodeDesk:
    return shared.at_rest()


def test_a_permission_request_is_seen_and_granted_or_denied_by_a_message(desk: OpenCodeDesk) -> None:
    permission_by_message(desk, WRITE, shown=COMMAND, told=[f"bash: {COMMAND}", "made\n"])


def test_a_question_is_answered_by_number_or_in_words(desk: OpenCodeDesk) -> None:
    options = [{"label": "red", "description": "warm"}, {"label": "blue", "description": "cold"}]
    question = {"question": "Which colour?", "header": "Colour", "options": options}
    ask = ToolCall("question", {"questions": [question]})
    desk.model.add(Reply(calls=(ask,)), "thank you", match="ask me")
    asked_twice(desk, WaitingReason.INPUT)


@pytest.mark.accept("K8")
def test_messages_to_an_idle_and_to_a_busy_one_and_the_end_of_its_turn(desk: OpenCodeDesk) -> None:
    """One that a person typed on its terminal is taken as well."""
    idle_then_busy(desk)
    desk.keys_typed("-l", "typed by hand")
    assert desk.shows("typed by hand")
    ends = desk.kinds().count("turn_ended")
    desk.keys_typed("Enter")
    assert wait_until(lambda: desk.kinds().count("turn_ended") > ends, PATIENCE_S), desk.screen()
    assert desk.said("user")[-1] == "typed by hand"


@pytest.mark.accept("K8")
def test_twenty_messages_are_each_taken_once(desk: OpenCodeDesk) -> None:
    twenty_messages(desk, ODD)


def test_a_person_who_interrupts_it_is_seen(desk: OpenCodeDesk) -> None:
    def interrupts() -> bool:
        """Twice, the second time while it asks for it: a slow screen may show that too late."""
        desk.keys_typed("Escape")
        wait_until(lambda: "again to interrupt" in desk.screen(), 4)
        desk.keys_typed("Escape")
        return bool(wait_until(lambda: desk.agent().state is AgentState.WAITING, 10))

    interrupted(desk, shown=("esc interrupt",), interrupt=lambda: wait_until(interrupts, PATIENCE_S))


@pytest.mark.accept("K1", "O1", "Q9")
def test_it_lives_in_a_home_of_its_own_restarts_is_cloned_and_each_turn_is_paid_once(
    shared: OpenCodeDesk,
) -> None:
    desk = shared.cleared()
    tokens = Tokens(input=1000, output=200, cache_read=10_000)
    look = ToolCall("bash", {"command": "env | grep XDG_", "description": "looks around"})
    desk.model.add(
        Reply(calls=(look,), tokens=tokens), Reply("a fox", tokens=tokens), match="remember the fox"
    )
    agent = desk.create("one", message="remember the fox")
    assert agent.type == "opencode"
    over = desk.wait_turn("one")
    assert (over.state, over.waiting_reason) == (AgentState.WAITING, WaitingReason.END_OF_TURN)
    assert (desk.said("user", "one"), desk.said("agent", "one")) == (["remember the fox"], ["a fox"])
    assert desk.shows("a fox", "one"), desk.screen("one")

    assert os.listdir(desk.world.home) == []
    home = desk.state_dir("one") / "opencode"
    assert (home / "data/opencode/opencode.db").exists()
    assert home.stat().st_mode & 0o077 == 0
    assert [file.suffix for file in (home / "tmp").iterdir()] == [".so", ".so"], (
        "what it unpacks goes with it"
    )
    assert str(home.parent) not in desk.said("tool", "one")[-1]
    assert KEY not in desk.world.tmux("show-environment", "-g").text
    assert all(asked.headers.get("authorization") == f"Bearer {KEY}" for asked in desk.model.asked)

    (spent,) = mngr.usage("one", manager=desk.manager).usage
    assert (spent.group, spent.turns, spent.models) == ("one", 2, ("gpt-5.1",))
    assert (spent.input_tokens, spent.output_tokens, spent.cache_read_tokens) == (2000, 400, 20_000)
    assert spent.cost_usd == pytest.approx(2 * (1000 * 1.25 + 200 * 10 + 10_000 * 0.125) / 1e6)

    mngr.stop("one", manager=desk.manager)
    assert desk.said("user", "one") == ["remember the fox"]
    assert mngr.start("one", manager=desk.manager).changed
    assert desk.send("who was it?", "one").status is Delivery.DELIVERED
    desk.wait_turn("one")
    mngr.clone("one", "two", manager=desk.manager)
    pwd = ToolCall("bash", {"command": "pwd", "description": "where"})
    desk.model.add(Reply(calls=(pwd,)), "there", match="in the clone")
    receipt = desk.send("and in the clone?", "two")
    assert receipt.status is Delivery.DELIVERED, f"{receipt}\n{desk.events('two')}\n{desk.screen('two')}"
    desk.wait_turn("two")
    assert desk.said("user", "two") == ["remember the fox", "who was it?", "and in the clone?"]
    assert desk.said("user", "one") == ["remember the fox", "who was it?"]
    assert desk.said("tool", "two")[-1].strip() == desk.agent("two").work_dir
    assert "remember the fox" in str(desk.model.last.body["messages"])
    turns = {spent.group: spent.turns for spent in mngr.usage(["one", "two"], manager=desk.manager).usage}
    assert turns == {"one": 3, "two": 2}

    mngr.destroy("one", manager=desk.manager)
    assert not home.parent.exists()


@pytest.mark.accept("O1")
def test_unattended_it_asks_nothing_and_a_model_of_its_own_choice_is_priced_by_itself(
    shared: OpenCodeDesk,
) -> None:
    desk = shared.cleared()
    tokens = Tokens(input=1000, output=100)
    desk.model.add(Reply(calls=(WRITE,), tokens=tokens), Reply("made", tokens=tokens), match="make a file")
    made = desk.world.repo / "made.txt"
    made.unlink(missing_ok=True)
    desk.create("odd", args=("--auto", "--model", "offline/odd"))
    waits = desk.wait(AgentState.WAITING, WaitingReason.END_OF_TURN, "odd")
    assert "its title says" in waits.why
    assert desk.said("user", "odd") == []
    assert desk.send("make a file", "odd").status is Delivery.DELIVERED
    desk.wait_turn("odd")
    # What is allowed by itself may be asked for a moment.
    assert wait_until(lambda: desk.said("agent", "odd") == ["made"], PATIENCE_S), desk.screen("odd")
    assert made.read_text() == "made\n"
    (spent,) = mngr.usage("odd", manager=desk.manager).usage
    assert spent.models == ("odd",)
    assert spent.cost_usd == pytest.approx(2 * (1000 * 2 + 100 * 8) / 1e6)
    assert [asked.model for asked in desk.model.asked if asked.has_tools] == ["odd", "odd"]
