"""What was asked for of an agent elsewhere is kept here for as long as the agent is there, and no longer."""

import os
from pathlib import Path

import pytest
from tests.support.world import World

from mngr.actions.create.create import create
from mngr.actions.creation_record import _CREATION_MAY_TAKE_S
from mngr.actions.destroy import destroy
from mngr.actions.gc.gc import remove_garbage
from mngr.actions.manager import Manager
from mngr.actions.pull import pull
from mngr.errors import RefusedError
from mngr.model.agent import Agent
from mngr.testing.faulty.provider import FaultyProvider

pytestmark = pytest.mark.accept("Q11")


@pytest.fixture
def faulty(world: World) -> FaultyProvider:
    provider = FaultyProvider(str(world.host_dir))
    world.manager_here = Manager(cwd=str(world.repo), env=world.env, providers={"faulty": provider})
    return provider


def _records(world: World) -> list[Path]:
    return sorted(Path(world.host_dir, "created").glob("*/*"))


def _agent(world: World, name: str) -> Agent:
    return create(f"{name}@.faulty", args=("sleep", "1000"), manager=world.manager_here).agent


def _age(world: World) -> None:
    for path in _records(world):
        then = path.stat().st_mtime - 2 * _CREATION_MAY_TAKE_S
        os.utime(path, (then, then))


def test_gc_forgets_agents_of_hosts_that_are_gone_and_no_others(world: World, faulty: FaultyProvider) -> None:
    gone, stays = _agent(world, "gone"), _agent(world, "stays")
    faulty.destroy(gone.host.name)
    remove_garbage([], manager=world.manager_here)
    assert len(_records(world)) == 2  # it may be under way still
    _age(world)
    remove_garbage([], manager=world.manager_here)
    assert [path.name for path in _records(world)] == [f"{stays.id}@{stays.host.name}.json"]
    destroy(stays.id, manager=world.manager_here)
    assert _records(world) == []


def test_gc_forgets_nothing_while_the_provider_does_not_answer(world: World, faulty: FaultyProvider) -> None:
    _agent(world, "foo")
    _age(world)
    faulty.configure({"listing_drop": 1.0})
    remove_garbage([], manager=world.manager_here)
    assert len(_records(world)) == 1
    faulty.configure({})
    destroy("foo", manager=world.manager_here)


def test_a_record_that_cannot_be_read_is_not_the_same_as_none(world: World, faulty: FaultyProvider) -> None:
    _agent(world, "foo")
    (record,) = _records(world)
    whole = record.read_bytes()
    record.write_bytes(whole[:20])
    with pytest.raises(RefusedError, match="cannot be read"):
        pull("foo", manager=world.manager_here)
    record.write_bytes(whole)
    assert faulty.hosts()
    destroy("foo", manager=world.manager_here)
