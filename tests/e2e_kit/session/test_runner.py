"""The deadline holds and no byte is lost, whatever a command leaves behind."""

import os
import signal
import sys
import time
from pathlib import Path

import pytest

from mngr.testing.waiting import PATIENCE_S
from mngr_e2e.session.runner import Chunk, Job, JobEnd, run_job


def run(command: str, timeout_s: float = 60, stdin: bytes | None = None) -> tuple[JobEnd, bytes, bytes]:
    chunks: list[Chunk] = []
    job = Job(("sh", "-c", command), dict(os.environ), "/", timeout_s, stdin)
    ended = run_job(job, chunks.append)
    out, err = (b"".join(c.data for c in chunks if c.stream == name) for name in ("stdout", "stderr"))
    return ended, out, err


@pytest.mark.accept("F1")
def test_both_streams_and_the_exit_code_come_back() -> None:
    ended, out, err = run("printf 'a b' | tr a-z A-Z; echo oops >&2; exit 7")
    assert (ended.exit_code, out, err) == (7, b"A B", b"oops\n")


def test_a_death_by_signal_is_128_and_its_number() -> None:
    assert run("kill -KILL $$")[0].exit_code == 128 + signal.SIGKILL


@pytest.mark.accept("F8")
def test_the_deadline_kills_the_whole_group(tmp_path: Path) -> None:
    pid_file = tmp_path / "pid"
    for timeout_s in (4, 60):  # on a loaded machine the first may end before the shell has begun
        ended, out, _ = run(f"echo before; sleep 300 & echo $! > {pid_file}; wait", timeout_s=timeout_s)
        if pid_file.exists() and pid_file.read_text():
            break
    assert (ended.exit_code, ended.timed_out, out) == (124, True, b"before\n")
    assert _gone(int(pid_file.read_text()))


@pytest.mark.accept("F8")
def test_the_deadline_holds_though_a_detached_child_keeps_the_pipe() -> None:
    started = time.monotonic()
    for timeout_s in (4, 30):  # on a loaded machine the first may end before the shell has begun
        ended, out, _ = run("setsid sh -c 'echo $$; exec sleep 300' & wait", timeout_s=timeout_s)
        if out:
            break
    os.kill(int(out), signal.SIGKILL)
    assert ended.exit_code == 124
    assert time.monotonic() - started < 60


@pytest.mark.accept("F8")
def test_a_command_that_ended_is_not_waited_for_when_its_child_keeps_the_pipe(tmp_path: Path) -> None:
    said = tmp_path / "said"
    started = time.monotonic()
    child = f"setsid sh -c 'echo $$; : >{said}; exec sleep 300'"
    ended, out, _ = run(f"{child} & until [ -e {said} ]; do sleep 0.05; done; exit 5", timeout_s=PATIENCE_S)
    os.kill(int(out), signal.SIGKILL)
    assert (ended.exit_code, ended.timed_out) == (5, False)
    assert time.monotonic() - started < 60


@pytest.mark.accept("F8")
def test_closed_streams_do_not_lift_the_deadline() -> None:
    ended, _, _ = run("exec >&- 2>&-; sleep 300", timeout_s=0.3)
    assert ended.exit_code == 124


@pytest.mark.accept("F8")
def test_every_byte_arrives_whatever_it_is() -> None:
    script = f"{sys.executable} -c 'import sys; sys.stdout.buffer.write(bytes(range(256)) * 4096)'"
    assert run(script)[1] == bytes(range(256)) * 4096


@pytest.mark.accept("F8")
def test_stdin_is_empty_unless_given() -> None:
    assert run("cat; echo end")[1] == b"end\n"
    big = b"x" * 500_000
    assert run("cat", stdin=big)[1] == big
    assert run("exit 0", stdin=big)[0].exit_code == 0


@pytest.mark.accept("F8")
def test_our_own_stdin_is_not_inherited() -> None:
    reading, writing = os.pipe()
    before = os.dup(0)
    try:
        os.write(writing, b"ours")
        os.close(writing)
        os.dup2(reading, 0)
        assert run("cat")[1] == b""
    finally:
        os.dup2(before, 0)
        os.close(before)
        os.close(reading)


def test_a_missing_program_and_a_missing_folder_are_127() -> None:
    heard: list[Chunk] = []
    assert run_job(Job(("no-such-program",), {"PATH": "/bin"}, "/", 5), heard.append).exit_code == 127
    assert run_job(Job(("true",), {"PATH": "/bin"}, "/no/such", 5), heard.append).exit_code == 127
    assert [b"No such file" in chunk.data for chunk in heard] == [True, True]


def _gone(pid: int) -> bool:
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline:
        try:
            if Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] == "Z":
                return True
        except FileNotFoundError:
            return True
        time.sleep(0.02)
    return False
