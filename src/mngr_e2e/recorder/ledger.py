"""Where a test's recordings are, and which processes make them."""

import os
import re

from msgspec import Struct

from mngr_lib.proc import has_proc, read_stat

CASTS = "casts"
RECORDERS = ".recorders"


class Recording(Struct, frozen=True):
    """One recording to be made: `folder` holds what the recorder needs while it runs."""

    cast: str
    folder: str
    number: int
    size: tuple[int, int]
    attach: tuple[str, ...]

    @property
    def error(self) -> str:
        return f"{self.cast}.error"

    @property
    def log(self) -> str:
        return os.path.join(self.folder, f"{self.number}.log")


def recorders_dir(artifacts: str) -> str:
    return os.path.join(artifacts, CASTS, RECORDERS)


def reserve(artifacts: str, agent: str, size: tuple[int, int], attach: tuple[str, ...]) -> Recording:
    """Takes the next free number of this test, also when several agents connect at once."""
    casts, folder = os.path.join(artifacts, CASTS), recorders_dir(artifacts)
    os.makedirs(folder, exist_ok=True)
    taken = [int(found[0]) for name in os.listdir(casts) if (found := re.match(r"\d+(?=-)", name))]
    number = max(taken, default=0) + 1
    while True:
        try:
            os.close(
                os.open(os.path.join(folder, f"{number}.log"), os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o644)
            )
            break
        except FileExistsError:
            number += 1
    name = re.sub(r"[^\w.-]", "_", agent)[:100] or "agent"
    return Recording(os.path.join(casts, f"{number}-{name}.cast"), folder, number, size, attach)


def note_process(folder: str, recorder: int, pid: int) -> None:
    """Adds a process to those that a recorder consists of."""
    with open(os.path.join(folder, str(recorder)), "a") as file:
        file.write(f"{pid} {birth(pid)}\n")


def processes_of(folder: str, recorder: int) -> list[int]:
    """The noted processes of a recorder that still run; a number used again by a stranger does not count."""
    try:
        with open(os.path.join(folder, str(recorder))) as file:
            noted = [line.split(" ", 1) for line in file.read().splitlines()]
    except FileNotFoundError:
        return []
    return [
        int(words[0]) for words in noted if len(words) == 2 and words[1] and birth(int(words[0])) == words[1]
    ]


def birth(pid: int) -> str:
    """When a running process was started, as the system counts it; "" for one that has ended."""
    if not has_proc():
        # Whether a process has this number is all that can be known without /proc.
        try:
            os.kill(pid, 0)
        except ProcessLookupError:
            return ""
        return "unknown"
    stat = read_stat(pid)
    return stat.start if stat and not stat.is_dead else ""
