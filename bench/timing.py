"""Stopwatch and round robin: every contender's turn comes once in every repetition."""

import os
import select
import subprocess
import time
from collections.abc import Callable, Iterable, Sequence
from multiprocessing.pool import ThreadPool
from random import Random

from bench.results import Timing
from bench.stage import Stage
from msgspec import Struct

_DEADLINE_S = 600.0


class Step(Struct, frozen=True):
    """Commands one after another, or `jobs` at once, with the same bytes on stdin."""

    commands: tuple[tuple[str, ...], ...]
    stdin: bytes = b""
    jobs: int = 1


class Turn(Struct, frozen=True):
    """One contender's part of a repetition. `act` returns the seconds that count; without a row none do."""

    row: str
    contender: str
    act: Callable[[int], float]


class Samples:
    """Seconds by row and contender."""

    def __init__(self) -> None:
        self._seconds: dict[str, dict[str, list[float]]] = {}

    def add(self, row: str, contender: str, seconds: float) -> None:
        self._seconds.setdefault(row, {}).setdefault(contender, []).append(seconds)

    def timings(self) -> dict[str, dict[str, Timing]]:
        return {
            row: {name: Timing(tuple(seconds)) for name, seconds in by_name.items()}
            for row, by_name in self._seconds.items()
        }


def take_turns(
    samples: Samples, groups: Iterable[Sequence[Turn]], reps: int, *, warm_up: bool = True
) -> None:
    """All groups in order, `reps` times, each group in another order every time.

    Whoever comes after a heavy contender finds cold caches: nobody shall always be that one. A first round that
    does not count warms caches and compiled files.
    """
    groups = [list(group) for group in groups]
    order = Random(0)
    for rep in range(0 if warm_up else 1, reps + 1):
        for group in groups:
            for turn in order.sample(group, len(group)):
                seconds = turn.act(rep)
                if rep and turn.row:
                    samples.add(turn.row, turn.contender, seconds)


def time_step(stage: Stage, step: Step) -> float:
    """Seconds from the first start to the last end; a command that fails ends the benchmark."""
    began = time.perf_counter()
    if step.jobs == 1:
        for argv in step.commands:
            _run(stage, argv, step.stdin)
    else:
        with ThreadPool(step.jobs) as pool:
            pool.map(lambda argv: _run(stage, argv, step.stdin), step.commands, chunksize=1)
    return time.perf_counter() - began


def _run(stage: Stage, argv: tuple[str, ...], stdin: bytes) -> None:
    # A file, not a pipe: a daemon that keeps stderr open must not keep us.
    with open(stage.complaints, "w+b") as complaints:
        child = subprocess.Popen(
            argv,
            stdin=subprocess.PIPE if stdin else subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=complaints,
            env=stage.env,
            cwd=stage.repo,
        )
        try:
            if child.stdin:
                child.stdin.write(stdin)
                child.stdin.close()
            code = _wait(child)
        except BaseException:
            child.kill()
            child.wait()
            raise
        if code != 0:
            complaints.seek(0)
            said = complaints.read()[-2000:].decode(errors="replace").strip()
            raise RuntimeError(f"{' '.join(argv)[:200]} failed with {code}: {said}")


def _wait(child: "subprocess.Popen[bytes]") -> int:
    """Its exit code at once: `Popen.wait` with a deadline looks only now and then, up to 50 ms late."""
    handle = os.pidfd_open(child.pid)
    try:
        if not select.select([handle], [], [], _DEADLINE_S)[0]:
            raise RuntimeError(f"{child.args!r:.200} did not end within {_DEADLINE_S:g} s")
    finally:
        os.close(handle)
    return child.wait()
