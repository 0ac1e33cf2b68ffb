from tests.support.world import World

import mngr


def test_the_bell_tells_once_of_each_change(world: World) -> None:
    world.create("foo")
    bell = mngr.Bell(world.manager_here)
    assert not bell.rang()
    mngr.label("foo", {"a": "1"}, manager=world.manager_here)
    assert bell.rang()
    assert not bell.rang()
    mngr.stop("foo", manager=world.manager_here)
    assert bell.rang()
