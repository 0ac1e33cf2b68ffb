"""What `create` returns."""

from tests.actions.world import World

from mngr.actions.list import list_agents


def test_the_record_it_returns_is_the_record_that_list_shows(world: World) -> None:
    made = world.create("one", args=("sleep", "1000"), labels={"k": "v"})
    assert made == list_agents(manager=world.manager).agents[0]
