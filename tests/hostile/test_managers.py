"""Several managers on one host dir at once, beside busy loops: no create fails, no agent is lost, no row is wrong.

Short and seeded; `MNGR_TEST_MANAGERS_S` makes it as long as one likes, with more of everything.
"""

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.support.world import World

from mngr.process import wait_until
from mngr.testing.waiting import PATIENCE_S

SECONDS = float(os.environ.get("MNGR_TEST_MANAGERS_S", "8"))
IS_LONG = SECONDS > 60
MANAGERS, BUSY_LOOPS = (4, 8) if IS_LONG else (3, 4)
SEED = 12

# $1 its number, $2 the seed, $3 seconds. Prints a line for everything that is not as it must be, and how much it did.
# Each keeps at most two agents, so that the last session of the server ends again and again.
_MANAGER = """\
import random, sys, time, traceback
import mngr
from mngr.actions.manager import Manager

number, seed, seconds = sys.argv[1], sys.argv[2], float(sys.argv[3])
chance = random.Random(f"{seed} {number}")
end = time.monotonic() + seconds
held, made = [], 0

def row(name):
    listed = mngr.list_agents(mngr.Filter(where=(f"name={name}",)), manager=Manager())
    return [(agent.state, agent.why) for agent in listed.agents]

def expect(what, found, state):
    if [one for one, _ in found] != state:
        print(f"{what}: {found} instead of {state}", flush=True)

def create():
    global made
    name, made = f"m{number}-{made}", made + 1
    agent = mngr.create(name, args=("cat",), transfer="none", manager=Manager()).agent
    held.append(name)
    expect(f"created {name}", [(agent.state, agent.why)], ["RUNNING"])
    expect(f"list after create {name}", row(name), ["RUNNING"])

def message():
    name = chance.choice(held)
    receipt = mngr.message(name, "hello", manager=Manager()).receipt
    if receipt.status != "delivered":
        print(f"message to {name}: {receipt}", flush=True)

def stop():
    name = chance.choice(held)
    mngr.stop(name, manager=Manager())
    expect(f"list after stop {name}", row(name), ["STOPPED"])
    if chance.random() < 0.5:
        mngr.start(name, manager=Manager())
        expect(f"list after start {name}", row(name), ["RUNNING"])
    else:
        destroy(name)

def destroy(name=""):
    name = name or chance.choice(held)
    held.remove(name)
    mngr.destroy(name, manager=Manager())
    expect(f"list after destroy {name}", row(name), [])

def step(act):
    began = time.monotonic()
    try:
        act()
    except Exception as error:
        print(f"{act.__name__} after {time.monotonic() - began:.1f} s: {traceback.format_exc(limit=-4)}", flush=True)

while time.monotonic() < end:
    choices = [create] * (2 - len(held)) + [message, stop, destroy, destroy] * bool(held)
    step(chance.choice(choices))
while held:
    step(destroy)
print(f"made {made}")
"""


@pytest.fixture
def world(tmp_path: Path) -> Iterator[World]:
    made = World(tmp_path)
    yield made
    made.end()


@pytest.fixture
def busy_machine() -> Iterator[None]:
    loops = [subprocess.Popen(["sh", "-c", "while :; do :; done"]) for _ in range(BUSY_LOOPS)]
    yield
    for loop in loops:
        loop.kill()
        loop.wait()


@pytest.mark.slow
@pytest.mark.accept("Q8", "Q14")
@pytest.mark.usefixtures("busy_machine")
def test_managers_on_one_host_dir_lose_nothing_and_see_no_wrong_row(world: World) -> None:
    """Two managers: the last destroy ends the tmux server while others create."""
    env = {**world.env, "PYTHONPATH": os.pathsep.join(sys.path)}
    children = [
        subprocess.Popen(
            [sys.executable, "-c", _MANAGER, str(number), str(SEED), str(SECONDS)],
            cwd=world.home,
            env=env,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
        )
        for number in range(MANAGERS)
    ]
    said = [child.communicate(timeout=SECONDS + 600)[0].decode() for child in children]
    print(*said, sep="\n")
    problems = [line for text in said for line in text.splitlines() if not line.startswith("made ")]
    assert problems == []
    assert all(int(text.split()[1]) > 0 for text in said)
    assert world.left_behind() == []
    assert wait_until(lambda: world.processes() == {}, PATIENCE_S), world.processes()
