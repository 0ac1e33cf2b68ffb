"""What a real Claude Code is like when things go wrong: killed, refused by its model, or behind a dialog."""

import os
from collections.abc import Iterator

import msgspec
import pytest
from tests.agents.desk import Desk, opened
from tests.agents.scenes import begins_anew, goes_on, killed_in_a_turn
from tests.support.model import Fault, Reply

import mngr
from mngr.actions.explain import explain
from mngr.actions.list import look_and_list
from mngr.actions.rows import key_of
from mngr.model.agent import AgentState, WaitingReason
from mngr.model.message import Delivery
from mngr.process import wait_until
from mngr.testing.waiting import PATIENCE_S

pytestmark = [pytest.mark.slow, pytest.mark.accept("K14", "K7")]


@pytest.fixture(scope="module")
def shared(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Desk]:
    with opened(Desk, tmp_path_factory.mktemp("claude")) as made:
        yield made


@pytest.fixture
def desk(shared: Desk) -> Desk:
    return shared.at_rest()


def test_killed_in_the_middle_of_a_turn_it_is_done_and_can_go_on(desk: Desk) -> None:
    """Even when its session file is torn; when that is lost, a new conversation begins."""
    killed_in_a_turn(desk)
    session = (desk.state_dir() / "claude/session").read_text().strip()
    os.truncate(session, os.path.getsize(session) - 40)
    goes_on(desk)
    mngr.stop("foo", manager=desk.manager)
    os.truncate(session, 0)
    begins_anew(desk)


def test_a_storm_of_refusals_is_waited_out_and_a_server_that_was_gone(desk: Desk) -> None:
    storm = (Fault(429, retry_after_s=1), Fault(529), Fault(500), Fault(cut_after=2))
    desk.model.add(Reply("after the storm", faults=storm), match="hello")
    desk.send("hello")
    desk.wait(AgentState.RUNNING)
    desk.wait_turn()
    assert desk.said("agent")[-1] == "after the storm"
    assert [asked.prompt for asked in desk.model.asked if asked.has_tools].count("hello") == 5
    desk.model.stop()
    assert desk.send("are you there?").status is Delivery.DELIVERED
    desk.wait(AgentState.RUNNING)
    desk.model.start()
    desk.wait_turn()
    assert desk.said("agent")[-1] == "You said: are you there?"


def test_an_error_of_the_model_ends_the_turn_and_is_an_event(desk: Desk) -> None:
    desk.model.add(Reply("", faults=(Fault(400),) * 20), match="hello")
    desk.send("hello")
    assert wait_until(lambda: "api_error" in desk.kinds(), PATIENCE_S), desk.events()
    assert next(event for event in desk.events() if event.kind == "api_error").data["error"]
    desk.wait(AgentState.WAITING, WaitingReason.END_OF_TURN)
    assert desk.send("again").status is Delivery.DELIVERED
    desk.wait_turn()


def test_without_credentials_it_says_so_instead_of_hanging(shared: Desk) -> None:
    desk = shared.cleared()
    key = desk.keys.pop("ANTHROPIC_API_KEY")
    desk.create("bare")
    desk.keys["ANTHROPIC_API_KEY"] = key
    desk.wait(AgentState.WAITING, WaitingReason.END_OF_TURN, "bare")
    assert "Not logged in" in desk.screen("bare")
    assert desk.send("hello?", "bare").status is Delivery.DELIVERED
    assert wait_until(lambda: "api_error" in desk.kinds("bare"), PATIENCE_S), desk.screen("bare")
    error = desk.wait(AgentState.WAITING, WaitingReason.END_OF_TURN, "bare").model_error
    assert error == mngr.ModelError("authentication", "Not logged in · Please run /login")
    assert desk.model.prompts == []


def test_behind_a_dialog_that_nobody_knows_it_is_unknown_and_the_screen_is_shown(desk: Desk) -> None:
    assert desk.send("/login").status is Delivery.DELIVERED
    assert desk.shows("Select login method"), desk.screen()
    receipt = desk.send("hello")
    assert (receipt.status, "Select login method" in receipt.why) == (Delivery.BLOCKED, True)
    assert desk.agent().state is AgentState.UNKNOWN
    row = look_and_list(manager=desk.manager)[1][key_of(desk.agent())]
    assert any("Select login method" in line for line in explain(row))
    assert desk.model.prompts == []
    desk.keys_typed("Escape")
    assert wait_until(lambda: "Select login method" not in desk.screen(), PATIENCE_S), desk.screen()
    assert desk.send("hello again").status is Delivery.DELIVERED
    desk.wait_turn()


def test_a_trust_dialog_would_be_unknown_too_until_somebody_answers(desk: Desk) -> None:
    """Its answer is given beforehand; taken away, the first screen is a dialog and no message gets through."""
    mngr.stop("foo", manager=desk.manager)
    config = desk.state_dir() / "claude/.claude.json"
    answers = msgspec.json.decode(config.read_bytes())
    config.write_bytes(msgspec.json.encode({**answers, "projects": {}}))
    mngr.start("foo", manager=desk.manager)
    receipt = desk.send("hello")
    assert (receipt.status, "trust" in receipt.why) == (Delivery.BLOCKED, True)
    assert desk.agent().state is AgentState.UNKNOWN
    desk.keys_typed("Enter")
    desk.wait(AgentState.WAITING, WaitingReason.END_OF_TURN)
    assert desk.send("hello").status is Delivery.DELIVERED
    desk.wait_turn()


def test_a_draft_that_somebody_typed_is_not_sent_along(desk: Desk) -> None:
    desk.keys_typed("half a thought")
    assert desk.shows("half a thought")
    receipt = desk.send("hello")
    assert (receipt.status, "half a thought" in receipt.why) == (Delivery.BLOCKED, True)
    desk.keys_typed("C-u")
    assert desk.send("hello").status is Delivery.DELIVERED
    desk.wait_turn()
    assert desk.said("user") == ["hello"]
