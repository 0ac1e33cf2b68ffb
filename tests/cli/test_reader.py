"""A reader of stdout that leaves, or a stdout that takes nothing, ends a command and what it started."""

import os
import signal
import subprocess
from functools import partial
from pathlib import Path

import pytest
from tests.cli.command import ARGV, Mngr

from mngr import process
from mngr.process import Completed, OnlyEnv, wait_until
from mngr.testing.waiting import PATIENCE_S

SIGPIPE_CODE = 128 + signal.SIGPIPE


def shell(mngr: Mngr, script: str) -> Completed:
    """Runs a script in which "$@" is mngr."""
    argv = ["bash", "-c", script, "bash", *ARGV]
    return process.run(argv, env=OnlyEnv(mngr.env), cwd=str(mngr.world.repo), timeout_s=PATIENCE_S)


def has_ended(file: Path) -> bool:
    """Whether the process whose pid is in the file is gone."""
    try:
        os.kill(int(file.read_text()), 0)
    except ProcessLookupError:
        return True
    return False


@pytest.fixture
def foo(mngr: Mngr) -> Mngr:
    mngr.ok("create", "foo", "--", "sh", "-c", "echo ready; sleep 600")
    return mngr


@pytest.mark.accept("K1")
@pytest.mark.parametrize("then", ["exec yes", "echo ready; sleep 600 & wait", "exec yes >&2"])
def test_exec_ends_with_its_reader_and_ends_the_command(foo: Mngr, tmp_path: Path, then: str) -> None:
    """TH-M3."""
    pid = tmp_path / "pid"
    command = f"echo $$ >{pid}; {then}"
    both = "2>&1" if "&2" in then else ""
    done = shell(
        foo, f'"$@" exec foo -- sh -c {command!r} {both} | head -1 >/dev/null; echo "${{PIPESTATUS[0]}}"'
    )
    assert (done.stdout, done.stderr) == (f"{SIGPIPE_CODE}\n".encode(), b"")
    assert wait_until(lambda: has_ended(pid), PATIENCE_S)


@pytest.mark.accept("K1")
def test_exec_on_several_ends_with_its_reader(foo: Mngr, tmp_path: Path) -> None:
    """TH-M3: of several agents, each with a command that says nothing."""
    foo.ok("create", "bar", "--", "sleep", "600")
    command = f"echo $$ >{tmp_path}/$MNGR_AGENT_NAME; sleep 600"
    started = f"until [ -s {tmp_path}/foo ] && [ -s {tmp_path}/bar ]; do sleep 0.05; done"
    done = shell(foo, f'"$@" exec --all -- sh -c {command!r} | {{ {started}; }}; echo "${{PIPESTATUS[0]}}"')
    assert done.stdout == f"{SIGPIPE_CODE}\n".encode()
    for name in ("foo", "bar"):
        assert wait_until(partial(has_ended, tmp_path / name), PATIENCE_S)


@pytest.mark.accept("K1")
def test_a_slow_reader_of_exec_gets_all_of_it(foo: Mngr, tmp_path: Path) -> None:
    """TH-M3: what still is in the pipes when the command has ended, here 100 KB, waits for the reader."""
    command, done = f"seq 1 20000; : >{tmp_path}/done", f"until [ -e {tmp_path}/done ]; do sleep 0.05; done"
    read = shell(foo, f'"$@" exec foo -- sh -c {command!r} | {{ {done}; sleep 1; wc -l; }}')
    assert read.stdout.split() == [b"20000"]


@pytest.mark.accept("K1")
def test_exec_into_a_full_disk_ends_the_command(foo: Mngr, tmp_path: Path) -> None:
    """TH-M3: what cannot be written is an error, not a command that waits."""
    pid = tmp_path / "pid"
    done = shell(foo, f'"$@" exec foo -- sh -c "echo \\$\\$ >{pid}; exec yes" >/dev/full')
    assert (done.code, done.stderr) == (1, b"error: cannot write the output: No space left on device\n")
    assert wait_until(lambda: has_ended(pid), PATIENCE_S)


@pytest.mark.accept("K1")
@pytest.mark.parametrize(
    "words",
    [
        ("events", "foo", "--follow"),
        ("capture", "foo", "--follow"),
        ("list", "--watch"),
        ("list", "--watch", "--format", "jsonl"),
    ],
)
def test_what_follows_ends_with_its_reader(foo: Mngr, words: tuple[str, ...]) -> None:
    """TH-M3: as soon as the reader leaves, not with the next line, which may never come."""
    following = foo.start(*words)
    assert following.stdout
    assert following.stdout.readline()
    following.stdout.close()
    assert_quiet_end(following)


@pytest.mark.accept("K1")
def test_wait_ends_with_its_reader(foo: Mngr) -> None:
    """TH-M3."""
    foo.ok("create", "quick", "--", "true")
    waiting = foo.start("wait", "quick", "foo", "--until", "done")
    assert waiting.stdout
    assert waiting.stdout.readline().startswith(b"quick: DONE")
    waiting.stdout.close()
    assert_quiet_end(waiting)


def assert_quiet_end(following: "subprocess.Popen[bytes]") -> None:
    assert following.wait(PATIENCE_S) == SIGPIPE_CODE
    assert following.stderr
    assert following.stderr.read() == b""
    for pipe in (following.stdin, following.stderr):
        assert pipe
        pipe.close()


@pytest.mark.accept("Q7")
@pytest.mark.parametrize("words", ["list", "help", "--help", "--version", "list --json", "help create"])
def test_a_stdout_that_takes_nothing_is_one_error(foo: Mngr, words: str) -> None:
    """TH-Low: `list >&-`, `help >/dev/full`."""
    full = shell(foo, f'"$@" {words} >/dev/full')
    assert (full.code, full.stderr) == (1, b"error: cannot write the output: No space left on device\n")
    closed = shell(foo, f'"$@" {words} >&-')
    assert (closed.code, closed.stderr) == (1, b"error: cannot write the output: Bad file descriptor\n")


@pytest.mark.accept("Q7")
def test_closed_streams_cost_what_needs_them_and_no_more(foo: Mngr) -> None:
    """TH-Low: no traceback, no file of ours under the number of a standard stream."""
    assert shell(foo, '"$@" list <&-').stdout.split()[:2] == [b"NAME", b"STATE"]
    no_stdin = shell(foo, '"$@" label - a=b <&-')
    assert (no_stdin.code, no_stdin.stderr.splitlines()[0]) == (
        1,
        b"error: cannot read stdin: Bad file descriptor",
    )
    assert shell(foo, '"$@" label foo a=b 2>&-').stdout == b"Labelled foo: a=b\n"
    assert shell(foo, '"$@" label nobody a=b 2>&-').code == 4
    assert shell(foo, '"$@" label nobody a=b 2>/dev/full').code == 4
    assert shell(foo, '"$@" stop foo <&- >&- 2>&-').code == 1
    assert foo.ok("list", "--format", "{state}").stdout == "STOPPED\n"
    assert shell(foo, '"$@" __complete list "" >/dev/full').stderr == b""


@pytest.mark.accept("Q7")
def test_few_descriptors_are_one_error_with_a_hint(foo: Mngr) -> None:
    """TH-Low."""
    for limit in (5, 7, 10):
        done = shell(foo, f'ulimit -n {limit}; "$@" list')
        assert done.code == 1
        assert done.stderr.startswith(b"error: ")
        assert b"Too many open files" in done.stderr.splitlines()[0]
        assert b"ulimit -n" in done.stderr
