"""How many agents, hosts and verifications at once, when nobody said."""

import os
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.support.world import World

import mngr
from mngr.testing.faulty.provider import FaultyProvider
from mngr_tmr.cli.slots import with_numbers
from mngr_tmr.model.run import RunOptions

pytestmark = pytest.mark.accept("E2")


class Limited(FaultyProvider):
    """One that knows how many hosts it may have."""

    max_hosts = 12


@pytest.fixture
def world(tmp_path: Path) -> Iterator[World]:
    made = World(tmp_path)
    yield made
    made.end()


def numbers(options: RunOptions, manager: mngr.Manager) -> tuple[int, int, int]:
    found = with_numbers(options, manager)[0]
    return found.slots, found.verifiers, found.max_hosts


def test_where_hosts_are_made_verifications_follow_from_them_and_not_from_cores(world: World) -> None:
    manager = world.manager()
    assert numbers(RunOptions(provider="faulty"), manager) == (20, 10, 30)
    assert numbers(RunOptions(provider="faulty", max_hosts=9), manager) == (6, 3, 9)
    assert numbers(RunOptions(provider="faulty", slots=4), manager) == (4, 2, 6)
    assert numbers(RunOptions(provider="faulty", slots=8, max_hosts=3), manager) == (8, 1, 3)
    assert numbers(RunOptions(provider="faulty", slots=8, verifiers=5), manager) == (8, 5, 12)
    assert with_numbers(RunOptions(provider="faulty"), manager)[1].endswith("at most 30 hosts at once")


def test_the_provider_says_how_many_hosts_it_may_have(world: World) -> None:
    manager = world.manager(faulty=Limited(str(world.host_dir)))
    assert numbers(RunOptions(provider="faulty"), manager) == (8, 4, 12)
    assert numbers(RunOptions(provider="faulty", max_hosts=6), manager) == (4, 2, 6)


def test_machines_that_are_there_and_hosts_that_are_kept_have_no_maximum(world: World) -> None:
    manager, cores = world.manager(), os.cpu_count() or 1
    assert numbers(RunOptions(slots=3), manager) == (3, cores, 0)
    assert numbers(RunOptions(slots=3, provider="ssh", max_hosts=5), manager) == (3, cores, 0)
    found, why = with_numbers(RunOptions(slots=3, provider="faulty", keep=True), manager)
    assert (found.max_hosts, why) == (0, "3 slots, as asked, hosts are kept")


def test_one_host_is_too_few(world: World) -> None:
    with pytest.raises(mngr.UsageError, match="too few"):
        with_numbers(RunOptions(provider="faulty", max_hosts=1), world.manager())
