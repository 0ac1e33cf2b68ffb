"""Every verb on a real Codex that talks to a scripted model."""

from collections.abc import Iterator

import pytest
from tests.agents.desk import opened
from tests.agents.desk_codex import CodexDesk
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
from mngr.model.agent import AgentState, WaitingReason
from mngr.model.message import Delivery

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
ODD = "bytes\x1b[201~ of\x03 any \x00 kind\t\r\n end "


@pytest.fixture(scope="module")
def shared(tmp_path_factory: pytest.TempPathFactory) -> Iterator[CodexDesk]:
    with opened(CodexDesk, tmp_path_factory.mktemp("codex")) as made:
        yield made


@pytest.fixture
def desk(shared: CodexDesk) -> CodexDesk:
    return shared.at_rest()


@pytest.mark.accept("Q9")
def test_a_first_message_is_answered_by_one_with_a_home_and_a_key_of_its_own(shared: CodexDesk) -> None:
    desk = shared.cleared()
    home = first_message(desk, ("authorization", f"Bearer {KEY}"), "config.toml")
    mngr.destroy("first", manager=desk.manager)
    assert not home.parent.exists()


def test_without_a_message_it_waits_for_one(shared: CodexDesk) -> None:
    desk = shared.cleared()
    desk.create("silent")
    waits = desk.wait(AgentState.WAITING, WaitingReason.END_OF_TURN, "silent")
    assert "its title says" in waits.why
    assert desk.said("user", "silent") == []


def test_a_permission_request_is_seen_and_granted_or_denied_by_a_message(desk: CodexDesk) -> None:
    permission_by_message(
        desk,
        OUTSIDE,
        shown="echo made",
        told=["$ echo made >made.txt && cat made.txt", "made\n"],
        denials=("no", "3"),
    )


def test_a_question_is_answered_by_number_or_in_words(shared: CodexDesk) -> None:
    desk = shared.cleared()
    colours = [{"label": "red", "description": "warm"}, {"label": "blue", "description": "cold"}]
    question = {"id": "colour", "header": "Colour", "question": "Which colour?", "options": colours}
    ask = ToolCall("request_user_input", {"questions": [question]})
    desk.model.add(Reply(calls=(ask,)), "thank you", match="ask me")
    desk.create("asks", args=("--enable", "default_mode_request_user_input"))
    # Its title says that it wants something, not what.
    asked_twice(desk, WaitingReason.PERMISSION, "asks")


@pytest.mark.accept("K8")
def test_messages_to_an_idle_and_to_a_busy_one_and_the_end_of_its_turn(desk: CodexDesk) -> None:
    idle_then_busy(desk, launcher="sh")


@pytest.mark.accept("K8")
def test_twenty_messages_are_each_taken_once(desk: CodexDesk) -> None:
    twenty_messages(desk, ODD)


def test_a_person_who_interrupts_it_is_seen(desk: CodexDesk) -> None:
    interrupted(desk, shown=("esc to interrupt",))


@pytest.mark.accept("K1", "O1")
@pytest.mark.parametrize(
    "args",
    [("--dangerously-bypass-approvals-and-sandbox",), ("-a", "never", "--sandbox=danger-full-access")],
)
def test_unattended_it_works_restarts_is_cloned_and_each_turn_is_paid_once(
    shared: CodexDesk, args: tuple[str, ...]
) -> None:
    desk = shared.cleared()
    tokens = Tokens(input=1000, output=200, cache_read=10_000)
    desk.model.add(Reply(calls=(WRITE,), tokens=tokens), Reply("ok", tokens=tokens), match="make a file")
    made = desk.world.repo / "made.txt"
    made.unlink(missing_ok=True)
    desk.create("one", args=args, message="make a file")
    desk.wait_turn("one")
    (spent,) = mngr.usage("one", manager=desk.manager).usage
    assert (spent.group, spent.agents, spent.turns, spent.models) == ("one", 1, 2, ("gpt-5.1-codex",))
    assert (spent.input_tokens, spent.output_tokens, spent.cache_read_tokens) == (2000, 400, 20_000)
    once = (1000 * 1.25 + 200 * 10 + 10_000 * 0.125) / 1e6
    assert spent.cost_usd == pytest.approx(2 * once)

    made.unlink()
    mngr.stop("one", manager=desk.manager)
    assert desk.said("user", "one") == ["make a file"]
    assert mngr.start("one", manager=desk.manager).changed
    assert desk.send("make a file again", "one").status is Delivery.DELIVERED
    desk.wait_turn("one")
    assert made.read_text() == "made\n"
    assert "needs_input" not in desk.kinds("one")

    mngr.clone("one", "two", manager=desk.manager)
    desk.model.add(Reply(calls=(ToolCall("exec_command", {"cmd": "pwd"}),)), "there", match="in the clone")
    assert desk.send("and in the clone?", "two").status is Delivery.DELIVERED
    desk.wait_turn("two")
    assert desk.said("user", "two") == ["make a file", "make a file again", "and in the clone?"]
    assert desk.said("user", "one") == ["make a file", "make a file again"]
    assert desk.said("tool", "two")[-1].strip() == desk.agent("two").work_dir
    assert "make a file again" in str(desk.model.last.body["input"])
    turns = {spent.group: spent.turns for spent in mngr.usage(["one", "two"], manager=desk.manager).usage}
    assert turns == {"one": 4, "two": 2}
