"""What a real OpenCode is like when things go wrong: killed, refused by its model, or behind something unknown."""

import json
import os
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.agents.desk import opened
from tests.agents.desk_opencode import OpenCodeDesk
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
def shared(tmp_path_factory: pytest.TempPathFactory) -> Iterator[OpenCodeDesk]:
    with opened(OpenCodeDesk, tmp_path_factory.mktemp("opencode")) as made:
        yield made


@pytest.fixture
def desk(shared: OpenCodeDesk) -> OpenCodeDesk:
    return shared.at_rest()


def test_refusals_are_told_and_waited_out_and_errors_end_the_turn(desk: OpenCodeDesk) -> None:
    storm = (Fault(429, retry_after_s=1), Fault(429, retry_after_s=1), Fault(cut_after=1))
    desk.model.add(Reply("after the storm", faults=storm), match="hello")
    desk.model.add(Reply("", faults=(Fault(400),) * 20), match="no chance")
    desk.send("hello")
    desk.wait_turn()
    assert desk.said("agent")[-1] == "after the storm"
    errors = [str(event.data["error"]) for event in desk.events() if event.kind == "api_error"]
    assert ["429" in error for error in errors] == [True, True, False]
    assert desk.send("no chance").status is Delivery.DELIVERED
    assert wait_until(
        lambda: [one.data for one in desk.events()[-1:]] == [{"reason": "api_error"}], PATIENCE_S
    ), desk.events()
    desk.wait(AgentState.WAITING, WaitingReason.END_OF_TURN)
    assert "scripted 400" in desk.said("tool")[-1]


def test_a_server_that_is_gone_is_told_and_a_draft_is_left_alone(desk: OpenCodeDesk) -> None:
    desk.keys_typed("-l", "half a thought")
    assert desk.shows("half a thought")
    desk.model.stop()
    assert desk.send("are you there?").status is Delivery.DELIVERED
    assert wait_until(lambda: "api_error" in desk.kinds(), PATIENCE_S)
    assert desk.agent().state is AgentState.RUNNING
    desk.model.start()
    desk.wait_turn()
    assert desk.said("agent")[-1] == "You said: are you there?"
    assert desk.said("user") == ["are you there?"]
    assert "half a thought" in desk.screen()
    desk.keys_typed("C-u")


def test_killed_in_the_middle_of_a_turn_it_is_done_and_can_go_on(desk: OpenCodeDesk) -> None:
    """Even when the record is torn; when its database is destroyed, a new conversation begins."""
    killed_in_a_turn(desk)
    home = desk.state_dir() / "opencode"
    os.truncate(home / "record.jsonl", (home / "record.jsonl").stat().st_size - 20)
    goes_on(desk)
    mngr.stop("foo", manager=desk.manager)
    for file in (home / "data/opencode").glob("opencode.db*"):
        file.write_bytes(b"what was a database" * 1000)
    begins_anew(desk)


def test_without_a_login_a_message_is_blocked_with_advice(shared: OpenCodeDesk) -> None:
    """Nobody gave it a provider: OpenCode asks for one on its screen, and the message is in no conversation."""
    desk = shared.cleared()
    desk.keys["OPENCODE_CONFIG_CONTENT"] = json.dumps({"enabled_providers": []})
    desk.create("bare")
    desk.configure()
    receipt = desk.send("hello", "bare")
    assert (receipt.status, "MNGR_OPENCODE_CREDENTIALS" in receipt.why) == (Delivery.BLOCKED, True), receipt
    assert "api_error" in desk.kinds("bare")
    assert desk.said("user", "bare") == []
    assert desk.model.prompts == []
    assert desk.shows("Connect a provider", "bare"), desk.screen("bare")


def test_behind_something_unknown_it_is_unknown_and_the_screen_is_shown(
    shared: OpenCodeDesk, tmp_path: Path
) -> None:
    """As after an upgrade that asks something first: in its place a program that only asks."""
    desk = shared.cleared()
    (tmp_path / "opencode").write_text("#!/bin/sh\necho 'Accept the new terms?'\nexec sleep 1000\n")
    (tmp_path / "opencode").chmod(0o755)
    desk.keys["PATH"] = f"{tmp_path}:{desk.env['PATH']}"
    agent = desk.create("changed")
    del desk.keys["PATH"]
    receipt = desk.send("hello", "changed")
    assert (receipt.status, "Accept the new terms?" in receipt.why) == (Delivery.BLOCKED, True)
    assert desk.agent("changed").state is AgentState.UNKNOWN
    row = look_and_list(manager=desk.manager)[1][key_of(agent)]
    assert any("Accept the new terms?" in line for line in explain(row))
