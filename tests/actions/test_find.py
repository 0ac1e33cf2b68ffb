from tests.support.world import World

import mngr
from mngr.process import wait_until
from mngr.testing.waiting import PATIENCE_S


def test_an_agent_that_was_looked_at_stands_for_its_name(world: World) -> None:
    world.create("foo", "sh", "-c", "echo hello; echo made >made; sleep 1000")
    assert wait_until(lambda: "hello" in mngr.capture("foo", manager=world.manager_here), PATIENCE_S)
    row = mngr.find("foo", manager=world.manager_here)
    assert "hello" in mngr.capture(row, manager=world.manager_here)
    mngr.rename("foo", "bar", manager=world.manager_here)
    assert mngr.pull_files(row, ["made"], str(world.folder / "to"), manager=world.manager_here).files == (
        "made",
    )
    assert (
        mngr.usage(row, manager=world.manager_here).total
        == mngr.usage("bar", manager=world.manager_here).total
    )
    assert mngr.pull(row, manager=world.manager_here).branch == row.agent.branch
