"""What `-v` and MNGR_TRACE show of the processes that a command runs."""

import os
from pathlib import Path

import msgspec
import pytest
from tests.cli.command import Mngr


@pytest.mark.accept("H7")
def test_each_process_is_a_line_of_the_trace_with_time_and_exit_code(mngr: Mngr, tmp_path: Path) -> None:
    file = tmp_path / "trace"
    mngr.ok("create", "foo", "--", "sleep", "60", MNGR_TRACE=str(file))
    spans = [msgspec.json.decode(line) for line in file.read_text().splitlines()]
    assert any(span["argv"][0] == "git" and "worktree" in span["argv"] for span in spans), spans
    assert all(span["took_s"] >= 0 and span["at"] > 1e9 for span in spans)
    assert {span["code"] for span in spans} >= {0}
    assert os.stat(file).st_mode & 0o777 == 0o600
    before = len(spans)
    mngr.ok("list", MNGR_TRACE=str(file))
    assert len(file.read_text().splitlines()) > before, "a second command appends"


@pytest.mark.accept("H7")
def test_verbose_shows_the_same_on_stderr_and_nothing_on_stdout(mngr: Mngr) -> None:
    quiet = mngr.ok("list", "--json")
    told = mngr.ok("list", "--json", "-v")
    assert told.stdout == quiet.stdout
    assert [line for line in told.stderr.splitlines() if line.startswith("+ ") and "exit 0" in line], told


def test_secrets_are_hidden_in_both(mngr: Mngr, tmp_path: Path) -> None:
    file, known, token = tmp_path / "trace", "correct horse battery", "ghp_" + "a1B2" * 9
    mngr.ok("create", "foo", "--", "sleep", "60")
    words = ("exec", "foo", "-v", "--", "echo", known, token)
    done = mngr.ok(*words, MNGR_TRACE=str(file), MY_API_KEY=known)
    assert done.stdout == f"{known} {token}\n"
    for text in (done.stderr, file.read_text()):
        assert "[hidden]" in text
        assert known not in text
        assert token not in text


def test_a_trace_that_cannot_be_written_is_a_warning(mngr: Mngr, tmp_path: Path) -> None:
    done = mngr.ok("list", MNGR_TRACE=str(tmp_path))
    assert "warning: cannot write the trace" in done.stderr
