"""The real command in a world of its own."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.cli.command import Mngr
from tests.support.needs import needs
from tests.support.world import World

from mngr_view.template import TEMPLATE


@pytest.fixture
def mngr(tmp_path: Path) -> Iterator[Mngr]:
    needs("the built page (make web)", "test", "-f", TEMPLATE)
    world = World(tmp_path)
    yield Mngr(world)
    world.end()
