"""`make bench`: this project, the bare commands and the published peer, timed in turns in one run."""

import argparse
import os
import resource
import signal
import sys
from types import FrameType
from typing import NoReturn

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))

from bench.contest import Contest, Options
from bench.machine import this_machine
from bench.peer import NoPeerError, install
from bench.results import Results
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
    except KeyboardInterrupt:
        print("bench: interrupted, nothing is left", file=sys.stderr)
        return 130
    results = Results(
        machine=this_machine(*version),
        times=contest.samples.timings(),
        processes=contest.processes,
        memory=contest.memory,
        notices=(*notices, *contest.notices),
    )
    _publish(render(results), asked.out or ("" if asked.quick else os.path.join(HERE, "RESULTS.md")))
    return 0


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


def _interrupt(_: int, __: FrameType | None) -> NoReturn:
    raise KeyboardInterrupt


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
