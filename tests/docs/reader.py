"""Someone who reads the documents and types what they say."""

import shutil
from collections.abc import Iterator
from pathlib import Path

import msgspec
import pytest
from tests.cli.command import Done, Mngr
from tests.support.world import World
from tests.tmr.run.pipeline import UNCHANGED

from mngr import process
from mngr.process import OnlyEnv
from mngr.testing.waiting import PATIENCE_S


class Reader:
    """Someone with a shell in a folder that holds `your-repository`."""

    def __init__(self, world: World) -> None:
        self.world = world
        world.repo.rename(world.folder / "your-repository")
        world.repo = world.folder / "your-repository"
        self.env = {**Mngr(world).env, "GIT_CONFIG_GLOBAL": "/dev/null", "TERM": "xterm-256color"}

    def sh(self, line: str) -> Done:
        ran = process.run(
            ["bash", "-c", f"set -o pipefail; {line}"],
            timeout_s=PATIENCE_S,
            env=OnlyEnv(self.env),
            cwd=str(self.world.repo),
        )
        return Done(ran.code, ran.stdout.decode(errors="replace"), ran.stderr.decode(errors="replace"))

    def ok(self, line: str) -> Done:
        done = self.sh(line)
        assert done.code == 0, (line, done)
        return done

    def settle(self, text: str) -> None:
        """Writes the user's config file."""
        self.world.host_dir.mkdir(exist_ok=True, mode=0o700)
        (self.world.host_dir / "config.toml").write_text(text)


@pytest.fixture
def reader(tmp_path: Path) -> Iterator[Reader]:
    world = World(tmp_path)
    yield Reader(world)
    world.end()


def toml(table: str, settings: dict[str, object]) -> str:
    lines = [f"{key} = {msgspec.json.encode(value).decode()}" for key, value in settings.items()]
    return "\n".join([f"[{table}]", *lines, ""])


@pytest.fixture
def tested(reader: Reader) -> Reader:
    """A repository with a tutorial, tests that cite it, and playbooks in place of coding agents."""
    for name in ("tutorial.sh", "tests/e2e/test_echo.py"):
        path = reader.world.repo / name
        path.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(Path(__file__).parent / "echo" / name.rpartition("/")[2], path)
    (reader.world.repo / ".gitignore").write_text(".mngr\nresults\n")
    reader.world.git("add", ".")
    reader.world.git("commit", "-q", "-m", "tests")
    play = reader.world.folder / "play.json"
    play.write_bytes(msgspec.json.encode([UNCHANGED]))
    reader.settle(toml("tmr", {"args": [str(play)], "verify_runs": 1, "slots": 2}))
    return reader


def with_a_stand_in(line: str) -> str:
    """tests/tmr/test_claude_pipeline.py runs the pipeline with the real one."""
    assert "--type claude" in line
    return line.replace("--type claude", "--type scripted")
