"""The recorder for machines without asciinema."""

import os
import time
from pathlib import Path

import pytest
from tests.support.growing_cast import shown_so_far

from mngr_e2e.recorder.builtin import record
from mngr_e2e.recorder.cast import read_cast, text

ENV = {"PATH": os.environ["PATH"], "TERM": "xterm-256color"}


def never() -> bool:
    return False


@pytest.mark.accept("F15")
def test_records_output_with_times_in_a_terminal_of_the_wanted_size(tmp_path: Path) -> None:
    path = str(tmp_path / "x.cast")
    code = record(("sh", "-c", "stty size; test -t 0; sleep 1; echo end; exit 3"), path, (70, 11), ENV, never)
    cast = read_cast(path)
    assert code == 3
    assert text(cast) == "11 70\r\nend\r\n"
    assert cast.size == (70, 11)
    assert cast.events[-1].time_s - cast.events[0].time_s >= 0.25


def test_a_character_in_two_pieces_stays_whole(tmp_path: Path) -> None:
    path = str(tmp_path / "x.cast")
    record(("sh", "-c", r"printf '\303'; sleep 0.2; printf '\244\377'"), path, (80, 24), ENV, never)
    assert text(read_cast(path)) == "ä\N{REPLACEMENT CHARACTER}"


@pytest.mark.accept("F14")
def test_stopping_lets_the_command_say_its_last_words(tmp_path: Path) -> None:
    path, start = str(tmp_path / "x.cast"), time.monotonic()
    script = "trap 'echo bye; exit 0' TERM; echo here; while :; do sleep 0.05; done"
    code = record(
        ("sh", "-c", script),
        path,
        (80, 24),
        ENV,
        lambda: "here" in shown_so_far(path),
    )
    assert code == 0
    assert text(read_cast(path)) == "here\r\nbye\r\n"
    assert time.monotonic() - start < 60


def test_a_command_that_is_missing_says_so_in_the_recording(tmp_path: Path) -> None:
    path = str(tmp_path / "x.cast")
    assert record(("no-such-program",), path, (80, 24), ENV, never) == 127
    assert "no-such-program: No such file" in text(read_cast(path))


@pytest.mark.accept("F14")
def test_a_full_disk_ends_the_command_and_is_raised(tmp_path: Path) -> None:
    with pytest.raises(OSError, match="No space left"):
        record(("sleep", "1000"), "/dev/full", (80, 24), ENV, never)
