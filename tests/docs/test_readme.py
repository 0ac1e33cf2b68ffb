"""The README as a newcomer follows it: every command in it is run here, but `make test`, which runs this."""

import os
import shlex
import sys
import tomllib
from pathlib import Path

import pytest
from tests.agents.offline import claude_env
from tests.cli.command import Done, Terminal
from tests.docs.blocks import ROOT, Block, read_blocks
from tests.docs.reader import Reader, reader, tested, toml, with_a_stand_in
from tests.support.docker import Engine, engine
from tests.support.modal.service import Service, modal
from tests.support.model import Model, Reply, ToolCall
from tests.support.model.fixture import model
from tests.support.sshd import Machines, machines

__all__ = ["engine", "machines", "modal", "model", "reader", "tested"]

README = read_blocks(ROOT / "README.md")

FIRST_STEPS, ELSEWHERE, PIPES, TESTING = (
    "First steps with a real agent",
    "From this machine to a remote host: one change",
    "A pipe of primitives",
    "Testing with it",
)


def blocks(heading: str, language: str = "sh") -> list[Block]:
    found = [block for block in README if (block.heading, block.language) == (heading, language)]
    assert found, heading
    return found


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
    reader.settle(toml("commands.create", {"env": [f"ANTHROPIC_BASE_URL={model.url}"]}))
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


@pytest.mark.slow
@pytest.mark.accept("U5", "L1", "L2", "K13")
def test_the_same_on_modal(reader: Reader, modal: Service) -> None:
    reader.env |= modal.env
    settings: dict[str, object] = {"app": f"t{os.urandom(4).hex()}", "image": "mngr-tests:base"}
    reader.settle(toml("providers.modal", settings))
    follow(reader, create_line("@.modal"))


@pytest.mark.accept("U5", "K2")
def test_the_first_pipe(reader: Reader) -> None:
    done = reader.ok(blocks(PIPES)[0].text)
    assert {line["name"] for line in done.lines} == {"n1", "n2", "n3"}
    assert reader.world.left_behind() == []


@pytest.mark.slow
@pytest.mark.accept("U5", "K2", "X1", "X4")
def test_the_whole_loop_as_a_pipe(tested: Reader) -> None:
    done = tested.ok(with_a_stand_in(blocks(PIPES)[1].text))
    assert "2 tests: 2 already passing" in done.stdout


@pytest.mark.slow
@pytest.mark.accept("U5", "Z3")
def test_the_commands_for_testing(tested: Reader) -> None:
    check, run, view, loop = blocks(TESTING)[0].commands
    tested.ok(check)
    tested.ok(run)
    tested.ok(view)
    assert (tested.world.repo / "page.html").stat().st_size > 100_000
    assert "2 tests: 2 already passing" in tested.ok(with_a_stand_in(loop)).stdout
