"""What `process` promises beyond the contract of a host, which the conformance suite covers."""

import os
import signal
import sys
import time
from functools import partial
from pathlib import Path

import pytest

from mngr import process
from mngr.errors import TimedOutError, UsageError
from mngr.process import CommandFailedError, OnlyEnv, run, wait_until
from mngr.testing.waiting import PATIENCE_S


def test_a_missing_program_and_a_missing_directory_are_told_apart() -> None:
    with pytest.raises(CommandFailedError, match="mngr-no-such-program: No such file") as program:
        process.run(["mngr-no-such-program"])
    with pytest.raises(CommandFailedError, match="/no/such/dir: No such file"):
        process.run(["true"], cwd="/no/such/dir")
    assert program.value.completed.code == 127


def test_arguments_beyond_the_kernels_limit_are_an_error_not_a_crash() -> None:
    with pytest.raises(CommandFailedError, match="Argument list too long") as raised:
        process.run(["echo", "x" * 10_000_000])
    assert raised.value.completed.code == 126


def test_a_nul_is_refused_with_a_hint() -> None:
    with pytest.raises(UsageError) as raised:
        process.run(["echo", "a\0b"])
    assert raised.value.hint


def test_a_child_gets_our_environment_without_what_git_and_tmux_left(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OURS", "1")
    monkeypatch.setenv("GIT_DIR", "/elsewhere")
    monkeypatch.setenv("TMUX", "/socket,1,0")
    seen = process.run(["env"], env={"MORE": "2"}).text.splitlines()
    assert {"OURS=1", "MORE=2"} <= set(seen)
    assert not [line for line in seen if line.startswith(("GIT_DIR=", "TMUX="))]


def test_a_whole_environment_replaces_ours(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OURS", "1")
    assert process.run(["/usr/bin/env"], env=OnlyEnv({"MORE": "2"})).text == "MORE=2\n"


def test_descriptors_handed_over_are_open_and_no_other_is_left_behind() -> None:
    reader, writer = os.pipe()
    os.write(writer, b"through")
    os.close(writer)
    before = len(os.listdir("/proc/self/fd"))
    done = process.run_with_fds(["cat", f"/dev/fd/{reader}"], pass_fds=(reader,), timeout_s=60)
    assert (done.code, done.stdout) == (0, b"through")
    assert len(os.listdir("/proc/self/fd")) == before
    os.close(reader)


def test_an_interrupt_ends_the_child_with_its_children() -> None:
    argv = ("sleep", f"295.{os.getpid()}")
    script = f"from mngr import process; process.run(['sh', '-c', '{' '.join(argv)} & echo $! >&2; wait'])"
    line = "".join(word + "\0" for word in argv).encode()
    inner = f"import signal; signal.signal(signal.SIGINT, signal.default_int_handler); {script}"
    child = process.stream([sys.executable, "-c", inner])
    try:
        assert process.wait_until(lambda: _count(line) == 1, PATIENCE_S)
        os.kill(child._child.pid, signal.SIGINT)
        child.wait(60)
        assert process.wait_until(lambda: _count(line) == 0, PATIENCE_S)
    finally:
        child.kill()


def test_a_deferred_interrupt_takes_effect_when_the_command_has_ended(tmp_path: Path) -> None:
    ended = tmp_path / "ended"
    program = f"kill -INT {os.getpid()}; sleep 0.3; touch {ended}"
    with pytest.raises(KeyboardInterrupt):
        process.run(["sh", "-c", program], defer_signals=True)
    assert ended.exists()


def test_a_second_interrupt_is_not_deferred(tmp_path: Path) -> None:
    ended = tmp_path / "ended"
    program = f"kill -INT {os.getpid()}; sleep 0.3; kill -INT {os.getpid()}; sleep 600; touch {ended}"
    with pytest.raises(KeyboardInterrupt):
        process.run(["sh", "-c", program], defer_signals=True)
    assert not ended.exists()


def test_a_deadline_names_the_command_in_one_printable_line() -> None:
    with pytest.raises(TimedOutError) as raised:
        process.run(["sh", "-c", "sleep 9\n# \udcff " + "x" * 200], timeout_s=0.05)
    message = raised.value.message
    assert message.startswith("sh -c sleep 9 # \\udcff x")
    assert message.endswith("… did not end within 0.05 s")
    message.encode()


def test_waiting_returns_the_answer_or_the_last_one_at_the_deadline() -> None:
    answers = iter([None, 0, "yes"])
    assert process.wait_until(lambda: next(answers), 90, every_s=0.001) == "yes"
    began = time.monotonic()
    assert process.wait_until(lambda: False, 0.05) is False
    assert time.monotonic() - began < 30


def test_asking_takes_at_most_half_of_the_time() -> None:
    asked: list[float] = []

    def slow() -> bool:
        asked.append(time.monotonic())
        time.sleep(0.1)
        return False

    process.wait_until(slow, 0.8, every_s=0.001)
    assert len(asked) <= 5


def _count(command_line: bytes) -> int:
    """Living processes with exactly this command line."""
    found = 0
    for pid in filter(str.isdigit, os.listdir("/proc")):
        try:
            with open(f"/proc/{pid}/cmdline", "rb") as file:
                found += file.read() == command_line
        except OSError:
            continue
    return found


def test_an_interrupt_while_a_child_is_started_ends_the_child(tmp_path: Path) -> None:
    """Were it not held back, the interrupt would hit between the fork and our knowing of it."""
    script = (
        "import _posixsubprocess, os, signal, subprocess, sys\n"
        "from mngr import process\n"
        "real = subprocess._fork_exec\n"
        "def fork_exec(*words):\n"
        "    pid = real(*words)\n"
        "    os.kill(os.getpid(), signal.SIGINT)\n"
        "    return pid\n"
        "subprocess._fork_exec = fork_exec\n"
        "try:\n"
        "    process.run(['sh', '-c', 'sleep 0.4; touch \"$1\"', 'x', sys.argv[1]])\n"
        "except KeyboardInterrupt:\n"
        "    print('interrupted')\n"
    )
    mark = tmp_path / "lived-on"
    done = run([sys.executable, "-c", script, str(mark)], timeout_s=PATIENCE_S)
    assert done.text.split() == ["interrupted"], done.complaint
    assert not wait_until(mark.exists, 1.0)


@pytest.mark.accept("K4")
def test_nobody_of_a_killed_group_works_on(tmp_path: Path) -> None:
    busy = 'import os\nwhile True:\n    open(os.urandom(8).hex(), "wb").write(bytes(1 << 22))\n'
    for number in range(5):
        folder = tmp_path / str(number)
        folder.mkdir()
        script = '"$1" -c "$2" & "$1" -c "$2" & "$1" -c "$2" & wait'
        started = process.stream(["sh", "-c", script, "sh", sys.executable, busy], cwd=str(folder))
        assert wait_until(partial(_has_files, folder), PATIENCE_S)
        started.kill()
        seen = {file.name: file.stat().st_size for file in folder.iterdir()}
        assert [pid for pid in _pids() if _group(pid) == started.pid] == []
        assert {file.name: file.stat().st_size for file in folder.iterdir()} == seen
        process.run(["rm", "-rf", str(folder)]).check("rm")


def _has_files(folder: Path) -> bool:
    return len(list(folder.iterdir())) > 3


def _pids() -> list[int]:
    return [int(name) for name in os.listdir("/proc") if name.isdigit()]


def _group(pid: int) -> int:
    """The process group of a process that still does something, else 0."""
    try:
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return 0
    return 0 if fields[0] in "ZX" else int(fields[2])
