"""A program that knows nothing of agents, tested with the kit by its own suite."""

from pathlib import Path

import msgspec
import pytest
from tests.support.jot import Jot
from tests.support.needs import needs

from mngr_e2e.recorder.cast import read_cast, text
from mngr_e2e.recorder.recordings import read_recordings
from mngr_e2e.session.artifacts import read_meta
from mngr_e2e.session.transcript import parse_transcript

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def jot(tmp_path_factory: pytest.TempPathFactory) -> Jot:
    needs("tmux", "tmux", "-V")
    return Jot(tmp_path_factory.mktemp("j"))


@pytest.mark.accept("F1", "F9", "F17", "F18", "F19", "Y2", "Y3", "Y16")
def test_its_suite_passes_and_leaves_transcripts_and_recordings(jot: Jot) -> None:
    done = jot("pytest", "-q", "-n2", "--tutorial", "tutorial.sh", "--e2e-run", "green")
    assert done.code == 0, done.text
    metas = [read_meta(str(folder)) for folder in jot.attempts("green")]
    assert len(metas) == 24
    assert {meta.status for meta in metas} == {"passed"}
    assert all(meta.block_ids for meta in metas)
    board = _attempt(jot, "green", "adds_marks")
    (recording,) = read_recordings(board)
    assert (recording.title, recording.command) == ("board", "jot board")
    assert "water the plants" in text(read_cast(board / "casts" / recording.file))
    assert "[x] water the plants" in next((board / "screens").iterdir()).read_text()


@pytest.mark.accept("T4", "T6", "Y5", "Y11", "Y14", "A1")
def test_its_tutorial_is_covered_by_the_check(jot: Jot) -> None:
    done = jot("mngr", "tutorial", "check", "tutorial.sh", "tests", "--strict", "--json")
    report = msgspec.json.decode(done.text)
    assert (done.code, report["passed"]) == (0, True)
    kinds = [block["kind"] for block in report["blocks"]]
    assert [kinds.count(kind) for kind in ("command", "banner", "gap", "note")] == [15, 5, 2, 1]
    with (jot.root / "tutorial.sh").open("a") as file:
        file.write("\n# one that no test knows\njot add more\n")
    red = jot("mngr", "tutorial", "check", "tutorial.sh", "tests")
    assert red.code == 1
    assert "no test cites this block" in red.text


@pytest.mark.accept("F4", "F7", "F17", "V2")
def test_its_broken_test_is_red_and_says_all_that_is_needed(jot: Jot) -> None:
    done = jot("pytest", "-q", "tests_broken", "--e2e-run", "red")
    assert done.code == 1
    assert "1 failed" in done.text
    folder = _attempt(jot, "red", "deleted")
    meta = read_meta(str(folder))
    assert (meta.status, meta.reason) == ("failed", "expected the terminal to show 'buy milk'")
    assert meta.file == "tests_broken/test_mistake.py"
    assert "| [ ] water the plants" in (folder / "failure.txt").read_text()
    commands = [entry.command for entry in parse_transcript((folder / "transcript.txt").read_text())]
    assert [command for command in commands if command.startswith("jot")] == [
        "jot add buy milk",
        "jot add water the plants",
        "jot board",
        "jot add call home",
        "jot rm 1",
        "jot list",
    ]
    assert read_cast(folder / "casts/1-board.cast").is_complete


def _attempt(jot: Jot, run: str, word: str) -> Path:
    (folder,) = (folder for folder in jot.attempts(run) if word in folder.parent.name)
    return folder
