"""The pages for people: links lead somewhere, numbers are the program's own, completion loads as they say."""

import re
from pathlib import Path

import pytest
from tests.docs.blocks import ROOT, read_blocks
from tests.docs.reader import Reader, reader

from mngr.actions.doctor import TOOLS
from mngr.agents.claude.session import TRANSCRIPT_LIMIT
from mngr.cli.stdin import _LINE_LIMIT
from mngr.model.ids import check_name
from mngr.model.message import MESSAGE_LIMIT
from mngr.tmux.server import FD_LIMIT
from mngr.tmux.session import RAW_LIMIT
from mngr_tmr.cli import slots
from mngr_tmr.model.result import RAW_LIMIT as RESULT_LIMIT
from mngr_tmr.model.run import RunOptions
from mngr_tmr.run import artifacts

__all__ = ["reader"]

PAGES = [
    *ROOT.glob("*.md"),
    *ROOT.glob("docs/*.md"),
    *ROOT.glob("examples/**/*.md"),
    *ROOT.glob("changes/*.md"),
]


@pytest.mark.accept("U5")
@pytest.mark.parametrize("page", PAGES, ids=lambda path: str(path.relative_to(ROOT)))
def test_every_link_leads_somewhere(page: Path) -> None:
    links = re.findall(r"\]\((?!http)([^)#]+)", page.read_text())
    assert [link for link in links if not (page.parent / link).exists()] == []


def test_every_page_is_reached_from_the_readme() -> None:
    index = (ROOT / "docs/README.md").read_text() + (ROOT / "README.md").read_text()
    hidden = ("README.md", "acceptance.md", "results.md")
    pages = [page.name for page in ROOT.glob("docs/*.md") if page.name not in hidden]
    assert [name for name in pages if f"{name})" not in index] == []


def row(page: str, start: str) -> str:
    (line,) = (line for line in (ROOT / page).read_text().splitlines() if line.startswith(f"| {start}"))
    return line


@pytest.mark.accept("U5")
def test_the_limits_are_the_programs_own() -> None:
    mb = 1 << 20
    said = {
        "a message": f"{MESSAGE_LIMIT >> 10} KB",
        "a conversation": f"{TRANSCRIPT_LIMIT // mb} MB",
        "a recording": f"{RAW_LIMIT // mb} MB",
        "a line of JSON": f"{_LINE_LIMIT // mb} MB",
        "the result": f"{RESULT_LIMIT // 1_000_000} MB",
        "the outbox": f"{artifacts._MOST // mb} MB",
        "agents of a pipeline here": f"{slots._PER_CORE} a core, one per GiB of free memory, at most {slots._MOST}",
        "agents of a pipeline on remote hosts": f"{slots._REMOTE}",
        "agents on one machine": f"{FD_LIMIT:,}",
        "a testing agent": f"{RunOptions().timeout_s / 3600:.0f} h",
        "one that shows no": f"{RunOptions().silence_s / 60:.0f} min",
        "one that waits": f"{RunOptions().idle_s / 60:.0f} min each",
        "its time to hand": f"{RunOptions().grace_s:.0f} s",
    }
    assert {start: text for start, text in said.items() if text not in row("docs/limits.md", start)} == {}
    assert 1000 * mb == 2 * slots._AGENT_BYTES
    assert check_name("x" * 63)
    wanted = {tool.name: ".".join(map(str, tool.at_least)) for tool in TOOLS if tool.at_least}
    text = (ROOT / "docs/limits.md").read_text()
    assert f"tmux {wanted['tmux']}, git {wanted['git']} and Python 3.11" in text


@pytest.mark.accept("U3")
def test_completion_loads_as_the_page_says(reader: Reader) -> None:
    (block,) = [block for block in read_blocks(ROOT / "docs/README.md") if block.heading == "Tab completion"]
    bash, zsh, fish = block.commands
    assert "mngr" in reader.ok(f"{bash}; complete -p mngr").stdout
    (reader.world.home / ".config/fish/completions").mkdir(parents=True)
    reader.ok(fish)
    assert "complete" in (reader.world.home / ".config/fish/completions/mngr.fish").read_text()
    reader.ok(f'fpath=(. "$HOME"); {zsh}')
    assert "compdef" in (reader.world.home / "_mngr").read_text()
