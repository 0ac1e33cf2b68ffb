"""A create option that a provider cannot honour is an error that names it, and makes nothing."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from mngr_box.provider import BoxProvider
from tests.support.world import World

import mngr
from mngr import registry
from mngr.actions.create.request import HOST_FIELDS

VALUES = {
    "image": "debian",
    "cpus": 2.0,
    "memory": "1g",
    "offline": True,
    "snapshot": "x",
    "idle_timeout": "10m",
    "lease": "1h",
    "timeout": "1h",
}
# What each can do, written down once more: an option that comes or goes must be meant.
CAN = {
    "local": set(),
    "ssh": set(),
    "docker": {"image", "cpus", "memory", "offline", "snapshot", "idle_timeout", "lease", "timeout"},
    "modal": {"image", "cpus", "memory", "offline", "snapshot", "lease", "timeout"},
    "box": {"offline"},
    "faulty": set(),
}


@pytest.fixture
def world(tmp_path: Path) -> Iterator[World]:
    world = World(tmp_path)
    yield world
    world.end()


def test_every_option_is_in_the_table() -> None:
    assert set(VALUES) == set(HOST_FIELDS)


@pytest.mark.accept("K17")
@pytest.mark.parametrize("provider", CAN)
def test_what_a_provider_cannot_honour_is_refused(world: World, provider: str) -> None:
    manager = world.manager(box=BoxProvider(str(world.host_dir)))
    assert manager.provider(provider).options == CAN[provider]
    address = "foo" if provider == "local" else f"foo@.{provider}"
    for option in sorted(set(VALUES) - CAN[provider]):
        if option == "snapshot":
            continue  # a plain host takes one: a checkpoint of an agent
        with pytest.raises(mngr.UsageError, match=f"cannot honour --{option.replace('_', '-')}"):
            mngr.create(address, args=("sleep", "1000"), manager=manager, **{option: VALUES[option]})  # type: ignore[arg-type]
    assert world.left_behind() == []


@pytest.mark.accept("K17")
def test_every_provider_is_in_the_table() -> None:
    ours = {name for name, entry in registry.entries(registry.PROVIDERS).items() if not entry.distribution}
    assert ours <= set(CAN)
