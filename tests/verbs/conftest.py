"""The same verbs here and on a host that shares no files with us."""

import os
from collections.abc import Iterator
from pathlib import Path

import pytest
from mngr_box.provider import BoxProvider
from tests.support.needs import needs
from tests.support.world import World

from mngr.actions.manager import Manager


class Place:
    """Where agents of a test live: `at` is what follows a name in an address."""

    def __init__(self, world: World, at: str) -> None:
        self.world, self.at, self.repo = world, at, world.repo
        self.boxes = BoxProvider(str(world.host_dir))

    @property
    def is_here(self) -> bool:
        return not self.at

    def manager(self) -> Manager:
        return self.world.manager(box=self.boxes)

    def address(self, name: str) -> str:
        return name + self.at


@pytest.fixture(params=["here", "box"])
def place(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Place]:
    if request.param == "box":
        user = () if os.geteuid() == 0 else ("-U", "--map-root-user")
        needs("mount and process namespaces", "unshare", *user, "-m", "-p", "-f", "--mount-proc", "true")
    made = Place(World(tmp_path), "" if request.param == "here" else "@lab.box")
    yield made
    for ref in made.boxes.hosts():
        made.boxes.destroy(ref.name)
    made.world.end()
