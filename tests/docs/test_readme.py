"""The README as a newcomer follows it: every command in it is run here, but `make test`, which runs this."""

import os
import shlex
import shutil
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path

import msgspec
import pytest
from tests.agents.offline import claude_env
from tests.cli.command import Done, Mngr, Terminal
from tests.docs.blocks import ROOT, Block, read_blocks
from tests.support.docker import Engine, engine
from tests.support.model import Model, Reply, ToolCall
from tests.support.model.fixture import model
from tests.support.sshd import Machines, machines
from tests.support.world import World
from tests.tmr.run.pipeline import UNCHANGED

from mngr import process
from mngr.process import OnlyEnv

__all__ = ["engine", "machines", "model"]

README = read_blocks(ROOT / "README.md")
_PATIENCE_S = 300.0

FIRST_STEPS, ELSEWHERE, PIPES, TESTING = (
    "First steps with a real agent",
    "From here to elsewhere by one change",
    "A pipe of primitives",
    "Testing with it",
)


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
            timeout_s=_PATIENCE_S,
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


def blocks(heading: str, language: str = "sh") -> list[Block]:
    found = [block for block in README if (block.heading, block.language) == (heading, language)]
    assert found, heading
    return found


def toml(table: str, settings: dict[str, object]) -> str:
    lines = [f"{key} = {msgspec.json.encode(value).decode()}" for key, value in settings.items()]
    return "\n".join([f"[{table}]", *lines, ""])


def test_there_is_no_block_that_no_test_here_runs() -> None:
    counts: dict[tuple[str, str], int] = {}
    for block in README:
        counts[block.heading, block.language] = counts.get((block.heading, block.language), 0) + 1
    assert counts == {
        ("Two commands", "sh"): 1,
        (FIRST_STEPS, "sh"): 1,
        (FIRST_STEPS, "python"): 1,
        (ELSEWHERE, "sh"): 2,
        (PIPES, "sh"): 2,
        (TESTING, "sh"): 1,
    }


@pytest.mark.accept("U5")
def test_it_begins_with_a_picture_and_the_two_commands_and_every_link_leads_somewhere() -> None:
    text = (ROOT / "README.md").read_text()
    assert text.index("![") < text.index("make demo") < text.index("## First steps")
    assert blocks("Two commands")[0].commands == ["make demo", "make test"], "tests/tmr/test_demo.py runs one"
    links = [link.partition("#")[0] for link in _links(text)]
    assert [link for link in links if not (ROOT / link).exists()] == []
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    assert (project["name"], "mngr" in project["scripts"]) == ("mngr-agents", True), "pip install mngr-agents"
    assert "modal" in project["optional-dependencies"]


def _links(text: str) -> list[str]:
    return [part.partition(")")[0] for part in text.split("](")[1:] if not part.startswith("http")]


@pytest.mark.slow
@pytest.mark.accept("U5", "K14", "K1")
def test_the_first_steps_with_a_real_agent(reader: Reader, model: Model) -> None:
    """Claude Code itself; the model behind it follows a script, and asks before it commits."""
    reader.env |= {key: value for key, value in claude_env(model, reader.world.home).items() if key != "HOME"}
    reader.env["PATH"] = f"{Path(sys.executable).parent}:{reader.env['PATH']}"
    commit = ToolCall("Bash", {"command": "git commit -q --allow-empty -m mended", "description": "commits"})
    model.add(Reply("I commit it", (commit,)), "it is committed", match="Logging in fails")
    seen: dict[str, Done] = {}
    go_there, *lines = blocks(FIRST_STEPS)[0].commands
    assert go_there == f"cd {reader.world.repo.name}"
    for line in lines:
        if line.startswith("mngr connect"):
            _look_in(reader, line)
        else:
            seen[line] = reader.sh(line)
            assert seen[line].code == 0 or line == "mngr doctor", (line, seen[line])
    said = {line.split()[1]: done.stdout for line, done in seen.items()}
    assert "fix-login" in said["list"]
    assert "it is committed" in said["transcript"]
    assert reader.world.git("log", "-1", "--format=%s").strip() == "mended"
    assert reader.world.left_behind() == []


