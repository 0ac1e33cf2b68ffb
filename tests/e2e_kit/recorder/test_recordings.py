"""When recordings began, exactly, and what is known of those that nobody noted."""

import json
import re
import time
from pathlib import Path

import pytest
from tests.e2e_kit.recorder.conftest import Studio
from tests.support.growing_cast import shown_so_far

from mngr.process import wait_until
from mngr.testing.waiting import PATIENCE_S
from mngr_e2e import E2eSession
from mngr_e2e.recorder.cast import ParsedCast, read_cast
from mngr_e2e.recorder.recordings import Recorded, read_recordings
from mngr_e2e.recorder.stop import stop_recorders
from mngr_e2e.recorder.writer import note_start
from mngr_e2e.session.artifacts import claim_attempt

CLOCK = "while :; do date +now=%s.%N=; sleep 0.2; done"
# The kernel dates files by its tick, which is up to 10 ms late.
TICK_S = 0.02


def _said_and_recorded(cast: ParsedCast, start: float) -> tuple[float, float]:
    """The last time of day that a recording shows, and when it says that this was shown."""
    event = [event for event in cast.events if "now=" in event.data][-1]
    return float(re.findall(r"now=([0-9.]+)=", event.data)[-1]), start + event.time_s


@pytest.mark.accept("V6", "F14")
def test_the_start_of_an_agents_recording_is_known_to_the_millisecond(either: Studio) -> None:
    either.agent("foo", CLOCK)
    assert wait_until(lambda: either.shown("1-foo.cast").count("now=") > 4, PATIENCE_S)
    stop_recorders(either.artifacts)
    (found,) = read_recordings(either.artifacts)
    assert (found.file, found.title, found.cols, found.rows) == ("1-foo.cast", "foo", 120, 32)
    assert "tmux" in found.command
    said, recorded = _said_and_recorded(either.cast("1-foo.cast"), found.start)
    assert said - TICK_S <= recorded < said + PATIENCE_S


@pytest.mark.accept("V6", "F18")
def test_the_start_of_a_terminals_recording_is_known_to_the_millisecond(tmp_path: Path) -> None:
    session = E2eSession(claim_attempt(str(tmp_path / "runs"), "run", "tests/test_a.py::test_b"))
    try:
        session.terminal(CLOCK, 50, 7, name="clock")
        cast = session.artifacts / "casts/1-clock.cast"
        assert wait_until(lambda: shown_so_far(cast).count("now=") > 2, PATIENCE_S)
        (found,) = read_recordings(session.artifacts)
    finally:
        session.finish("passed")
    assert found == Recorded("1-clock.cast", found.start, "clock", 50, 7, CLOCK)
    said, recorded = _said_and_recorded(read_cast(cast), found.start)
    assert said <= recorded < said + PATIENCE_S


@pytest.mark.accept("Q5")
def test_what_cannot_be_read_is_passed_over(tmp_path: Path) -> None:
    assert read_recordings(tmp_path) == ()
    casts = tmp_path / "casts"
    casts.mkdir()
    (casts / "1-two.cast").write_text('{"version": 2, "width": 70, "height": 11, "timestamp": 7}\n')
    (casts / "2-three.cast").write_text(
        '{"version": 3, "term": {"cols": 60, "rows": 9}, "timestamp": 8, "title": "t"}\n'
    )
    (casts / "3-broken.cast").write_bytes(b"\xff\n")
    assert read_recordings(tmp_path) == (
        Recorded("3-broken.cast", 0.0, is_exact=False),
        Recorded("1-two.cast", 7.0, "", 70, 11, is_exact=False),
        Recorded("2-three.cast", 8.0, "t", 60, 9, is_exact=False),
    )
    (casts / "index.jsonl").write_bytes(
        b'\xff\nnull\n{"file": 1}\n{"file": "../../x.cast", "start": 1}\n'
        b'{"file": "1-two.cast", "start": 7.5}\n{"file": "2-three.cast", "start": 9'
    )
    assert [one.start for one in read_recordings(tmp_path)] == [0.0, 7.5, 8.0]


def test_a_later_line_counts_more(tmp_path: Path) -> None:
    cast = tmp_path / "casts" / "1-a.cast"
    cast.parent.mkdir()
    cast.write_text("")
    for start in (5.0, 6.25):
        note_start(str(cast), start, (80, 24), "a", "cat")
    assert read_recordings(tmp_path) == (Recorded("1-a.cast", 6.25, "a", 80, 24, "cat"),)
    assert json.loads((cast.parent / "index.jsonl").read_text().splitlines()[0])["start"] == 5.0


def test_an_index_that_cannot_be_written_stops_no_recording(tmp_path: Path) -> None:
    (tmp_path / "index.jsonl").mkdir()
    note_start(str(tmp_path / "1-a.cast"), time.time(), (80, 24), "a", "cat")
