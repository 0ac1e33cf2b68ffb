"""`[notify] command` is told once when an agent starts to wait."""

from pathlib import Path

from tests.support.world import World

import mngr
from mngr.actions.manager import Manager
from mngr.process import wait_until
from mngr.testing.waiting import PATIENCE_S


def test_each_waiting_is_told_once_however_many_watch(tmp_path: Path) -> None:
    world = World(tmp_path)
    told = tmp_path / "told"
    override = f'notify.command=sh -c \'echo "$MNGR_AGENT_NAME: $1" >>"{told}"\' x'
    manager = Manager(str(world.repo), world.env, [override])
    try:
        mngr.create("foo", type="scripted", transfer="none", message="one", manager=manager)
        for _ in range(2):
            assert [each.reached for each in mngr.wait("foo", timeout_s=PATIENCE_S, manager=manager)] == [
                True
            ]
        assert told.read_text() == "foo: foo waits: end of turn\n"
        mngr.message("foo", "two", manager=manager)
        list(mngr.wait("foo", timeout_s=PATIENCE_S, manager=manager))
        # The watcher of an earlier wait may be the one that tells, and take its time.
        wait_until(lambda: told.read_text().count("\n") > 1, PATIENCE_S)
        assert told.read_text() == "foo: foo waits: end of turn\n" * 2
    finally:
        world.end()
