import threading

from tests.support.world import World

from mngr.actions.manager import Manager
from mngr.testing.waiting import PATIENCE_S


class _Meeting(dict[str, str]):
    """An environment that lets another thread ask for a host while the config is being loaded."""

    other: threading.Thread | None = None

    def get(self, key: str, default: str | None = None) -> str | None:  # type: ignore[override]
        other, self.other = self.other, None
        if other:
            other.start()
            other.join(0.5)  # it waits for the config, which waits here
        return super().get(key, default)


def test_a_config_that_warns_and_a_thread_that_waits_for_it_do_not_block_each_other(world: World) -> None:
    settings = world.repo / ".mngr" / "settings.toml"
    settings.parent.mkdir()
    settings.write_text('[commands.create]\nconnect_command = "x"\n')
    env = _Meeting(world.env)
    manager = Manager(cwd=str(world.repo), env=env)
    env.other = threading.Thread(target=lambda: manager.local, daemon=True)
    threads = [env.other, threading.Thread(target=lambda: manager.config, daemon=True)]
    threads[1].start()
    threads[1].join(PATIENCE_S)
    assert not threads[1].is_alive()
    threads[0].join(PATIENCE_S)
    assert not threads[0].is_alive()
    assert len(manager.warnings) == 1
