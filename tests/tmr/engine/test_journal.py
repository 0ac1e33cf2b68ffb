"""The journal: whole after any crash, held by one process, all of an append or nothing."""

import errno
import os
import resource
import signal
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.tmr.engine.test_simulation import Disk, make_spec

from mngr_tmr.engine.journal import Journal, JournalBusyError, JournalError, read_journal
from mngr_tmr.engine.loop import Loop
from mngr_tmr.engine.simulated import SimExecutor, SimWorld
from mngr_tmr.engine.state import RunState
from mngr_tmr.engine.task_state import TaskPhase
from mngr_tmr.model.entry import Entry

ENTRIES = tuple(Entry(float(at), "launch", "intended", f"task-{at}", 1, "wörds") for at in range(4))


@pytest.mark.accept("Q1", "Q7")
@given(cut=st.integers(0, 400))
def test_a_file_cut_anywhere_gives_its_whole_entries_and_goes_on(
    cut: int, tmp_path_factory: pytest.TempPathFactory
) -> None:
    path = tmp_path_factory.mktemp("cut") / "journal.jsonl"
    journal = Journal(str(path))
    journal.append(*ENTRIES)
    journal.close()
    data = path.read_bytes()
    path.write_bytes(data[:cut])
    whole = data[:cut].count(b"\n")
    again = Journal(str(path))
    again.append(ENTRIES[0])
    again.close()
    assert read_journal(str(path)) == (*ENTRIES[:whole], ENTRIES[0])


@pytest.mark.accept("Q7")
def test_damage_in_the_middle_is_named_and_not_passed_over(tmp_path: Path) -> None:
    path = tmp_path / "journal.jsonl"
    path.write_bytes(
        b'{"at":1,"step":"run","kind":"noted"}\nnonsense\n{"at":2,"step":"run","kind":"noted"}\n'
    )
    with pytest.raises(JournalError, match="line 2"):
        read_journal(str(path))


@pytest.mark.accept("Q1")
def test_two_processes_cannot_hold_one_run(tmp_path: Path) -> None:
    journal = Journal(str(tmp_path / "journal.jsonl"))
    with pytest.raises(JournalBusyError):
        Journal(journal.path)
    journal.close()
    Journal(journal.path).close()


@pytest.mark.accept("Q1", "P4")
def test_a_full_disk_leaves_whole_entries_only(tmp_path: Path) -> None:
    path = str(tmp_path / "journal.jsonl")
    journal = Journal(path)
    journal.append(ENTRIES[0])
    with _at_most(os.path.getsize(path) + 30), pytest.raises(JournalError) as caught:
        journal.append(*ENTRIES[1:])
    assert caught.value.errno == errno.EFBIG
    journal.append(ENTRIES[1])
    journal.close()
    assert read_journal(path) == ENTRIES[:2]


class _at_most:
    """Files of this process can grow to this size, as on a disk that is full."""

    def __init__(self, size: int) -> None:
        self._size = size

    def __enter__(self) -> None:
        self._before = resource.getrlimit(resource.RLIMIT_FSIZE)
        self._handler = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (self._size, self._before[1]))

    def __exit__(self, *_: object) -> None:
        resource.setrlimit(resource.RLIMIT_FSIZE, self._before)
        signal.signal(signal.SIGXFSZ, self._handler)


class FullDisk(Disk):
    """A disk without space for a stretch of the run."""

    def __init__(self, world: SimWorld, full: tuple[float, float]) -> None:
        super().__init__()
        self._world, self._full, self.refused = world, full, 0

    def append(self, *entries: Entry) -> None:
        if self._full[0] <= self._world.now < self._full[1]:
            self.refused += 1
            raise JournalError(errno.ENOSPC, "no space left")
        super().append(*entries)


@pytest.mark.accept("Q2", "P4")
def test_a_disk_that_is_full_for_a_while_costs_time_and_nothing_else() -> None:
    spec, world = make_spec(12), SimWorld("r1", 5)
    disk = FullDisk(world, (30.0, 200.0))
    alive_then: list[int] = []

    def observe(_run: RunState, _entries: tuple[Entry, ...]) -> None:
        if 30.0 <= world.now < 200.0:
            alive_then.append(len(world.agents))

    state = Loop(RunState(spec), disk.append, SimExecutor(world), observe).go()
    assert disk.refused > 10
    assert len(set(alive_then)) == 1, "something was launched without being written down"
    assert {task.phase for task in state.tasks.values()} == {TaskPhase.ENDED}
    assert len(world.verified) == 12


@pytest.mark.accept("Q2")
def test_a_disk_that_stays_full_ends_the_run_with_the_error() -> None:
    world = SimWorld("r1", 5)
    disk = FullDisk(world, (30.0, 1e9))
    with pytest.raises(JournalError, match="no space"):
        Loop(RunState(make_spec(4)), disk.append, SimExecutor(world)).go()
    assert world.now < 2000
