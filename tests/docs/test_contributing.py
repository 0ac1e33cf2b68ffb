"""CONTRIBUTING.md followed to the letter: a provider, an agent type and a command, each in its five steps."""

import re
from collections.abc import Iterator
from pathlib import Path
from textwrap import dedent

import pytest
from tests.docs.blocks import ROOT
from tests.docs.reader import Reader
from tests.support.world import World

pytestmark = [pytest.mark.slow, pytest.mark.accept("U5", "K12")]

_FENCE = re.compile(r"^( *)```(\w+)\n(.*?)^\1```$", re.MULTILINE | re.DOTALL)
_TEXT = (ROOT / "CONTRIBUTING.md").read_text()


class Author(Reader):
    """Someone with a package of their own; what pip installs goes into a folder beside it."""

    def __init__(self, world: World) -> None:
        super().__init__(world)
        site = world.folder / "site"
        self.env |= {
            "PIP_TARGET": str(site),
            "PIP_NO_INDEX": "1",
            "PIP_NO_DEPS": "1",
            "PIP_NO_BUILD_ISOLATION": "false",
            "PIP_UPGRADE": "1",
            "PIP_DISABLE_PIP_VERSION_CHECK": "1",
            "PYTHONPATH": str(site),
            "PYTHONDONTWRITEBYTECODE": "1",
        }

    def write(self, part: str) -> None:
        """Every file that a part of the page names in its first line; what is there already is added to."""
        for _, _, text in _FENCE.findall(part):
            head, _, body = dedent(text).partition("\n")
            if (head.startswith("# ") and "/" in head) or head == "# pyproject.toml":
                path = self.world.repo / head[2:]
                path.parent.mkdir(parents=True, exist_ok=True)
                with path.open("a") as file:
                    file.write(body)

    def follow(self, part: str) -> dict[str, str]:
        """Writes the files of a part, then runs its commands; what each said."""
        self.write(part)
        lines = [
            line
            for _, kind, text in _FENCE.findall(part)
            if kind == "sh"
            for line in dedent(text).splitlines()
        ]
        return {line: self.ok(line).stdout for line in lines}


def part(heading: str) -> str:
    """The text under a heading; without one, what stands before the first."""
    if not heading:
        return _TEXT.partition("\n## ")[0]
    return _TEXT.partition(f"\n## {heading}\n")[2].partition("\n## ")[0]


@pytest.fixture
def author(tmp_path: Path) -> Iterator[Author]:
    world = World(tmp_path)
    made = Author(world)
    made.write(part(""))
    yield made
    world.tmux("kill-server")
    desk = made.world.host_dir / "providers/gentle/desk/tmux/socket"
    if desk.exists():
        made.sh(f"tmux -S {desk} kill-server")
    world.end()


@pytest.mark.parametrize("heading", ["A provider", "An agent type", "A command"])
def test_there_are_five_steps(heading: str) -> None:
    assert re.findall(r"^(\d)\. \*\*", part(heading), re.MULTILINE) == ["1", "2", "3", "4", "5"]


def test_a_provider(author: Author) -> None:
    said = author.follow(part("A provider"))
    assert "gentle" in said["mngr plugin list"]
    assert " passed" in said["pytest -q tests/test_provider.py"]
    assert said["mngr exec slow -- nice"] == "10\n"


def test_an_agent_type(author: Author) -> None:
    said = author.follow(part("An agent type"))
    assert " passed" in said["pytest -q tests/test_notes.py"]
    assert said["mngr exec ideas -- cat notes.txt"] == "fewer options\n"


def test_a_command(author: Author) -> None:
    said = author.follow(part("A command"))
    assert "tally       how many agents are in which state" in said["mngr --help"]
    assert said["mngr tally"] == "1 RUNNING\n"
    assert said["mngr tally --format '{state}={agents}'"] == "RUNNING=1\n"
