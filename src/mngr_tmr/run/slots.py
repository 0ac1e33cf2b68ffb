"""How many agents at once, when nobody said: finite, from the machine's cores and memory."""

import os

_AGENT_BYTES = 500 << 20
_PER_CORE = 4
_REMOTE = 20
_MOST = 32


def default_slots(provider: str) -> tuple[int, str]:
    """The number and why; agents elsewhere do not use this machine's memory."""
    if provider not in ("", "local"):
        return _REMOTE, f"{_REMOTE} slots: agents run on {provider}"
    cores, memory = os.cpu_count() or 1, _free_memory()
    by_memory = max(1, memory // 2 // _AGENT_BYTES)
    slots = max(1, min(_PER_CORE * cores, by_memory, _MOST))
    return slots, f"{slots} slots: {cores} cores, {memory >> 30} GiB of memory free"


def default_verifiers() -> int:
    return max(1, os.cpu_count() or 1)


def _free_memory() -> int:
    try:
        with open("/proc/meminfo") as file:
            lines = dict(line.split(":", 1) for line in file)
        return int(lines["MemAvailable"].split()[0]) << 10
    except (OSError, KeyError, ValueError):
        return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE") // 2
