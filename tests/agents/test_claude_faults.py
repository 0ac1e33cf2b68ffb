"""What a real Claude Code is like when things go wrong: killed, refused by its model, or behind a dialog."""

import os
import signal
import threading

import msgspec
import pytest
from tests.agents.desk import PATIENCE_S, Desk
from tests.support.model import Fault, Reply

import mngr
from mngr.actions.list import explain, look_and_list
from mngr.model.agent import AgentState, WaitingReason
from mngr.model.message import Delivery
from mngr.process import wait_until

pytestmark = [pytest.mark.slow, pytest.mark.accept("K14", "K7")]


def test_killed_in_the_middle_of_a_turn_it_is_done_and_can_go_on(desk: Desk) -> None:
    never = threading.Event()
    desk.model.add(Reply("never", until=never), match="take your time")
    desk.create(message="remember the owl")
    desk.wait_turn()
    assert desk.send("take your time").status is Delivery.DELIVERED
    desk.wait(AgentState.RUNNING)
    pid = int(desk.world.tmux("display-message", "-p", "-t", "=mngr-foo:", "#{pane_pid}").text)
    os.kill(pid, signal.SIGKILL)
    killed = desk.wait(AgentState.DONE)
    never.set()
    assert killed.signal == "SIGKILL"
    with pytest.raises(mngr.RefusedError, match="DONE"):
        desk.send("are you there?")
    mngr.start("foo", manager=desk.manager)
    assert desk.send("who was it?").status is Delivery.DELIVERED
    desk.wait_turn()
    assert desk.said("user")[0] == "remember the owl"
    assert desk.said("user")[-1] == "who was it?"


def test_a_storm_of_refusals_is_waited_out(desk: Desk) -> None:
    storm = (Fault(429, retry_after_s=1), Fault(529), Fault(500), Fault(cut_after=2))
    desk.model.add(Reply("after the storm", faults=storm), match="hello")
    desk.create(message="hello")
    desk.wait(AgentState.RUNNING)
    desk.wait_turn()
    assert desk.said("agent")[-1] == "after the storm"
    assert [asked.prompt for asked in desk.model.asked if asked.has_tools].count("hello") == 5


def test_an_error_of_the_model_ends_the_turn_and_is_an_event(desk: Desk) -> None:
    desk.model.add(Reply("", faults=(Fault(400),) * 20), match="hello")
    desk.create(message="hello")
    agent = desk.wait(AgentState.WAITING, WaitingReason.END_OF_TURN)
    assert agent.why
    assert wait_until(lambda: "api_error" in desk.kinds(), PATIENCE_S), desk.events()
    assert next(event for event in desk.events() if event.kind == "api_error").data["error"]
    assert desk.send("again").status is Delivery.DELIVERED


def test_a_model_server_that_is_gone_and_comes_back_loses_nothing(desk: Desk) -> None:
    desk.create(message="hello")
    desk.wait_turn()
    desk.model.stop()
    assert desk.send("are you there?").status is Delivery.DELIVERED
    desk.wait(AgentState.RUNNING)
    desk.model.start()
    desk.wait_turn()
    assert desk.said("agent")[-1] == "You said: are you there?"


def test_without_credentials_it_says_so_instead_of_hanging(desk: Desk) -> None:
    del desk.keys["ANTHROPIC_API_KEY"]
    desk.create()
    desk.wait(AgentState.WAITING, WaitingReason.END_OF_TURN)
    assert "Not logged in" in desk.screen()
    assert desk.send("hello?").status is Delivery.DELIVERED
    assert wait_until(lambda: "api_error" in desk.kinds(), PATIENCE_S), f"{desk.events()}\n{desk.screen()}"
    assert desk.model.prompts == []


def test_behind_a_dialog_that_nobody_knows_it_is_unknown_and_the_screen_is_shown(desk: Desk) -> None:
    agent = desk.create()
    desk.wait(AgentState.WAITING, WaitingReason.END_OF_TURN)
    assert desk.send("/login").status is Delivery.DELIVERED
    assert wait_until(lambda: "Select login method" in desk.screen(), PATIENCE_S), desk.screen()
    receipt = desk.send("hello")
    assert (receipt.status, "Select login method" in receipt.why) == (Delivery.BLOCKED, True)
    assert desk.agent().state is AgentState.UNKNOWN
    row = look_and_list(manager=desk.manager)[1][agent.id]
    assert any("Select login method" in line for line in explain(row))
    assert desk.model.prompts == []
    desk.world.tmux("send-keys", "-t", "=mngr-foo:", "Escape")
    assert wait_until(lambda: "Select login method" not in desk.screen().splitlines()[-20:], PATIENCE_S)
    assert desk.send("hello again").status is Delivery.DELIVERED


def test_a_trust_dialog_would_be_unknown_too(desk: Desk) -> None:
    """Its answer is given beforehand; taken away, the first screen is a dialog and no message gets through."""
    agent = desk.create()
    desk.wait(AgentState.WAITING, WaitingReason.END_OF_TURN)
    mngr.stop("foo", manager=desk.manager)
    config = f"{desk.world.paths.agent(agent.id).dir}/claude/.claude.json"
    with open(config, "rb") as file:
        answers = msgspec.json.decode(file.read())
    with open(config, "wb") as file:
        file.write(msgspec.json.encode({**answers, "projects": {}}))
    mngr.start("foo", manager=desk.manager)
    receipt = desk.send("hello")
    assert (receipt.status, "trust" in receipt.why) == (Delivery.BLOCKED, True)
    assert desk.agent().state is AgentState.UNKNOWN


def test_a_draft_that_somebody_typed_is_not_sent_along(desk: Desk) -> None:
    desk.create()
    desk.wait(AgentState.WAITING, WaitingReason.END_OF_TURN)
    desk.world.tmux("send-keys", "-t", "=mngr-foo:", "half a thought")
    assert wait_until(lambda: "half a thought" in desk.screen(), PATIENCE_S)
    receipt = desk.send("hello")
    assert (receipt.status, "half a thought" in receipt.why) == (Delivery.BLOCKED, True)
    desk.world.tmux("send-keys", "-t", "=mngr-foo:", "C-u")
    assert desk.send("hello").status is Delivery.DELIVERED
    desk.wait_turn()
    assert desk.said("user") == ["hello"]


def test_a_lost_session_file_begins_a_new_conversation(desk: Desk) -> None:
    agent = desk.create(message="hello")
    desk.wait_turn()
    mngr.stop("foo", manager=desk.manager)
    home = f"{desk.world.paths.agent(agent.id).dir}/claude"
    with open(f"{home}/session") as file:
        os.truncate(file.read().strip(), 0)
    assert mngr.transcript("foo", manager=desk.manager) == []
    assert mngr.usage(manager=desk.manager).usage == ()
    mngr.start("foo", manager=desk.manager)
    assert desk.send("anew").status is Delivery.DELIVERED
    desk.wait_turn()
    assert desk.said("user") == ["anew"]
