"""A pytest plugin that records how many CPU seconds each test takes; `make test-cost` uses it.

A test costs what its worker uses while it runs, fixtures included, and what the processes use that the worker starts
and waits for. What tmux servers and other daemons use is in no test; `tools/test-cost` counts it in its total. A
fixture of a module or session is in the first test that asks for it, and its end in the last.
"""

import json
import os
import resource
import time
from collections.abc import Generator
from pathlib import Path

import pytest


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_runtest_protocol(item: pytest.Item) -> Generator[None, object, object]:
    """Appends the test, its CPU seconds and its seconds to this process's file in the folder `MNGR_TEST_COST`."""
    before, start = used_cpu_s(), time.monotonic()
    result = yield
    row = (item.nodeid, round(used_cpu_s() - before, 3), round(time.monotonic() - start, 3))
    with Path(os.environ["MNGR_TEST_COST"], f"{os.getpid()}.jsonl").open("a") as file:
        file.write(json.dumps(row) + "\n")
    return result


def used_cpu_s() -> float:
    """User and system time of this process and of the children it has waited for."""
    usages = (resource.getrusage(resource.RUSAGE_SELF), resource.getrusage(resource.RUSAGE_CHILDREN))
    return sum(usage.ru_utime + usage.ru_stime for usage in usages)
