"""CONTRIBUTING.md followed to the letter: a provider, an agent type, a command, and an option of create."""

import re
import shutil
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from textwrap import dedent

import pytest
from tests.docs.blocks import ROOT
from tests.docs.reader import Reader
from tests.support.world import World

from mngr.process import wait_until
from mngr.testing.waiting import PATIENCE_S

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


_PLACES = re.compile(r"^   ```diff\n   # (\S+)\n(.*?)^   ```$", re.MULTILINE | re.DOTALL)
_EACH_WAY = """
mngr create flag --nice 3 --transfer none -- sh -c 'nice; sleep 600'
echo '{"name": "line", "nice": 4, "transfer": "none", "args": ["sh", "-c", "nice; sleep 600"]}' | mngr create -
mngr create template -t low --transfer none -- sh -c 'nice; sleep 600'
python -c 'import mngr; mngr.create("keyword", nice=6, transfer="none", args=("sh", "-c", "nice; sleep 600"))'
"""


def shows(author: Author, name: str, text: str) -> bool:
    return author.ok(f"mngr capture {name}").stdout.strip() == text


def edit(place: Path, lines: list[str]) -> None:
    """Replaces the lines of a diff that a file has, which must be in it once, by those that it shall have."""
    old = "\n".join(line[1:] for line in lines if line[0] in " -") + "\n"
    new = "\n".join(line[1:] for line in lines if line[0] in " +") + "\n"
    whole_lines = "\n" + place.read_text()
    assert whole_lines.count("\n" + old.rstrip("\n")) == 1, old
    place.write_text(whole_lines.replace("\n" + old.rstrip("\n"), "\n" + new.rstrip("\n"))[1:])


@pytest.mark.accept("H2")
def test_an_option_of_create(author: Author) -> None:
    """Three edits, and it is an option of the command, of a JSON line, of a template and of the function."""
    text, copy = part("An option of create"), author.world.folder / "copy"
    shutil.copytree(ROOT / "src", copy / "src", ignore=shutil.ignore_patterns("__pycache__", "static"))
    places = _PLACES.findall(text)
    assert len(places) <= 3
    for path, diff in places:
        edit(copy / path, [line[3:] for line in diff.splitlines()])
    author.env["PYTHONPATH"] = str(copy / "src")

    author.settle("[templates.low]\nnice = 5\n")

    assert "--nice N" in author.ok("mngr create --help").stdout
    create, destroy = dedent(text.rpartition("```sh\n")[2].partition("```")[0]).splitlines()
    for line in (create, *_EACH_WAY.strip().splitlines()):
        author.ok(line)
    for name, level in {"slow": "7", "flag": "3", "line": "4", "template": "5", "keyword": "6"}.items():
        assert wait_until(partial(shows, author, name, level), PATIENCE_S), author.ok(f"mngr capture {name}")
    author.ok(destroy)
