"""The real command, in a repository that has a tutorial."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.cli.command import Mngr
from tests.support.world import World


@pytest.fixture
def mngr(tmp_path: Path) -> Iterator[Mngr]:
    world = World(tmp_path)
    yield Mngr(world)
    world.end()
