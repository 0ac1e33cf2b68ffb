"""`gc` against creations under way: it finds nothing to remove, and every creation succeeds."""

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.support.world import World

import mngr
from mngr.testing.waiting import PATIENCE_S

RUNS = int(os.environ.get("MNGR_TEST_GC", "8"))
CREATORS = 3

# Creates and destroys until it is told to end, and says how often.
CREATE = """
import select, sys
import mngr
n, name = 0, sys.argv[1]
while not select.select([sys.stdin], [], [], 0)[0]:
    agent = mngr.create(name, args=("sleep", "1000"), transfer=sys.argv[2]).agent
    assert agent.state == "RUNNING", agent
    assert [change.notes for change in mngr.destroy(name)] == [()]
    n += 1
print(n)
"""


@pytest.fixture
def world(tmp_path: Path) -> Iterator[World]:
    made = World(tmp_path)
    yield made
    made.end()


@pytest.mark.accept("Q15")
def test_gc_leaves_creations_alone_however_often_it_runs(world: World) -> None:
    """TH-M7."""
    env = {**world.env, "PYTHONPATH": os.pathsep.join(sys.path)}
    creators = [
        subprocess.Popen(
            [sys.executable, "-c", CREATE, f"a{number}", transfer],
            cwd=world.repo,
            env=env,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        for number, transfer in zip(range(CREATORS), ("worktree", "none", "mirror"), strict=True)
    ]
    manager, found = world.manager(), list[object]()
    for _ in range(RUNS):
        garbage = mngr.find_garbage(manager=manager)
        found += [item for item in garbage if item.kind == "creation"]
        mngr.remove_garbage(garbage, manager=manager)
    said = [creator.communicate("\n", timeout=PATIENCE_S) for creator in creators]
    assert [(creator.returncode, errors) for creator, (_, errors) in zip(creators, said, strict=True)] == [
        (0, "")
    ] * CREATORS
    assert all(int(number) > 0 for number, _ in said)
    assert found == []
    assert world.left_behind() == []
