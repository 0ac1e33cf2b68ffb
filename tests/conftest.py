"""After the tests nothing of theirs may run: a process that outlives its test fails the run."""

import os
import signal
import time
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from hypothesis import HealthCheck, settings

from mngr_e2e.session.world.left_over import sweep

if TYPE_CHECKING:
    from playwright.sync_api import Browser

# Before any test file imports them: afterwards it would be too late for readable failures.
pytest.register_assert_rewrite("mngr.testing")

_GRACE_S = 90.0
# A user's PATH often lacks where Debian keeps iptables, ip, sshd and dockerd.
os.environ["PATH"] = os.pathsep.join((os.environ.get("PATH", ""), "/usr/sbin", "/sbin"))
# A shell lets what it runs in the background ignore Ctrl-C, `nohup` a lost terminal, and so would every program that
# a test interrupts.
for _number, _meaning in ((signal.SIGINT, signal.default_int_handler), (signal.SIGHUP, signal.SIG_DFL)):
    if signal.getsignal(_number) == signal.SIG_IGN:
        signal.signal(_number, _meaning)
# The same examples each time, however slow the machine; `--hypothesis-profile=default` looks for others.
settings.register_profile(
    "steady", derandomize=True, deadline=None, suppress_health_check=[HealthCheck.too_slow]
)
settings.load_profile("steady")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Tells the JUnit file which acceptance lines a test proves, and puts files with slow tests first.

    `make acceptance` reads the lines. A slow file that came last would be waited for by idle workers.
    """
    slow = {item.path for item in items if item.get_closest_marker("slow")}
    items.sort(key=lambda item: item.path not in slow)
    for item in items:
        ids = {name for mark in item.iter_markers("accept") for name in mark.args}
        item.user_properties += [("accept", name) for name in sorted(ids)]


@pytest.fixture(scope="session")
def chromium() -> "Iterator[Browser]":
    """One Chromium for each worker; the fixture `browser` lends it to a module."""
    from tests.support.browser import launched  # few workers need Playwright

    with launched() as browser:
        yield browser


def pytest_sessionfinish(session: pytest.Session) -> None:
    # Agents that tests kill in the middle of a test of their own have the machine's temporary folder.
    if not os.environ.get("PYTEST_XDIST_WORKER"):
        sweep("/tmp")
    factory = getattr(session.config, "_tmp_path_factory", None)
    if factory is None or factory._basetemp is None:
        return
    mark = os.fsencode(factory.getbasetemp())
    deadline = time.monotonic() + _GRACE_S
    while (left := _running(mark)) and time.monotonic() < deadline:
        time.sleep(0.2)
    if left:
        print("\nstill running after the tests:", *left, sep="\n  ")
        session.exitstatus = pytest.ExitCode.TESTS_FAILED


def _running(mark: bytes) -> list[str]:
    """Processes that name the tests' temporary folder in their command line or environment."""
    found = []
    for entry in os.scandir("/proc"):
        if not entry.name.isdigit() or int(entry.name) == os.getpid():
            continue
        try:
            stat = Path(entry.path, "stat").read_text()
            line = Path(entry.path, "cmdline").read_bytes()
            known = line + b"\0" + Path(entry.path, "environ").read_bytes()
        except OSError:
            continue
        if mark in known and stat.rpartition(")")[2].split()[0] not in "ZX":
            found.append(f"{entry.name} {line.replace(chr(0).encode(), b' ').decode(errors='replace')[:200]}")
    return found
