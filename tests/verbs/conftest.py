"""The same verbs here and on hosts that share no files with us."""

import os
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path

import pytest
from mngr_box.provider import BoxProvider
from tests.support.docker import Engine, engine
from tests.support.modal.service import Service, modal
from tests.support.needs import needs
from tests.support.sshd import Machines, need_machines
from tests.support.world import World

from mngr.actions.manager import Manager
from mngr.hosts.protocol import Pool, Provider

__all__ = ["engine", "modal"]


class Place:
    """Where agents of a test live: `at` is what follows a name in an address."""

    def __init__(self, world: World, provider: Provider | None = None) -> None:
        self.world, self.repo = world, world.repo
        self.provider = provider
        self.at = f"@lab.{provider.name}" if provider else ""

    @property
    def is_here(self) -> bool:
        return self.provider is None

    @property
    def makes_hosts(self) -> bool:
        """Whether the host is made for its agents, and goes with the last one."""
        return self.provider is not None and not isinstance(self.provider, Pool)

    @property
    def hosts(self) -> list[str]:
        """The hosts that there are, but for this machine."""
        return [ref.name for ref in self.provider.hosts()] if self.provider else []

    def manager(self) -> Manager:
        return self.world.manager(**{self.provider.name: self.provider} if self.provider else {})

    def address(self, name: str) -> str:
        return name + self.at


@contextmanager
def _here(_: pytest.FixtureRequest, world: World) -> Iterator[Place]:
    yield Place(world)


@contextmanager
def _box(_: pytest.FixtureRequest, world: World) -> Iterator[Place]:
    user = () if os.geteuid() == 0 else ("-U", "--map-root-user")
    needs("mount and process namespaces", "unshare", *user, "-m", "-p", "-f", "--mount-proc", "true")
    place = Place(world, BoxProvider(str(world.host_dir)))
    yield place
    _destroy_hosts(place)


@contextmanager
def _docker(request: pytest.FixtureRequest, world: World) -> Iterator[Place]:
    started: Engine = request.getfixturevalue("engine")
    place = Place(world, started.provider(f"t{os.urandom(4).hex()}"))
    yield place
    _destroy_hosts(place)


@contextmanager
def _modal(request: pytest.FixtureRequest, world: World) -> Iterator[Place]:
    started: Service = request.getfixturevalue("modal")
    place = Place(world, started.provider(f"t{os.urandom(4).hex()}"))
    yield place
    _destroy_hosts(place)


@contextmanager
def _ssh(_: pytest.FixtureRequest, world: World) -> Iterator[Place]:
    need_machines()
    machines = Machines(world.folder)
    try:
        machines.add("lab")
        yield Place(world, machines.provider(world.host_dir))
    finally:
        machines.end()


def _destroy_hosts(place: Place) -> None:
    assert place.provider
    for name in place.hosts:
        place.provider.destroy(name)


Open = Callable[[pytest.FixtureRequest, World], AbstractContextManager[Place]]
PLACES: dict[str, Open] = {"here": _here, "box": _box, "docker": _docker, "modal": _modal, "ssh": _ssh}
_SLOW = ("docker", "modal", "ssh")


@pytest.fixture(params=[pytest.param(name, marks=[pytest.mark.slow] * (name in _SLOW)) for name in PLACES])
def place(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Place]:
    world = World(tmp_path)
    with PLACES[request.param](request, world) as made:
        yield made
    world.end()
