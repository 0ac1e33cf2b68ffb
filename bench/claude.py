"""Real Claude Codes on a scripted model: what `list` costs with many of them, and how soon their word is heard.

Alone: `python bench/claude.py`.
"""

import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))

from bench.results import Claudes
from tests.agents.desk import Desk, opened
from tests.agents.offline import BIN
from tests.support.world import World

import mngr
from mngr.model.agent import AgentState, WaitingReason

AGENTS = 20
_ROUNDS = 10
_AT_ONCE = 4


class NoClaudeError(Exception):
    """There is no Claude Code to measure with."""


def measure_claudes(root: str, reps: int) -> Claudes:
    """`list` with living Claude Codes and with as many plain commands, in turns; then messages to one of them."""
    if not (BIN / "claude").exists():
        raise NoClaudeError("Claude Code was left out: tools/agent-programs installs it")
    folders = [Path(tempfile.mkdtemp(dir=root, prefix=name)) for name in ("claude", "plain")]
    plain = World(folders[1])
    try:
        with opened(Desk, folders[0]) as desk:
            _fill(desk, plain)
            both = [(_list_s(plain), _list_s(desk.world)) for _ in range(3 * reps)]
            heard = [_message(desk, number) for number in range(_ROUNDS)]
    finally:
        plain.end()
    return Claudes(
        AGENTS,
        statistics.median(plain_s for plain_s, _ in both),
        statistics.median(claude_s for _, claude_s in both),
        max(confirmed_s for confirmed_s, _ in heard),
        max(ended_s for _, ended_s in heard),
    )


def _fill(desk: Desk, plain: World) -> None:
    """Twenty idle agents in both worlds."""
    claudes = [
        mngr.CreateSpec(name=f"a{number}", type="claude", env=desk.keys, transfer="none")
        for number in range(AGENTS)
    ]
    commands = [
        mngr.CreateSpec(name=f"a{number}", args=("sleep", "10000"), transfer="none")
        for number in range(AGENTS)
    ]
    for manager, specs in ((desk.manager, claudes), (plain.manager(), commands)):
        made = dict(mngr.create_many(list(enumerate(specs)), jobs=_AT_ONCE, manager=manager))
        failed = [one for one in made.values() if not isinstance(one, mngr.Change)]
        if failed:
            raise RuntimeError(f"an agent could not be made: {failed[0]}")
    for spec in claudes:
        desk.wait(AgentState.WAITING, WaitingReason.END_OF_TURN, spec.name)


def _list_s(world: World) -> float:
    program = os.path.join(os.path.dirname(sys.executable), "mngr")
    began = time.perf_counter()
    subprocess.run(
        [program, "list"], env=world.env, cwd=world.repo, check=True, stdout=subprocess.DEVNULL, timeout=60
    )
    return time.perf_counter() - began


def _message(desk: Desk, number: int) -> tuple[float, float]:
    """From its hook's word that it took a message to our receipt, and from its end of turn to our knowing."""
    receipt = desk.send(f"message {number}", "a0")
    desk.wait_turn("a0")
    seen = time.time()
    events = desk.events("a0")
    hook = next(event.at for event in reversed(events) if event.kind == "prompt_submitted")
    end = next(event.at for event in reversed(events) if event.kind == "turn_ended")
    return receipt.at - hook, seen - end


if __name__ == "__main__":
    with tempfile.TemporaryDirectory(prefix="b", dir="/tmp") as folder:
        print(measure_claudes(folder, 7))
