"""What idle agents cost: processes of ours and their memory, read from /proc."""

import subprocess
from statistics import mean

from bench.ours import PROGRAM
from bench.results import Memory
from bench.stage import Stage, processes_under
from msgspec import Struct


class Process(Struct, frozen=True):
    """One line of `ps`, memory in KiB."""

    pid: int
    parent: int
    group: int
    argv: tuple[str, ...]
    rss: int
    pss: int


def look(stage: Stage) -> list[Process]:
    """All that runs on a stage."""
    found = (_process(pid) for pid in processes_under(stage.home))
    return [process for process in found if process]


def cost(few: tuple[Stage, int], many: tuple[Stage, int], recorded: tuple[Stage, int]) -> Memory:
    """From stages with so many agents each: how the server grows, and what recording adds."""
    small, large = look(few[0]), look(many[0])
    growth = _server(large).pss - _server(small).pss
    beside = _beside(large)
    recorders, index = _recording(recorded[0])
    return Memory(
        processes_per_agent=len(beside) / many[1],
        server_per_agent=growth / (many[1] - few[1]),
        recorder_rss=sum(process.rss for process in recorders) / recorded[1],
        recorder_pss=sum(process.pss for process in recorders) / recorded[1],
        index_rss=index,
    )


def _recording(stage: Stage) -> tuple[list[Process], float]:
    """What tmux feeds for its recorded panes; and all else of ours, the index writer, averaged over its ticks."""
    looks = []
    for _ in range(10):
        processes = look(stage)
        server = _server(processes).pid
        beside = _beside(processes)
        groups = {process.group for process in beside if process.parent == server}
        recorders = [process for process in beside if process.group in groups]
        looks.append(sum(process.rss for process in beside if process.group not in groups))
    return recorders, mean(looks)


def _server(processes: list[Process]) -> Process:
    return next(process for process in processes if "start-server" in process.argv)


def _beside(processes: list[Process]) -> list[Process]:
    """Neither the server nor the agents' own programs."""
    server = _server(processes)
    return [process for process in processes if process is not server and process.argv != PROGRAM]


def _process(pid: int) -> Process | None:
    try:
        with open(f"/proc/{pid}/stat", "rb") as file:
            parent, group = map(int, file.read().rpartition(b") ")[2].split()[1:3])
        with open(f"/proc/{pid}/cmdline", "rb") as file:
            argv = tuple(file.read().decode(errors="replace").rstrip("\0").split("\0"))
        with open(f"/proc/{pid}/smaps_rollup", "rb") as file:
            sizes = {line.split()[0]: line.split()[1] for line in file if line.endswith(b" kB\n")}
        return Process(pid, parent, group, argv, int(sizes[b"Rss:"]), int(sizes[b"Pss:"]))
    except (OSError, KeyError):
        return None  # it ended meanwhile


def processes_started(stage: Stage, argv: tuple[str, ...]) -> int:
    """How many processes a command starts, itself included: counted by strace, which must be there."""
    trace = f"{stage.home}/trace"
    calls = "trace=fork,vfork,clone,clone3"
    subprocess.run(
        ("strace", "-f", "-qq", "-e", calls, "-e", "signal=none", "-o", trace, *argv),
        env=stage.env,
        cwd=stage.repo,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        check=True,
    )
    with open(trace, errors="replace") as file:
        made = [line for line in file if "CLONE_THREAD" not in line and _made_one(line)]
    return 1 + len(made)


def _made_one(line: str) -> bool:
    """A call that strace saw return, whole or resumed, with the new process's id."""
    answer = line.rpartition(" = ")[2].split()
    return bool(answer) and answer[0].isdigit() and int(answer[0]) > 0
