"""`make bench`: this project, the bare commands and the published peer, timed in turns in one run."""

import argparse
import os
import resource
import signal
import sys
from collections.abc import Sequence
from types import FrameType
from typing import NoReturn

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))

from bench.claude import NoClaudeError, measure_claudes
from bench.coding_agents import measure_stops
from bench.contest import Contest, Options
from bench.docker import measure as measure_containers
from bench.docker import why_not as why_no_containers
from bench.history import SIZE as PAST
from bench.history import measure as measure_history
from bench.integrate import SIZES
from bench.integrate import measure as integrate_branches
from bench.machine import this_machine
from bench.page import NoPageError, measure_pages
from bench.peer import NoPeerError, install
from bench.pipeline import measure_idle, measure_makespan, measure_simulation
from bench.plot import plots
from bench.redaction import measure as measure_redaction
from bench.remote import NoSshdError, measure_remote
from bench.results import Claudes, Page, Remote, Results, Sandboxes
from bench.sandboxes import SIZES as SANDBOXES
from bench.sandboxes import NoModalError, measure_sandboxes
from bench.stage import workshop
from bench.table import render

HERE = os.path.dirname(os.path.abspath(__file__))


def main(words: list[str]) -> int:
    """Measures, prints the tables and writes them to a file; Ctrl-C leaves nothing behind and writes nothing."""
    asked = _arguments(words)
    signal.signal(signal.SIGTERM, _interrupt)
    _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(
        resource.RLIMIT_NOFILE, (hard, hard)
    )  # a tmux server hangs when it has no more descriptors
    program, version, notices = _peer(asked.no_peer or asked.quick)
    notices += _busy()
    options = Options(reps=asked.reps or (2 if asked.quick else 7), peer=program)
    if asked.quick:
        options = Options(reps=options.reps, hundred=40, thousand=0)
    try:
        with workshop() as root:
            contest = Contest(root, options)
            contest.run()
            simulated = None if asked.quick else measure_simulation()
            idle = None if asked.quick else measure_idle(root)
            makespans = tuple(measure_makespan(root, *size) for size in _sizes(asked.quick))
            redaction = measure_redaction()
            integrated = integrate_branches(root, SIZES[:1] if asked.quick else SIZES)
            indexed = measure_history(root, *((50, 10) if asked.quick else PAST))
            lacking = "containers were left out of this run" if asked.quick else why_no_containers()
            contained, execs = ({}, None) if lacking else measure_containers(root, options.reps)
            remote, remote_notices = _remote(root, options.reps)
            sandboxes, modal_notices = _sandboxes(root, SANDBOXES[:1] if asked.quick else SANDBOXES)
            claudes, claude_notices = (None, []) if asked.quick else _claudes(root, options.reps)
            stopped, stop_notices = ({}, []) if asked.quick else measure_stops(root)
            pages, page_notices = _pages(root, (10,) if asked.quick else (10, 100, 1000))
    except KeyboardInterrupt:
        print("bench: interrupted, nothing is left", file=sys.stderr)
        return 130
    results = Results(
        machine=this_machine(*version),
        times={**contest.samples.timings(), **contained, **stopped},
        processes=contest.processes,
        memory=contest.memory,
        pages=pages,
        integrated=integrated,
        indexed=indexed,
        redaction=redaction,
        makespans=makespans,
        simulated=simulated,
        idle=idle,
        execs=execs,
        remote=remote,
        sandboxes=sandboxes,
        claudes=claudes,
        notices=(
            *notices,
            *([lacking] if lacking else []),
            *contest.notices,
            *remote_notices,
            *modal_notices,
            *claude_notices,
            *stop_notices,
            *page_notices,
        ),
    )
    _publish(render(results), asked.out or ("" if asked.quick else os.path.join(HERE, "RESULTS.md")))
    if not (asked.quick or asked.out):
        _draw(results, os.path.join(os.path.dirname(HERE), "docs", "images"))
    return 0


def _sizes(is_quick: bool) -> tuple[tuple[int, int, tuple[float, float]], ...]:
    """How many agents, on how many slots, working for how long."""
    if is_quick:
        return ((6, 3, (1.0, 2.0)),)
    return ((12, 4, (5.0, 15.0)), (100, 20, (20.0, 60.0)), (200, 20, (20.0, 60.0)))


def _arguments(words: list[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="bench/run.py", description=__doc__)
    parser.add_argument(
        "--quick", action="store_true", help="few repetitions, no 1,000 agents, no peer, no file"
    )
    parser.add_argument("--no-peer", action="store_true", help="without imbue-mngr")
    parser.add_argument(
        "--reps", type=int, default=0, metavar="N", help="repetitions of what is slow; default 7"
    )
    parser.add_argument("--out", default="", metavar="FILE", help="default: RESULTS.md beside this file")
    return parser.parse_args(words)


def _peer(is_unwanted: bool) -> tuple[str, tuple[str, ...], list[str]]:
    """The peer's program and version, or why there is none."""
    if is_unwanted:
        return "", (), ["the peer was left out of this run"]
    try:
        program, version = install()
    except NoPeerError as error:
        print(f"bench: {error}", file=sys.stderr)
        return "", (), [str(error)]
    return program, (version,), []


def _pages(root: str, sizes: Sequence[int]) -> tuple[tuple[Page, ...], list[str]]:
    """What the pages of so many tests cost, or why that was not measured."""
    try:
        return tuple(measure_pages(root, sizes)), []
    except NoPageError as error:
        return (), [str(error)]


def _remote(root: str, reps: int) -> tuple[Remote | None, list[str]]:
    """What machines by ssh cost, or why that was not measured."""
    try:
        return measure_remote(root, reps), []
    except NoSshdError as error:
        return None, [str(error)]


def _sandboxes(root: str, sizes: Sequence[int]) -> tuple[tuple[Sandboxes, ...], list[str]]:
    """What so many sandboxes at a loopback Modal cost, or why that was not measured."""
    try:
        return measure_sandboxes(root, sizes), []
    except NoModalError as error:
        return (), [str(error)]


def _claudes(root: str, reps: int) -> tuple[Claudes | None, list[str]]:
    """What real coding agents cost, or why that was not measured."""
    try:
        return measure_claudes(root, reps), []
    except NoClaudeError as error:
        return None, [str(error)]


def _busy() -> list[str]:
    load, cores = os.getloadavg()[0], os.cpu_count() or 1
    if load < cores / 2:
        return []
    return [f"the machine was busy with other things (load {load:.1f} on {cores} cores): ratios suffer"]


def _publish(text: str, file: str) -> None:
    print(text)
    if file:
        with open(file, "w") as out:
            out.write(text)


def _draw(results: Results, folder: str) -> None:
    for name, text in plots(results).items():
        with open(os.path.join(folder, name), "w") as out:
            out.write(text)


def _interrupt(_: int, __: FrameType | None) -> NoReturn:
    raise KeyboardInterrupt


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
