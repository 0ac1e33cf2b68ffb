"""Ending the recorders of a test."""

import os
import signal
import subprocess
import time
from pathlib import Path

import pytest
from tests.e2e_kit.recorder.conftest import Studio

from mngr.process import wait_until
from mngr.testing.waiting import PATIENCE_S
from mngr_e2e.recorder.ledger import note_process
from mngr_e2e.recorder.stop import stop_recorders


def test_without_recorders_nothing_happens(tmp_path: Path) -> None:
    assert stop_recorders(tmp_path) == []
    assert os.listdir(tmp_path) == []


@pytest.mark.accept("F14")
def test_stopping_twice_is_safe_and_numbers_go_on(either: Studio) -> None:
    either.agent("one", "echo hello")
    stop_recorders(either.artifacts)
    assert stop_recorders(either.artifacts) == []
    either.agent("two", "echo hello")
    stop_recorders(either.artifacts)
    assert sorted(os.listdir(either.casts)) == ["1-one.cast", "2-two.cast", "index.jsonl"]


@pytest.mark.accept("F14")
def test_a_recorder_that_does_not_answer_is_killed_at_the_deadline(either: Studio) -> None:
    either.agent("foo", "echo hello")
    assert wait_until(lambda: "hello" in either.shown("1-foo.cast"), PATIENCE_S)
    recorder = _recorder(either)
    os.kill(recorder, signal.SIGSTOP)
    start = time.monotonic()
    assert stop_recorders(either.artifacts, timeout_s=0.5) == [recorder]
    assert time.monotonic() - start < 60
    assert wait_until(lambda: not either.recorders(), PATIENCE_S)
    assert either.cast("1-foo.cast").is_complete


@pytest.mark.accept("F14")
def test_what_a_killed_recorder_leaves_is_ended(either: Studio) -> None:
    either.agent("foo", "echo hello")
    os.kill(_recorder(either), signal.SIGKILL)
    stop_recorders(either.artifacts, timeout_s=0.5)
    assert wait_until(lambda: not either.recorders(), PATIENCE_S)


def test_a_stranger_with_the_number_of_a_recorder_is_left_alone(tmp_path: Path) -> None:
    folder = tmp_path / "casts" / ".recorders"
    folder.mkdir(parents=True)
    with subprocess.Popen(["sleep", "1000"], start_new_session=True) as stranger:
        try:
            note_process(str(folder), stranger.pid, stranger.pid)
            note = folder / str(stranger.pid)
            note.write_text(f"{stranger.pid} {int(note.read_text().split()[1]) - 1}\n")
            assert stop_recorders(tmp_path, timeout_s=0.5) == []
            assert stranger.poll() is None
        finally:
            stranger.kill()


def _recorder(studio: Studio) -> int:
    (number,) = (int(name) for name in os.listdir(studio.casts / ".recorders") if name.isdecimal())
    return number
