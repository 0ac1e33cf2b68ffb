"""A session's two artifacts: the transcript of what was typed, the casts of what agents showed."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.support.growing_cast import shown_so_far

from mngr.process import wait_until
from mngr_e2e import E2eSession
from mngr_e2e.recorder.cast import read_cast
from mngr_e2e.session.artifacts import claim_attempt
from mngr_e2e.session.world.reaper import find_marked

LINE = "mngr create {} -- sh -c 'echo this-is-{}; exec sleep 1000'"


@pytest.fixture
def session(tmp_path: Path) -> Iterator[E2eSession]:
    made = E2eSession(claim_attempt(str(tmp_path / "runs"), "run", "tests/test_a.py::test_b"))
    yield made
    made.finish("passed")


@pytest.mark.accept("F12", "F13", "F14", "F17")
def test_a_test_yields_a_transcript_and_whole_casts_of_its_agents(session: E2eSession) -> None:
    for name in ("one", "two"):
        done = session.run(LINE.format(name, name))
        assert (done.exit_code, done.stderr) == (0, "")
    casts = session.artifacts / "casts"
    assert wait_until(lambda: "this-is-two" in shown_so_far(casts / "2-two.cast"), 90)
    assert wait_until(lambda: "this-is-one" in shown_so_far(casts / "1-one.cast"), 90)
    session.finish("passed")
    assert sorted(path.name for path in casts.glob("*.cast")) == ["1-one.cast", "2-two.cast"]
    for path in casts.glob("*.cast"):
        assert read_cast(path).is_complete
    assert "mngr create one" in (session.artifacts / "transcript.txt").read_text()
    assert find_marked((f"MNGR_E2E_SESSION={session.env['MNGR_E2E_SESSION']}".encode(),)) == []


@pytest.mark.accept("F12", "F17")
def test_who_does_not_want_a_recording_has_none(tmp_path: Path, session: E2eSession) -> None:
    assert session.run(LINE.format("quiet", "quiet").replace(" -- ", " --no-connect -- ")).exit_code == 0
    other = E2eSession(claim_attempt(str(tmp_path / "runs"), "run", "tests/test_a.py::test_c"), record=False)
    try:
        assert other.run(LINE.format("one", "one")).exit_code == 0
        assert other.run("mngr config get commands.create.connect_command").stdout.strip() == ""
    finally:
        other.finish("passed")
    assert not (session.artifacts / "casts").exists()
    assert not (other.artifacts / "casts").exists()
