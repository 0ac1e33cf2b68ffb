"""When the agents of a run are looked at: at every ring, and now and then anyway."""

import errno
import queue
import re
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

import mngr
from mngr.testing.waiting import PATIENCE_S
from mngr_tmr.engine.observation import Poll
from mngr_tmr.model.entry import Entry
from mngr_tmr.model.facts import AnyFact
from mngr_tmr.run.thread_executor import ThreadExecutor
from mngr_tmr.run_folder.folder import RunFolder
from mngr_tmr.run_folder.log import RunLog
from mngr_tmr.run_folder.redact import Redactor

SELDOM_S = 3600.0


class Eye:
    """Counts looks, and rings when told to."""

    def __init__(self) -> None:
        self.looks: queue.SimpleQueue[float] = queue.SimpleQueue()
        self.errors: list[Exception] = []
        self._ring = threading.Event()

    def look(self, at: float) -> Poll:
        self.looks.put(at)
        if self.errors:
            raise self.errors.pop(0)
        return Poll(at, {})

    def ring(self) -> None:
        self._ring.set()

    def rang(self) -> bool:
        was = self._ring.is_set()
        self._ring.clear()
        return was


@pytest.fixture
def eye() -> Eye:
    return Eye()


@pytest.fixture
def executor(eye: Eye) -> Iterator[ThreadExecutor]:
    executor = ThreadExecutor({}, eye.look, eye.rang, poll_s=SELDOM_S)
    yield executor
    executor.close()


@pytest.mark.accept("S6")
def test_a_ring_is_followed_by_a_look_and_silence_by_none(eye: Eye, executor: ThreadExecutor) -> None:
    eye.looks.get(timeout=PATIENCE_S)
    with pytest.raises(queue.Empty):
        eye.looks.get(timeout=0.5)
    eye.ring()
    eye.looks.get(timeout=PATIENCE_S)
    told: list[object] = []
    while len(told) < 2:
        told += executor.results(PATIENCE_S)
    assert all(isinstance(each, Poll) for each in told)


@pytest.mark.accept("S6")
def test_without_a_bell_there_is_a_look_all_the_same(eye: Eye) -> None:
    executor = ThreadExecutor({}, eye.look, eye.rang, poll_s=0.1)
    try:
        for _ in range(3):
            eye.looks.get(timeout=PATIENCE_S)
    finally:
        executor.close()


@pytest.mark.accept("Q10", "Q2")
def test_the_watcher_survives_whatever_a_look_raises_and_says_so_once(eye: Eye) -> None:
    """TH-H2, in a run."""
    error = UnicodeDecodeError("utf-8", b"\xff", 0, 1, "invalid start byte")
    eye.errors = [error, error, RecursionError("too deep"), error, mngr.UnreachableError("no route")]
    executor = ThreadExecutor({}, eye.look, eye.rang, poll_s=0.1)
    told: list[Entry | Poll] = []
    try:
        while not any(isinstance(each, Poll) and each.is_whole for each in told):
            results = executor.results(PATIENCE_S)
            assert results, "nobody looks any more"
            told += results
    finally:
        executor.close()
    assert sum(isinstance(each, Poll) and not each.is_whole for each in told) == 5
    notes = [each.message for each in told if isinstance(each, Entry)]
    assert len(notes) == 4, notes
    assert "UnicodeDecodeError" in notes[0]
    assert notes[3] == "polling the agents failed: no route"


@pytest.mark.accept("Q10", "Q2")
def test_the_watcher_survives_a_bell_that_cannot_be_heard_and_says_so_once(eye: Eye) -> None:
    def rang() -> bool:
        raise OSError(errno.EMFILE, "Too many open files")

    executor = ThreadExecutor({}, eye.look, rang, poll_s=0.1)
    told: list[Entry | Poll] = []
    try:
        while sum(isinstance(each, Poll) for each in told) < 4:
            results = executor.results(PATIENCE_S)
            assert results, "nobody looks any more"
            told += results
    finally:
        executor.close()
    (note,) = (each.message for each in told if isinstance(each, Entry))
    assert note.startswith("waiting for the next poll failed, and polling goes on: OSError")


@pytest.mark.accept("P4", "Q13", "H7")
def test_a_bug_in_a_step_leaves_its_traceback_in_the_log_and_its_place_in_the_row(
    eye: Eye, tmp_path: Path
) -> None:
    def stumble(_: Entry) -> AnyFact:
        raise KeyError("canary-in-an-error")

    env = {"TOKEN": "canary-in-an-error"}
    folder = RunFolder(str(tmp_path), Redactor(env, env))
    executor = ThreadExecutor(
        {"pull": stumble}, eye.look, eye.rang, poll_s=SELDOM_S, log=RunLog(folder).unexpected
    )
    told: list[Entry] = []
    try:
        executor.begin(Entry(1, "pull", "intended", "t", 2))
        while not told:
            told += [each for each in executor.results(PATIENCE_S) if isinstance(each, Entry)]
    finally:
        executor.close()
    assert re.fullmatch(r"KeyError: .*test_thread_executor\.py:\d+\)", told[0].message)
    log = tmp_path / "run.log"
    assert "pull t (attempt 2)\nTraceback" in log.read_text()
    assert "in stumble" in log.read_text()
    assert "canary" not in log.read_text()
    assert log.stat().st_mode & 0o777 == 0o600
