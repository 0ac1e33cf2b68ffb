"""The machine in a line: what bears on the numbers, nothing that names it."""

import os
import platform
import re
import subprocess
import time

from bench.results import Machine


def this_machine(*more: str) -> Machine:
    """Cores, memory and the versions of what is used; `more` adds to the versions."""
    kernel = f"{platform.system()} {_number(platform.release())}"
    python = f"Python {platform.python_version()}"
    tools = (_said("tmux", "-V"), _said("git", "--version"))
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30
    versions = (kernel, *tools, python, *more)
    return Machine(time.strftime("%Y-%m-%d"), os.cpu_count() or 1, round(memory, 1), versions)


def _said(*argv: str) -> str:
    return (
        subprocess.run(argv, capture_output=True, text=True, check=True)
        .stdout.strip()
        .replace(" version", "")
    )


def _number(release: str) -> str:
    found = re.match(r"[0-9.]+", release)
    return found[0].rstrip(".") if found else ""
