"""Without the pipeline mngr is whole: its package alone, with nothing else of ours in reach."""

import shutil
import sys
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path

import pytest
from tests.support.needs import needs
from tests.support.world import World

from mngr.process import Completed, OnlyEnv, run

pytestmark = [pytest.mark.slow, pytest.mark.accept("X3", "X1")]

SOURCE = Path(__file__).parents[2] / "src"
NEEDED = ("click", "msgspec", "pluggy", "jinja2", "markupsafe")


class Alone:
    """A Python that finds `mngr`, what it needs from others, and no plugin."""

    def __init__(self, world: World) -> None:
        self.world = world
        self.site = world.folder / "site"
        for name in ("mngr", "mngr_lib"):
            shutil.copytree(SOURCE / name, self.site / name, ignore=shutil.ignore_patterns("__pycache__"))
        for name in NEEDED:
            found = find_spec(name)
            assert found
            assert found.origin
            (self.site / name).symlink_to(Path(found.origin).parent)

    def __call__(self, *words: str) -> Completed:
        """`-S` leaves out site-packages, and with it this checkout and its entry points."""
        env = OnlyEnv({**self.world.env, "PYTHONPATH": str(self.site)})
        return run([sys.executable, "-S", *words], cwd=str(self.world.repo), env=env, timeout_s=120)

    def mngr(self, *words: str) -> str:
        return self("-m", "mngr", *words).check(f"mngr {words[0]}").text


@pytest.fixture
def alone(tmp_path: Path) -> Iterator[Alone]:
    needs("tmux", "tmux", "-V")
    world = World(tmp_path)
    yield Alone(world)
    world.end()


def test_no_command_of_the_pipeline_is_left(alone: Alone) -> None:
    assert alone("-c", "import mngr_tmr").code == 1
    told = alone.mngr("--help")
    assert "create" in told
    assert "tmr" not in told
    done = alone("-m", "mngr", "tmr", "run")
    assert done.code == 2
    assert 'no command "tmr"' in done.complaint


def test_agents_live_from_create_to_destroy(alone: Alone) -> None:
    playbook = alone.world.folder / "play.json"
    playbook.write_text(
        '[{"edit": "file.txt", "append": "two\\n"}, {"commit": "Say two"},'
        ' {"write_outbox": "note.txt", "text": "done"}, {"end_turn": true}]'
    )
    alone.mngr("create", "foo", "scripted", "--transfer", "mirror", "--no-connect", "--", str(playbook))
    alone.mngr("wait", "foo", "--until", "idle", "--timeout", "60s")
    assert alone.mngr("list", "--format", "{name} {state}").split() == ["foo", "WAITING"]
    alone.mngr("pull", "foo")
    alone.mngr("pull", "foo", "--outbox", "--to", "out")
    assert alone.world.git("show", "mngr/foo:file.txt") == "one\ntwo\n"
    assert (alone.world.repo / "out/foo/note.txt").read_text() == "done"
    alone.mngr("stop", "foo")
    alone.mngr("destroy", "foo", "--yes")
    assert alone.mngr("list", "--format", "{name}") == ""
