"""What `create` returns."""

from pathlib import Path

import pytest
from tests.support.world import World

from mngr.actions.exec import exec_in
from mngr.actions.list import list_agents
from mngr.errors import MngrError


def test_the_record_it_returns_is_the_record_that_list_shows(world: World) -> None:
    made = world.create("one", args=("sleep", "1000"), labels={"k": "v"})
    assert made == list_agents(manager=world.manager_here).agents[0]


def test_programs_in_its_own_bin_come_first_for_the_agent_and_for_what_is_run_in_its_place(
    world: World,
) -> None:
    setup = 'd=$MNGR_AGENT_STATE_DIR/bin; mkdir "$d"; printf "#!/bin/sh\\necho mine\\n" >"$d/ls"; chmod +x "$d/ls"'
    agent = world.create("one", "sh", "-c", 'ls >"$MNGR_OUTBOX/said"; cat', setup=setup)
    said = Path(world.own(agent).outbox, "said")
    world.eventually(lambda: said.exists() and said.read_text() == "mine\n")
    heard: list[bytes] = []
    exec_in(agent, ["ls"], on_output=lambda _, data: heard.append(data), manager=world.manager_here)
    assert heard == [b"mine\n"]


def test_a_long_setup_that_fails_is_shown_by_its_end(world: World) -> None:
    with pytest.raises(MngrError) as caught:
        world.create("one", setup="# long\n" * 1000 + "make install || exit 9")
    assert caught.value.hint.endswith("make install || exit 9")
    assert len(caught.value.hint) < 600
    assert world.names() == []
