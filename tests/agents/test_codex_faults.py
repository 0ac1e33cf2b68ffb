"""What a real Codex is like when things go wrong: killed, refused by its model, or behind a dialog."""

import os
from collections.abc import Iterator

import pytest
from tests.agents.desk import opened
from tests.agents.desk_codex import CodexDesk
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
def shared(tmp_path_factory: pytest.TempPathFactory) -> Iterator[CodexDesk]:
    with opened(CodexDesk, tmp_path_factory.mktemp("codex")) as made:
        yield made


@pytest.fixture
def desk(shared: CodexDesk) -> CodexDesk:
    return shared.at_rest()


def app_servers(desk: CodexDesk) -> list[list[bytes]]:
    return [seen.argv for seen in desk.world.processes().values() if b"app-server" in seen.argv]


def test_killed_in_the_middle_of_a_turn_it_is_done_and_can_go_on(desk: CodexDesk) -> None:
    """Even when its session file is torn; when that is lost, a new conversation begins."""
    assert app_servers(desk)
    killed_in_a_turn(desk)
    assert wait_until(lambda: not app_servers(desk), PATIENCE_S), "its app server outlived it"
    home = desk.state_dir() / "codex"
    session = home / (home / "session").read_text().strip()
    os.truncate(session, session.stat().st_size - 40)
    goes_on(desk)
    mngr.stop("foo", manager=desk.manager)
    os.truncate(session, 0)
    begins_anew(desk)


def test_a_storm_of_refusals_is_told_and_waited_out_and_a_server_that_was_gone(desk: CodexDesk) -> None:
    storm = (Fault(429, retry_after_s=1), Fault(429, retry_after_s=1), Fault(cut_after=2))
    desk.model.add(Reply("after the storm", faults=storm), match="hello")
    desk.send("hello")
    desk.wait_turn()
    assert desk.said("agent")[-1] == "after the storm"
    errors = [str(event.data["error"]) for event in desk.events() if event.kind == "api_error"]
    assert ["429" in error for error in errors] == [True, True, False]
    desk.model.stop()
    assert desk.send("are you there?").status is Delivery.DELIVERED
    assert wait_until(lambda: desk.kinds().count("api_error") > 3, PATIENCE_S)
    assert desk.agent().state is AgentState.RUNNING
    desk.model.start()
    desk.wait_turn()
    assert desk.said("agent")[-1] == "You said: are you there?"


def test_an_error_of_the_model_ends_the_turn_and_is_an_event(desk: CodexDesk) -> None:
    desk.model.add(Reply("", faults=(Fault(400),) * 20), match="hello")
    desk.send("hello")
    assert wait_until(lambda: {"reason": "api_error"} in [one.data for one in desk.events()], PATIENCE_S)
    assert any(event.kind == "api_error" and "scripted 400" in event.data["error"] for event in desk.events())
    desk.wait(AgentState.WAITING, WaitingReason.END_OF_TURN)
    assert "scripted 400" in desk.said("tool")[-1]
    assert desk.send("again").status is Delivery.DELIVERED
    desk.wait_turn()


def test_behind_a_login_it_is_unknown_and_says_how_to_log_in(shared: CodexDesk) -> None:
    desk = shared.cleared()
    agent = mngr.create("bare", type="codex", transfer="none", manager=desk.manager).agent
    receipt = desk.send("hello", "bare")
    assert receipt.status is Delivery.BLOCKED
    assert "OPENAI_API_KEY" in receipt.why
    assert "Provide your own API key" in receipt.why
    assert desk.agent("bare").state is AgentState.UNKNOWN
    row = look_and_list(manager=desk.manager)[1][key_of(agent)]
    assert any("Provide your own API key" in line for line in explain(row))
    assert desk.model.prompts == []


def test_behind_a_dialog_it_is_unknown_until_somebody_answers(desk: CodexDesk) -> None:
    """The answer to the trust dialog is given beforehand; taken away, the first screen is that dialog."""
    mngr.stop("foo", manager=desk.manager)
    config = desk.state_dir() / "codex/config.toml"
    config.write_text(config.read_text().replace('trust_level = "trusted"', ""))
    mngr.start("foo", manager=desk.manager)
    receipt = desk.send("hello")
    assert (receipt.status, "Trust this folder?" in receipt.why) == (Delivery.BLOCKED, True)
    assert desk.agent().state is AgentState.UNKNOWN
    desk.keys_typed("Enter")
    desk.wait(AgentState.WAITING, WaitingReason.END_OF_TURN)
    assert desk.send("hello").status is Delivery.DELIVERED
    desk.wait_turn()


def test_a_draft_that_somebody_typed_is_left_alone(desk: CodexDesk) -> None:
    desk.keys_typed("half a thought")
    assert desk.shows("half a thought")
    assert desk.send("hello").status is Delivery.DELIVERED
    desk.wait_turn()
    assert desk.said("user") == ["hello"]
    assert "half a thought" in desk.screen()
    desk.keys_typed("C-u")
