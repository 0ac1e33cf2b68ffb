"""The real command in a world of its own."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.cli.command import Mngr
from tests.support.world import World


@pytest.fixture
def world(tmp_path: Path) -> Iterator[World]:
    made = World(tmp_path)
    yield made
    made.end()


@pytest.fixture
def mngr(world: World) -> Mngr:
    return Mngr(world)
