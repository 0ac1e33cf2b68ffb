"""The manual pages and the command reference are what the commands say, and a check tells when they are not."""

import shutil
import sys
from pathlib import Path

import pytest
from tests.support.needs import needs
from tools.reference import reference_files
from tools.reference_man import command_man
from tools.reference_pages import DISTRIBUTION, Page, Part, blocks_of, read_pages, read_topics

from mngr import process, registry
from mngr.cli.commands import ALIASES, COMMANDS
from mngr.process import Completed
from mngr.registry import entries

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"


@pytest.fixture
def groff() -> None:
    needs("groff: apt-get install groff-base", "groff", "--version")


def reference(*words: str, cwd: Path = ROOT) -> Completed:
    argv = [sys.executable, "-m", "tools.reference", *words]
    return process.run(argv, env={"PYTHONPATH": str(ROOT)}, timeout_s=90, cwd=str(cwd))


def roff(page: Path) -> Completed:
    """The page as a terminal shows it; stderr says what groff thinks of it."""
    argv = ["groff", "-man", "-ww", "-Tutf8", "-P-cbou", "-rLL=80n", str(page)]
    return process.run(argv, timeout_s=90)


@pytest.fixture
def copy(tmp_path: Path) -> Path:
    for folder in ("man", "reference"):
        shutil.copytree(DOCS / folder, tmp_path / "docs" / folder)
    return tmp_path / "docs"


@pytest.mark.accept("A4", "U3")
def test_the_committed_reference_is_fresh() -> None:
    done = reference("--check")
    assert (done.code, done.stderr.decode()) == (0, "")


@pytest.mark.accept("A4")
def test_the_check_names_what_is_stale_missing_and_extra_and_changes_nothing(copy: Path) -> None:
    stale, missing, extra = copy / "man/mngr-stop.1", copy / "reference/list.md", copy / "reference/gone.md"
    stale.write_text(stale.read_text().replace("grace", "mercy"))
    missing.unlink()
    extra.write_text("# mngr gone\n")
    done = reference("--check", "--out", "docs", cwd=copy.parent)
    assert done.code == 1
    assert done.stderr.decode().splitlines() == [
        "extra: docs/reference/gone.md",
        "missing: docs/reference/list.md",
        "stale: docs/man/mngr-stop.1",
        "hint: make docs",
    ]
    assert extra.exists()
    assert not missing.exists()


@pytest.mark.accept("A4")
def test_writing_again_mends_all_and_leaves_other_files_alone(copy: Path) -> None:
    (copy / "man/mngr-stop.1").write_text("")
    (copy / "reference/gone.md").write_text("")
    (copy / "guide.md").write_text("mine")
    assert reference("--out", str(copy)).code == 0
    assert reference("--check", "--out", str(copy)).code == 0
    assert (copy / "guide.md").read_text() == "mine"


@pytest.mark.accept("A4")
def test_the_text_depends_on_no_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    before = reference_files()
    monkeypatch.setenv("COLUMNS", "40")
    monkeypatch.setenv("LC_ALL", "C")
    assert reference_files() == before


@pytest.mark.accept("A3", "A4", "U3")
def test_every_command_has_its_pages_with_all_it_takes() -> None:
    files = reference_files()
    assert {f"man/mngr-{name}.1" for name in COMMANDS} < set(files)
    for page in read_pages():
        text = files[f"reference/{page.name}.md"]
        for part in page.parts:
            assert part.usage in text
            assert all(example in text for example in part.examples)
            assert all(f"- `{names}`: " in text for group in part.options.values() for names, _ in group)
        assert all(f"`mngr {alias}`" in text for alias in page.aliases)
        assert f"({page.name}.md)" in files["reference/README.md"]
    assert {alias for page in read_pages() for alias in page.aliases} == set(ALIASES)


@pytest.mark.accept("A3", "A4")
def test_our_own_plugins_have_their_pages_and_strangers_have_none() -> None:
    files, names = reference_files(), {page.name for page in read_pages()}
    for name, entry in entries(registry.COMMANDS).items():
        assert (name in names) == (entry.distribution == DISTRIBUTION), name
    text = files["reference/tutorial.md"]
    assert "mngr tutorial check [OPTIONS] [TUTORIAL] [TESTS]..." in text
    assert "```sh\nmngr tutorial gaps\nmngr tutorial gaps tutorial.sh --fail\n```" in text
    assert "- `--fail`: Exit 1 when there is a gap." in text
    assert "\b" not in text
    assert "## From plugins\n\n- [`mngr " in files["reference/README.md"]
    assert "mngr tutorial gaps" in files["man/mngr-tutorial.1"].replace("\\-", "-")


@pytest.mark.accept("A3")
def test_links_between_pages_lead_to_pages() -> None:
    files = reference_files()
    for path, text in files.items():
        links = [piece.partition(")")[0] for piece in text.split("](")[1:]] if path.endswith(".md") else []
        for link in links:
            assert (DOCS / path).parent.joinpath(link).resolve().is_file(), (path, link)


@pytest.mark.accept("A4", "U3")
@pytest.mark.usefixtures("groff")
def test_groff_has_nothing_to_say_about_any_page() -> None:
    pages = sorted((DOCS / "man").glob("*.1"))
    assert len(pages) == len(read_pages()) + 1
    said = process.run(["groff", "-man", "-ww", "-Tutf8", *map(str, pages)], timeout_s=60)
    assert (said.code, said.stderr.decode()) == (0, "")
    shown = roff(DOCS / "man/mngr-snapshot.1").stdout.decode()
    assert "mngr snapshot restore [OPTIONS] NAME [AGENT]" in shown
    assert "       -y, -f, --yes, --force\n              Do not ask." in shown


@pytest.mark.accept("A4")
@pytest.mark.usefixtures("groff")
@pytest.mark.parametrize(
    "text",
    [".so /etc/passwd", "'br", "a\\tb", "--x-y '{a}' `b` ^c ~d", '"quoted"', "äöü … →", ". dot", "\\fBx"],
)
def test_a_manual_page_shows_any_text_as_it_is(text: str, tmp_path: Path) -> None:
    part = Part("mngr odd", "mngr odd [OPTIONS]", (text,), {"Options": [(text, text)]}, (text,))
    page = tmp_path / "odd.1"
    page.write_text(command_man(Page("odd", "odd", (), (), (part,), [("--help", text)]), read_topics()))
    done = roff(page)
    assert done.stderr == b""
    assert done.stdout.decode().count(text) == 5


def test_a_topic_is_text_rows_and_lines() -> None:
    text, rows, lines = blocks_of("one\ntwo:\n  a   first\n  b c   second\n\n  mngr list\n   more\n")
    assert text.text == "one two:"
    assert rows.rows == (("a", "first"), ("b c", "second"))
    assert lines.lines == ("mngr list", " more")
