import re
from pathlib import Path

import pytest
from tests.support.world import World

from mngr.actions.cleanup import choose_agents
from mngr.actions.filter import Filter
from mngr.actions.message import message
from mngr.actions.stop import stop
from mngr.errors import UsageError

pytestmark = pytest.mark.accept("K1")

_HOUR_S = 3600.0
_TIME = re.compile(r'("(?:at|created_at)":)([0-9.e+]+)')


def _chosen(world: World, filter: Filter, older_than_s: float = 0, idle_for_s: float = 0) -> list[str]:
    return [
        agent.name for agent in choose_agents(filter, older_than_s, idle_for_s, manager=world.manager_here)
    ]


def _shift(world: World, name: str, seconds: float) -> None:
    """Makes an agent's records older."""
    agent = next(
        agent for agent in choose_agents(Filter(where=(f"name={name}",)), manager=world.manager_here)
    )
    own = world.own(agent)
    for path in (Path(own.spec), Path(own.events), Path(own.exit)):
        if path.exists():
            path.write_text(
                _TIME.sub(lambda found: f"{found[1]}{float(found[2]) - seconds}", path.read_text())
            )


def test_filters_age_and_idle_time_must_all_hold(world: World) -> None:
    world.create("old", labels={"k": "v"})
    world.create("young", labels={"k": "v"})
    world.create("other")
    _shift(world, "old", 2 * _HOUR_S)
    _shift(world, "other", 2 * _HOUR_S)
    assert _chosen(world, Filter(), older_than_s=_HOUR_S) == ["old", "other"]
    assert _chosen(world, Filter(labels=("k=v",)), older_than_s=_HOUR_S) == ["old"]
    assert _chosen(world, Filter(labels=("k=v",))) == ["old", "young"]
    assert _chosen(world, Filter(), older_than_s=3 * _HOUR_S) == []


def test_a_command_that_lives_is_never_idle_and_one_that_ended_is(world: World) -> None:
    world.create("works")
    world.create("stopped")
    stop("stopped", manager=world.manager_here)
    world.create("done", "true")
    world.eventually(lambda: world.state("done") == "DONE")
    for name in ("works", "stopped", "done"):
        _shift(world, name, 2 * _HOUR_S)
    assert _chosen(world, Filter(), idle_for_s=_HOUR_S) == ["stopped", "done"]
    assert _chosen(world, Filter(), idle_for_s=3 * _HOUR_S) == []


def test_an_agent_that_waits_is_idle_since_its_turn_ended(world: World) -> None:
    world.create("waits", type="scripted")
    message("waits", "hello", manager=world.manager_here)
    world.eventually(lambda: world.state("waits") == "WAITING")
    assert _chosen(world, Filter(), idle_for_s=_HOUR_S) == []
    _shift(world, "waits", 2 * _HOUR_S)
    assert _chosen(world, Filter(), idle_for_s=_HOUR_S) == ["waits"]


def test_nothing_asked_for_is_refused(world: World) -> None:
    with pytest.raises(UsageError, match="which agents"):
        choose_agents(Filter(), manager=world.manager_here)
    with pytest.raises(UsageError, match='no field "stat"'):
        choose_agents(Filter(where=("stat=DONE",)), manager=world.manager_here)
