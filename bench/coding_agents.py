"""How long `stop` of the real coding agents takes, beside what each needs to end when it is sent TERM.

Alone: `python bench/coding_agents.py`.
"""

import os
import select
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))

from bench.results import CODING_AGENTS, FLOOR, OURS, Timing, stop_row
from bench.timing import Samples
from tests.agents.desk import Desk, opened
from tests.agents.desk_codex import CodexDesk
from tests.agents.desk_opencode import OpenCodeDesk
from tests.agents.offline import BIN

from mngr.model.agent import AgentState, WaitingReason
from mngr.testing.waiting import PATIENCE_S

_DESKS = (Desk, CodexDesk, OpenCodeDesk)
_REPS = 3


def measure_stops(root: str) -> tuple[dict[str, dict[str, Timing]], list[str]]:
    """The times of those that are installed, and a notice for each that is not."""
    samples, notices = Samples(), []
    for desk_type, program in zip(_DESKS, CODING_AGENTS, strict=True):
        if not (BIN / program).exists():
            notices.append(f"`{stop_row(program)}` was left out: tools/agent-programs installs it")
            continue
        with opened(desk_type, Path(tempfile.mkdtemp(dir=root, prefix=program))) as desk:
            for rep in range(_REPS):
                samples.add(stop_row(program), OURS, _stop_s(desk, f"a{rep}"))
                samples.add(stop_row(program), FLOOR, _end_s(desk, f"b{rep}"))
    return samples.timings(), notices


def _stop_s(desk: Desk, name: str) -> float:
    _idle(desk, name)
    program = os.path.join(os.path.dirname(sys.executable), "mngr")
    began = time.perf_counter()
    subprocess.run(
        [program, "stop", name],
        env=desk.world.env,
        cwd=desk.world.repo,
        check=True,
        stdout=subprocess.DEVNULL,
    )
    return time.perf_counter() - began


def _end_s(desk: Desk, name: str) -> float:
    """From TERM to its whole group, as a terminal sends signals, until the program is gone."""
    _idle(desk, name)
    pid = desk.pid(name)
    handle = os.pidfd_open(pid)
    began = time.perf_counter()
    os.killpg(pid, signal.SIGTERM)
    try:
        if not select.select([handle], [], [], PATIENCE_S)[0]:
            raise RuntimeError(f"{name} outlived TERM")
    finally:
        os.close(handle)
    return time.perf_counter() - began


def _idle(desk: Desk, name: str) -> None:
    """Makes an agent and waits until it has nothing more to do: what comes up is busy, and ends late."""
    desk.create(name)
    desk.wait(AgentState.WAITING, WaitingReason.END_OF_TURN, name)
    time.sleep(3)


if __name__ == "__main__":
    with tempfile.TemporaryDirectory(prefix="b", dir="/tmp") as folder:
        for row, timings in measure_stops(folder)[0].items():
            print(row, *(f"{who} {timing.median_s:.2f} s" for who, timing in timings.items()))
