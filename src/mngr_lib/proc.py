"""What the kernel says of this machine's processes: the one reader of /proc. Where there is none, nothing is known."""

import os

from msgspec import Struct

# The share of ten seconds in which every program waited for memory, in percent; the share of memory that is free.
_MOST_STALLED, _LEAST_FREE = 20.0, 0.04


class ProcessStat(Struct, frozen=True):
    """Some of /proc/PID/stat."""

    state: str
    """One letter; Z and X are dead."""
    parent: int
    group: int
    start: str
    """When it began, in the kernel's ticks since the boot: with the pid it names one process."""

    @property
    def is_dead(self) -> bool:
        return self.state in ("Z", "X")


def has_proc() -> bool:
    return os.path.isdir("/proc/self")


def process_ids() -> list[int]:
    """The processes there are; none where there is no /proc."""
    try:
        return [int(name) for name in os.listdir("/proc") if name.isdigit()]
    except OSError:
        return []


def read_stat(pid: int) -> ProcessStat | None:
    """None for a process that is gone, or where there is no /proc."""
    return parse_stat(read_entry(pid, "stat").decode(errors="replace"))


def parse_stat(text: str) -> ProcessStat | None:
    """The fields of a line of /proc/PID/stat, also of another machine; None when it is none."""
    fields = _fields(text)
    try:
        return ProcessStat(fields[0], int(fields[1]), int(fields[2]), fields[19])
    except (IndexError, ValueError):
        return None


def start_of(pid: int) -> str:
    """When a process began; "" for one that is gone, or where there is no /proc."""
    stat = read_stat(pid)
    return stat.start if stat else ""


def start_time(text: str) -> str:
    """Field 22 of a line of /proc/PID/stat; "" for any other text."""
    fields = _fields(text)
    return fields[19] if len(fields) > 19 else ""


def read_entry(pid: int, name: str) -> bytes:
    """`environ`, `cmdline` or another file of a process; empty where it is gone or belongs to another user."""
    try:
        with open(f"/proc/{pid}/{name}", "rb") as file:
            return file.read()
    except OSError:
        return b""


def boot_id() -> str:
    """What changes with every boot of this machine; "" where there is no /proc."""
    try:
        with open("/proc/sys/kernel/random/boot_id", "rb") as file:
            return file.read().decode().strip()
    except OSError:
        return ""


def available_memory() -> int:
    """Bytes that new processes can have; half of the machine's where the kernel does not say."""
    try:
        with open("/proc/meminfo", encoding="ascii") as file:
            lines = dict(line.split(":", 1) for line in file)
        return int(lines["MemAvailable"].split()[0]) << 10
    except (OSError, KeyError, ValueError):
        return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE") // 2


def is_memory_short(proc: str = "/proc") -> bool:
    """Whether this machine has hardly any memory left, or its programs mostly wait for some."""
    try:
        with open(f"{proc}/pressure/memory", encoding="ascii") as file:
            full = next(line for line in file if line.startswith("full "))
        if float(full.split("avg10=", 1)[1].split()[0]) >= _MOST_STALLED:
            return True
    except (OSError, ValueError, IndexError, StopIteration):
        pass  # a kernel without it
    try:
        with open(f"{proc}/meminfo", encoding="ascii") as file:
            lines = dict(line.split(":", 1) for line in file)
        free, total = (int(lines[name].split()[0]) for name in ("MemAvailable", "MemTotal"))
    except (OSError, KeyError, ValueError):
        return False
    return free < total * _LEAST_FREE


def _fields(text: str) -> list[str]:
    """Those after the program's name, which stands in parentheses and may hold spaces and parentheses itself."""
    return text.rpartition(")")[2].split()
