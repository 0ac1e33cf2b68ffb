"""A throw-away host for each test, and its tmux server gone afterwards."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.agents.offline import home
from tests.support.model.fixture import model
from tests.support.world import World
from tests.tmux.stage import is_alive

from mngr import process
from mngr.hosts.local import LocalHost
from mngr.process import wait_until
from mngr.store.paths import HostPaths
from mngr.testing.waiting import PATIENCE_S
from mngr.tmux.server import tmux

__all__ = ["home", "model"]


@pytest.fixture
def host(tmp_path: Path) -> Iterator[LocalHost]:
    host = LocalHost(str(tmp_path / "h"))
    yield host
    paths = HostPaths(host.dir)
    pid = process.run(tmux(paths, "display-message", "-p", "#{pid}")).text.strip()
    process.run(tmux(paths, "kill-server"))
    if pid:
        assert wait_until(lambda: not is_alive(int(pid)), PATIENCE_S)


@pytest.fixture
def world(tmp_path: Path) -> Iterator[World]:
    made = World(tmp_path)
    yield made
    made.end()
