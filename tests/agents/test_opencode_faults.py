"""What a real OpenCode is like when things go wrong: killed, refused by its model, or without its plugin."""

import os
import signal
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.agents.desk_opencode import PATIENCE_S, OpenCodeDesk
from tests.support.model import Fault, Model, Reply

import mngr
from mngr.actions.list import explain, look_and_list
from mngr.model.agent import AgentState, WaitingReason
from mngr.model.message import Delivery
from mngr.process import wait_until

pytestmark = [pytest.mark.slow, pytest.mark.accept("K14", "K7")]


@pytest.fixture
def desk(tmp_path: Path, model: Model) -> Iterator[OpenCodeDesk]:
    made = OpenCodeDesk(tmp_path, model)
    yield made
    made.world.end()


def home(desk: OpenCodeDesk) -> Path:
    return Path(desk.world.paths.agent(desk.agent().id).dir) / "opencode"


def test_killed_in_the_middle_of_a_turn_it_is_done_and_can_go_on(desk: OpenCodeDesk) -> None:
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
    record = home(desk) / "record.jsonl"
    os.truncate(record, record.stat().st_size - 20)
    mngr.start("foo", manager=desk.manager)
    assert desk.send("who was it?").status is Delivery.DELIVERED
    desk.wait_turn()
    assert desk.said("user")[0] == "remember the owl"
    assert desk.said("user")[-1] == "who was it?"
    assert "remember the owl" in str(desk.model.asked[-1].body["messages"])


def test_refusals_are_told_and_waited_out_and_errors_end_the_turn(desk: OpenCodeDesk) -> None:
    storm = (Fault(429, retry_after_s=1), Fault(429, retry_after_s=1), Fault(cut_after=1))
    desk.model.add(Reply("after the storm", faults=storm), match="hello")
    desk.model.add(Reply("", faults=(Fault(400),) * 20), match="no chance")
    desk.create(message="hello")
    desk.wait_turn()
    assert desk.said("agent")[-1] == "after the storm"
    errors = [str(event.data["error"]) for event in desk.events() if event.kind == "api_error"]
    assert ["429" in error for error in errors] == [True, True, False]
    assert desk.send("no chance").status is Delivery.DELIVERED
    desk.wait(AgentState.WAITING, WaitingReason.END_OF_TURN)
    assert wait_until(lambda: desk.events()[-1].data == {"reason": "api_error"}, PATIENCE_S), desk.events()
    assert "scripted 400" in desk.said("tool")[-1]


def test_a_model_server_that_is_gone_is_told_and_comes_back(desk: OpenCodeDesk) -> None:
    desk.create(message="hello")
    desk.wait_turn()
    desk.model.stop()
    assert desk.send("are you there?").status is Delivery.DELIVERED
    assert wait_until(lambda: "api_error" in desk.kinds(), PATIENCE_S)
    desk.model.start()
    desk.wait_turn()
    assert desk.said("agent")[-1] == "You said: are you there?"


def test_without_a_model_it_says_so_instead_of_hanging(desk: OpenCodeDesk) -> None:
    """Nobody gave it a key: OpenCode shows how to connect a provider, and a message gets its error."""
    del desk.keys["OPENCODE_CONFIG_CONTENT"]
    desk.configure(model=None, small_model=None, provider={}, enabled_providers=[])
    desk.create()
    receipt = desk.send("hello")
    assert receipt.status in (Delivery.DELIVERED, Delivery.BLOCKED)
    if receipt.status is Delivery.DELIVERED:
        assert wait_until(lambda: "api_error" in desk.kinds(), PATIENCE_S), (
            f"{desk.events()}\n{desk.screen()}"
        )
    assert desk.model.prompts == []


def test_behind_something_unknown_it_is_unknown_and_the_screen_is_shown(desk: OpenCodeDesk) -> None:
    agent = desk.create()
    desk.wait(AgentState.WAITING, WaitingReason.END_OF_TURN)
    mngr.stop("foo", manager=desk.manager)
    program = Path(desk.world.paths.agent(agent.id).bin) / "opencode"
    program.parent.mkdir(exist_ok=True)
    program.write_text("#!/bin/sh\necho 'Accept the new terms?'\nexec sleep 1000\n")
    program.chmod(0o755)
    mngr.start("foo", manager=desk.manager)
    assert wait_until(lambda: "Accept the new terms?" in desk.screen(), PATIENCE_S), desk.screen()
    receipt = desk.send("hello")
    assert (receipt.status, "Accept the new terms?" in receipt.why) == (Delivery.BLOCKED, True)
    assert desk.agent().state is AgentState.UNKNOWN
    row = look_and_list(manager=desk.manager)[1][agent.id]
    assert any("Accept the new terms?" in line for line in explain(row))


def test_a_draft_that_somebody_typed_is_left_alone(desk: OpenCodeDesk) -> None:
    desk.create(message="hello")
    desk.wait_turn()
    desk.world.tmux("send-keys", "-t", "=mngr-foo:", "-l", "half a thought")
    assert wait_until(lambda: "half a thought" in desk.screen(), PATIENCE_S)
    assert desk.send("and now?").status is Delivery.DELIVERED
    desk.wait_turn()
    assert desk.said("user") == ["hello", "and now?"]
    assert "half a thought" in desk.screen()


def test_a_lost_database_begins_a_new_conversation(desk: OpenCodeDesk) -> None:
    desk.create(message="hello")
    desk.wait_turn()
    mngr.stop("foo", manager=desk.manager)
    for file in (home(desk) / "data/opencode").glob("opencode.db*"):
        file.unlink()
    assert mngr.transcript("foo", manager=desk.manager) == []
    mngr.start("foo", manager=desk.manager)
    assert desk.send("anew").status is Delivery.DELIVERED
    desk.wait_turn()
    assert desk.said("user") == ["anew"]
