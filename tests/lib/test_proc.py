"""What is read of processes, of living ones and of those that are gone."""

import os
import subprocess
from pathlib import Path

import pytest

from mngr.process import wait_until
from mngr.testing.waiting import PATIENCE_S
from mngr_lib.proc import (
    available_memory,
    boot_id,
    is_memory_short,
    parse_stat,
    process_ids,
    read_entry,
    read_stat,
    start_of,
    start_time,
)


def test_a_process_is_known_by_its_start_until_it_is_gone() -> None:
    with subprocess.Popen(["sleep", "300"], env={"MARK": "x1"}) as child:
        try:
            found = read_stat(child.pid)
            assert found
            assert (found.parent, found.is_dead, found.start) == (os.getpid(), False, start_of(child.pid))
            assert child.pid in process_ids()
            # A program that is just being started has neither for a moment.
            assert wait_until(lambda: b"sleep\0" in read_entry(child.pid, "cmdline"), PATIENCE_S)
            assert wait_until(lambda: b"MARK=x1\0" in read_entry(child.pid, "environ"), PATIENCE_S)
        finally:
            child.kill()
        os.waitid(os.P_PID, child.pid, os.WEXITED | os.WNOWAIT)
        zombie = read_stat(child.pid)
        assert zombie
        assert zombie.is_dead
    assert (read_stat(child.pid), start_of(child.pid), read_entry(child.pid, "stat")) == (None, "", b"")


def test_a_program_may_have_parentheses_and_spaces_in_its_name() -> None:
    fields = "S 7 8 " + " ".join(str(number) for number in range(6, 30))
    stat = parse_stat(f"5 (a) b (c) {fields}")
    assert stat
    assert (stat.state, stat.parent, stat.group, stat.start) == ("S", 7, 8, "22")
    assert start_time(f"5 (a) b (c) {fields}") == "22"


def test_what_is_no_line_of_stat_says_nothing() -> None:
    assert [parse_stat(text) for text in ("", "5 (a) S", "5 (a) S x y " + "0 " * 30)] == [None] * 3
    assert start_time("5 (a) S") == ""


def test_the_machine_says_its_boot_and_its_memory() -> None:
    assert len(boot_id()) == 36
    assert available_memory() > 1 << 20


@pytest.mark.accept("O5")
@pytest.mark.parametrize(
    ("stalled", "free", "is_short"),
    [
        ("0.00", 9000, False),
        ("31.50", 9000, True),
        ("0.00", 300, True),
        (None, 9000, False),
        (None, 300, True),
    ],
)
def test_memory_is_short_when_programs_wait_for_it_or_hardly_any_is_left(
    tmp_path: Path, stalled: str | None, free: int, is_short: bool
) -> None:
    (tmp_path / "pressure").mkdir()
    if stalled is not None:
        words = "avg10={} avg60=0.00 avg300=0.00 total=1"
        lines = [f"some {words.format('99.00')}", f"full {words.format(stalled)}"]
        (tmp_path / "pressure/memory").write_text("\n".join(lines) + "\n")
    (tmp_path / "meminfo").write_text(f"MemTotal:  10000 kB\nMemFree:  1 kB\nMemAvailable:  {free} kB\n")
    assert is_memory_short(str(tmp_path)) is is_short


def test_without_proc_memory_is_not_known_to_be_short(tmp_path: Path) -> None:
    assert not is_memory_short(str(tmp_path))
