"""A stranger's failing test on the page: its transcript and the right second of its recording, in two clicks."""

import math
import re

import pytest
from playwright.sync_api import BrowserContext, Locator, expect
from tests.support.browser import Visit, soon, visit
from tests.support.jot import Jot
from tests.support.needs import needs

from mngr_e2e.recorder.recordings import read_recordings
from mngr_e2e.session.transcript import read_records
from mngr_view.template import TEMPLATE

pytestmark = pytest.mark.slow

FAILING = "test_a_deleted_note_is_still_there"


@pytest.fixture(scope="module")
def jot(tmp_path_factory: pytest.TempPathFactory) -> Jot:
    """The example after a run of its broken test and of one that passes."""
    needs("the built page (make web)", "test", "-f", TEMPLATE)
    jot = Jot(tmp_path_factory.mktemp("j"))
    assert jot("pytest", "-q", "tests_broken", "tests/test_order.py", "--e2e-run", "red").code == 1
    done = jot("mngr", "e2e", "view", "red", "--html", "page.html", "--tutorial", "tutorial.sh")
    assert done.code == 0, done
    return jot


@pytest.fixture
def seen(jot: Jot, context: BrowserContext) -> Visit:
    return visit(context, jot.root / "page.html")


@pytest.mark.accept("V1", "V2", "V3", "V6")
@pytest.mark.parametrize(
    ("command", "shown", "not_shown"),
    [
        ("jot add call home", "buy milk", "call home"),
        ("jot rm 1", "call home", "jot: 1 to do"),
        ("jot list", "water the plants", "buy milk"),
    ],
)
def test_two_clicks_show_a_commands_transcript_and_its_second(
    jot: Jot, seen: Visit, command: str, shown: str, not_shown: str
) -> None:
    expect(seen.names.first).to_have_text(FAILING)
    seen.page.locator(".row", has_text=FAILING).click()
    entry = _entry(seen, command)
    expect(entry).to_be_visible()
    entry.get_by_role("button", name="▶").click()
    expect(seen.screen).to_contain_text(shown)
    expect(seen.screen).not_to_contain_text(not_shown)
    assert soon(lambda: abs(_elapsed(seen) - _second(jot, command)) <= 1)
    expect(seen.page.locator(".ap-player")).to_be_in_viewport()
    assert seen.complaints == []
    assert all(url.startswith(("file:", "blob:", "data:")) for url in seen.requests)


@pytest.mark.accept("V2", "V3", "V5")
def test_the_failure_can_be_understood_from_the_page(seen: Visit) -> None:
    seen.page.locator(".row", has_text=FAILING).click()
    detail = seen.page.locator("main.detail")
    expect(detail).to_contain_text("expected the terminal to show 'buy milk'")
    expect(detail).to_contain_text("another user adds a note meanwhile")
    expect(detail).to_contain_text("# arrows move, space marks, a adds, d deletes, q leaves")


def _entry(seen: Visit, command: str) -> Locator:
    typed = seen.page.locator("pre.command", has_text=re.compile(rf"^\s*\$?\s*{command}\s*$"))
    return seen.page.locator(".entry").filter(has=typed)


def _elapsed(seen: Visit) -> float:
    """Where the player stands, in seconds; infinitely far off while it says "--:--"."""
    minutes, _, seconds = seen.page.locator(".ap-time-elapsed").inner_text().partition(":")
    return int(minutes) * 60 + int(seconds) if seconds.isdigit() else math.inf


def _second(jot: Jot, command: str) -> float:
    """When a command ran, counted from the start of the recording, from the artifacts themselves."""
    (folder,) = (path for path in jot.attempts("red") if "deleted" in path.parent.name)
    (recording,) = read_recordings(folder)
    (record,) = (one for one in read_records(str(folder / "transcript.jsonl")) if one.command == command)
    return record.start - recording.start
