"""What a real Codex is like when things go wrong: killed, refused by its model, or behind a dialog."""

import os
import signal
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.agents.desk import PATIENCE_S
from tests.agents.desk_codex import CodexDesk
from tests.support.model import Fault, Model, Reply

import mngr
from mngr.actions.list import explain, look_and_list
from mngr.model.agent import AgentState, WaitingReason
from mngr.model.message import Delivery
from mngr.process import wait_until

pytestmark = [pytest.mark.slow, pytest.mark.accept("K14", "K7")]


@pytest.fixture
def desk(tmp_path: Path, model: Model) -> Iterator[CodexDesk]:
    made = CodexDesk(tmp_path, model)
    yield made
    made.end()


def kill(desk: CodexDesk) -> None:
    """Ends the process in its pane as a crash would."""
    pid = int(desk.world.tmux("display-message", "-p", "-t", "=mngr-foo:", "#{pane_pid}").text)
    os.kill(pid, signal.SIGKILL)


def test_killed_in_the_middle_of_a_turn_it_is_done_and_can_go_on(desk: CodexDesk) -> None:
    never = threading.Event()
    desk.model.add(Reply("never", until=never), match="take your time")
    desk.create(message="remember the owl")
    desk.wait_turn()
    assert desk.send("take your time").status is Delivery.DELIVERED
    desk.wait(AgentState.RUNNING)
    kill(desk)
    killed = desk.wait(AgentState.DONE)
    assert killed.signal == "SIGKILL"
    with pytest.raises(mngr.RefusedError, match="DONE"):
        desk.send("are you there?")
    mngr.start("foo", manager=desk.manager)
    never.set()
    assert desk.send("who was it?").status is Delivery.DELIVERED
    desk.wait_turn()
    assert desk.said("user")[0] == "remember the owl"
    assert desk.said("user")[-1] == "who was it?"


def test_its_app_server_ends_with_it_even_in_the_middle_of_a_turn(desk: CodexDesk) -> None:
    never = threading.Event()
    desk.model.add(Reply("never", until=never), match="take your time")
    desk.create(message="take your time")
    desk.wait(AgentState.RUNNING)
    assert any(b"app-server" in seen.argv for seen in desk.world.processes().values())
    kill(desk)
    gone = wait_until(
        lambda: not any(b"app-server" in seen.argv for seen in desk.world.processes().values()), PATIENCE_S
    )
    never.set()
    assert gone, desk.world.processes()


def test_a_storm_of_refusals_is_told_and_waited_out(desk: CodexDesk) -> None:
    storm = (Fault(429, retry_after_s=1), Fault(429, retry_after_s=1), Fault(cut_after=2))
    desk.model.add(Reply("after the storm", faults=storm), match="hello")
    desk.create(message="hello")
    desk.wait_turn()
    assert desk.said("agent")[-1] == "after the storm"
    errors = [str(event.data["error"]) for event in desk.events() if event.kind == "api_error"]
    assert ["429" in error for error in errors] == [True, True, False]


def test_an_error_of_the_model_ends_the_turn_and_is_an_event(desk: CodexDesk) -> None:
    desk.model.add(Reply("", faults=(Fault(400),) * 20), match="hello")
    desk.create(message="hello")
    desk.wait(AgentState.WAITING, WaitingReason.END_OF_TURN)
    assert wait_until(lambda: {"reason": "api_error"} in [one.data for one in desk.events()], PATIENCE_S)
    assert any(event.kind == "api_error" and "scripted 400" in event.data["error"] for event in desk.events())
    assert "scripted 400" in desk.said("tool")[-1]
    assert desk.send("again").status is Delivery.DELIVERED


def test_a_model_server_that_is_gone_is_told_and_comes_back(desk: CodexDesk) -> None:
    desk.create(message="hello")
    desk.wait_turn()
    desk.model.stop()
    assert desk.send("are you there?").status is Delivery.DELIVERED
    assert wait_until(lambda: "api_error" in desk.kinds(), PATIENCE_S)
    assert desk.agent().state is AgentState.RUNNING
    desk.model.start()
    desk.wait_turn()
    assert desk.said("agent")[-1] == "You said: are you there?"


def test_behind_a_login_it_is_unknown_and_says_how_to_log_in(desk: CodexDesk) -> None:
    agent = mngr.create("foo", type="codex", transfer="none", manager=desk.manager).agent
    receipt = desk.send("hello")
    assert receipt.status is Delivery.BLOCKED
    assert "OPENAI_API_KEY" in receipt.why
    assert "Provide your own API key" in receipt.why
    assert desk.agent().state is AgentState.UNKNOWN
    row = look_and_list(manager=desk.manager)[1][agent.id]
    assert any("Provide your own API key" in line for line in explain(row))
    assert desk.model.prompts == []


def test_behind_a_dialog_it_is_unknown_until_somebody_answers(desk: CodexDesk) -> None:
    """The answer to the trust dialog is given beforehand; taken away, the first screen is that dialog."""
    agent = desk.create()
    desk.wait(AgentState.WAITING, WaitingReason.END_OF_TURN)
    mngr.stop("foo", manager=desk.manager)
    config = Path(desk.world.paths.agent(agent.id).dir) / "codex/config.toml"
    config.write_text(config.read_text().replace('trust_level = "trusted"', ""))
    mngr.start("foo", manager=desk.manager)
    receipt = desk.send("hello")
    assert (receipt.status, "Trust this folder?" in receipt.why) == (Delivery.BLOCKED, True)
    assert desk.agent().state is AgentState.UNKNOWN
    desk.world.tmux("send-keys", "-t", "=mngr-foo:", "Enter")
    desk.wait(AgentState.WAITING, WaitingReason.END_OF_TURN)
    assert desk.send("hello").status is Delivery.DELIVERED


def test_a_draft_that_somebody_typed_is_left_alone(desk: CodexDesk) -> None:
    desk.create()
    desk.wait(AgentState.WAITING, WaitingReason.END_OF_TURN)
    desk.world.tmux("send-keys", "-t", "=mngr-foo:", "half a thought")
    assert wait_until(lambda: "half a thought" in desk.screen(), PATIENCE_S)
    assert desk.send("hello").status is Delivery.DELIVERED
    desk.wait_turn()
    assert desk.said("user") == ["hello"]
    assert "half a thought" in desk.screen()


def test_a_lost_session_file_begins_a_new_conversation(desk: CodexDesk) -> None:
    agent = desk.create(message="hello")
    desk.wait_turn()
    mngr.stop("foo", manager=desk.manager)
    home = Path(desk.world.paths.agent(agent.id).dir) / "codex"
    os.truncate(home / (home / "session").read_text().strip(), 0)
    assert mngr.transcript("foo", manager=desk.manager) == []
    assert mngr.usage(manager=desk.manager).usage == ()
    mngr.start("foo", manager=desk.manager)
    assert desk.send("anew").status is Delivery.DELIVERED
    desk.wait_turn()
    assert desk.said("user") == ["anew"]


def test_a_torn_session_file_is_gone_on_with(desk: CodexDesk) -> None:
    agent = desk.create(message="remember the owl")
    desk.wait_turn()
    mngr.stop("foo", manager=desk.manager)
    home = Path(desk.world.paths.agent(agent.id).dir) / "codex"
    session = home / (home / "session").read_text().strip()
    os.truncate(session, session.stat().st_size - 40)
    assert desk.said("user") == ["remember the owl"]
    mngr.start("foo", manager=desk.manager)
    assert desk.send("who was it?").status is Delivery.DELIVERED
    desk.wait_turn()
    assert desk.said("user") == ["remember the owl", "who was it?"]