def _look_in(reader: Reader, line: str) -> None:
    terminal = Terminal(shlex.split(line), reader.env, str(reader.world.repo))
    terminal.wait_for("Logging in fails")
    terminal.type("\x11")
    assert terminal.end() == 0


@pytest.mark.accept("U5", "K3")
def test_the_same_from_python_and_any_program(reader: Reader) -> None:
    (block,) = blocks(FIRST_STEPS, "python")
    reader.ok(f"{shlex.quote(sys.executable)} -c {shlex.quote(block.text)}")
    assert reader.world.left_behind() == []
    activate = Path(sys.prefix) / "bin/activate"
    assert reader.ok(f". {shlex.quote(str(activate))} && mngr --version").stdout.startswith("mngr ")


def create_line(provider: str) -> str:
    (line,) = (line for line in blocks(ELSEWHERE)[0].commands if provider in line)
    return line


def follow(reader: Reader, line: str) -> None:
    """Creates foo there and does with it what can be done with every foo."""
    reader.ok(line)
    said = [reader.ok(one).stdout for one in blocks(ELSEWHERE)[1].commands]
    assert "foo" in said[0]
    assert "first" in said[1]
    assert reader.ok("mngr list --format '{state}'").stdout == "STOPPED\n"
    reader.ok("mngr destroy foo --yes")


@pytest.mark.accept("U5", "L1", "L2")
def test_an_agent_here(reader: Reader) -> None:
    follow(reader, create_line("foo --"))


@pytest.mark.slow
@pytest.mark.accept("U5", "L1", "L2")
def test_the_same_on_a_machine_that_ssh_reaches(reader: Reader, machines: Machines) -> None:
    machines.add("box")
    machines.provider(reader.world.host_dir)
    reader.settle(toml("providers.ssh", {"config": str(machines.config)}))
    follow(reader, create_line("@box.ssh"))


@pytest.mark.slow
@pytest.mark.accept("U5", "L1", "L2")
def test_the_same_in_a_container(reader: Reader, engine: Engine) -> None:
    reader.settle(toml("providers.docker", engine.settings(f"t{os.urandom(4).hex()}")))
    follow(reader, create_line("@.docker"))


@pytest.mark.accept("U5", "U3")
def test_where_modal_is_not_installed_the_line_for_it_says_so(reader: Reader) -> None:
    """With a provider `modal` in the tree this becomes `follow(reader, create_line("@.modal"))` on loopback."""
    done = reader.sh(create_line("@.modal"))
    assert done.code == 2, done
    assert "modal" in done.stderr
    assert "hint: " in done.stderr
    assert reader.world.left_behind() == []


@pytest.mark.accept("U5", "K2")
def test_the_first_pipe(reader: Reader) -> None:
    done = reader.ok(blocks(PIPES)[0].text)
    assert {line["name"] for line in done.lines} == {"n1", "n2", "n3"}
    assert reader.world.left_behind() == []


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


@pytest.mark.slow
@pytest.mark.accept("U5", "K2", "X1", "X4")
def test_the_whole_loop_as_a_pipe(tested: Reader) -> None:
    done = tested.ok(with_a_stand_in(blocks(PIPES)[1].text))
    assert "2 tests: 2 clean" in done.stdout


@pytest.mark.slow
@pytest.mark.accept("U5", "Z3")
def test_the_commands_for_testing(tested: Reader) -> None:
    check, run, view, loop = blocks(TESTING)[0].commands
    tested.ok(check)
    tested.ok(run)
    tested.ok(view)
    assert (tested.world.repo / "page.html").stat().st_size > 100_000
    assert "2 tests: 2 clean" in tested.ok(with_a_stand_in(loop)).stdout
