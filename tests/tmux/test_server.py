"""Our tmux server: how it ends, and host dirs with a name that tmux would act on."""

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.support.processes import mentioning
from tests.support.world import look
from tests.tmux.stage import Stage, is_alive

from mngr import process
from mngr.process import Completed, wait_until
from mngr.sh.program import READ_AND_RUN, encode
from mngr.store.paths import AgentPaths
from mngr.store.probe import probe_argv
from mngr.testing.waiting import PATIENCE_S
from mngr.tmux.pane import AgentPane, capture
from mngr.tmux.server import ENDING, end_if_empty, tmux_sh, unless_ending
from mngr.tmux.session import kill_script, launch_script, run_there
from mngr_lib.threads import Future

SLEEP = ("sleep", "1000")
# What a host dir may be called without anything of it being run, expanded or lost.
ODD = (
    "a #(canary) #{pid} #[fg=red] ##x %H%% $(canary) `canary` 'single' \"double\" ; canary & é",
    "b\n;canary\t#(canary)",
)


def server_pid(stage: Stage) -> int:
    return int(stage.tmux("display-message", "-p", "#{pid}").text)


def kill(stage: Stage, pane: AgentPane) -> Completed:
    script = kill_script(stage.paths, [(pane.session, stage.paths.agent(pane.agent_id))])
    return stage.host.run(READ_AND_RUN, stdin=encode(script)).check("ending the session")


@pytest.fixture
def waiting() -> Iterator[list["subprocess.Popen[bytes]"]]:
    """tmux clients that were connected before their server was told to end."""
    clients: list[subprocess.Popen[bytes]] = []
    yield clients
    for client in clients:
        client.kill()
        client.communicate()


def send_late(stage: Stage, waiting: list["subprocess.Popen[bytes]"], command: str) -> None:
    """Has a connected client run a command as soon as the server has been told to end: that wakes `wait-for`."""
    script = f"exec {tmux_sh(stage.paths)} wait-for never \\; {command}"
    waiting.append(subprocess.Popen(["sh", "-c", script], stderr=subprocess.PIPE))
    pid = waiting[-1].pid

    def is_connected() -> bool:
        seen = look(pid)
        return bool(seen) and any(
            os.readlink(f"/proc/{pid}/fd/{fd}").startswith("socket:") for fd in fds(pid)
        )

    assert wait_until(is_connected, PATIENCE_S)
    # It has sent what it has to say: another client was answered after it.
    assert stage.tmux("show-options", "-s", "exit-empty").code == 0


def fds(pid: int) -> list[str]:
    return os.listdir(f"/proc/{pid}/fd")


@pytest.mark.accept("Q14")
def test_a_server_that_does_not_finish_exiting_is_ended_by_the_next_launch(
    stage: Stage, waiting: list["subprocess.Popen[bytes]"]
) -> None:
    """Two managers: a session that came in too late kept the server, which closed every connection from then on.

    Nothing is said of it: `mv: cannot stat` was printed about a configuration that was there already.
    """
    first = stage.start(*SLEEP)
    stuck = server_pid(stage)
    send_late(stage, waiting, "new-session -d -s late sleep 1000")
    stage.tmux("kill-server")
    assert wait_until(lambda: "server exited" in stage.tmux("list-sessions").complaint, PATIENCE_S)
    script = launch_script(stage.paths, stage.specs["a"], before="", after="")
    done = run_there(stage.host, script)
    assert (done.code, done.stderr) == (0, b"")
    assert not is_alive(stuck)
    assert stage.tmux("list-sessions", "-F", "#{session_name}").text.split() == [first.session]


@pytest.mark.accept("Q14")
def test_a_server_that_does_not_finish_exiting_is_ended_by_the_next_destroy(
    stage: Stage, waiting: list["subprocess.Popen[bytes]"]
) -> None:
    """Two managers."""
    pane = stage.start(*SLEEP)
    stuck = server_pid(stage)
    send_late(stage, waiting, "new-session -d -s late sleep 1000")
    stage.tmux("kill-server")
    assert wait_until(lambda: "server exited" in stage.tmux("list-sessions").complaint, PATIENCE_S)
    kill(stage, pane)
    assert not is_alive(stuck)
    assert not os.path.exists(stage.paths.socket)


@pytest.mark.accept("Q14")
def test_a_process_that_has_the_number_of_an_ended_server_is_left_alone(stage: Stage) -> None:
    stage.start(*SLEEP)
    server = server_pid(stage)
    stage.tmux("kill-server")
    assert wait_until(lambda: not is_alive(server), PATIENCE_S)
    innocent = subprocess.Popen(SLEEP)
    listener = process.stream([sys.executable, "-c", _CLOSES, stage.paths.socket])
    try:
        assert listener.stdout.read(2) == b"up"
        _, _, start = Path(f"{stage.paths.tmux}/pid").read_text().partition(" ")
        Path(f"{stage.paths.tmux}/pid").write_text(f"{innocent.pid} {start}")
        stage.start(*SLEEP, name="b")
        assert innocent.poll() is None
    finally:
        listener.kill()
        innocent.kill()
        innocent.wait()


# Answers as a server that exits does: every connection is closed.
_CLOSES = """\
import os, socket, sys
os.unlink(sys.argv[1])
listening = socket.socket(socket.AF_UNIX)
os.chdir(os.path.dirname(sys.argv[1]))
listening.bind("socket")
listening.listen()
print("up", flush=True)
while True:
    listening.accept()[0].close()
"""


@pytest.mark.accept("Q14")
def test_a_session_that_reaches_a_server_told_to_end_is_refused(
    stage: Stage, waiting: list["subprocess.Popen[bytes]"]
) -> None:
    """Two managers: the last destroy and a create at once."""
    pane = stage.start(*SLEEP)
    server = server_pid(stage)
    send_late(stage, waiting, unless_ending("new-session -d -s late sleep 1000"))
    kill(stage, pane)
    assert ENDING in waiting[0].communicate(timeout=PATIENCE_S)[1].decode()
    assert not is_alive(server)
    assert not os.path.exists(stage.paths.socket)


def test_a_launch_is_repeated_that_an_ending_server_had_accepted(stage: Stage) -> None:
    """tmux exits with 0 where its server ends between accepting the client and reading its command."""
    stage.start(*SLEEP)
    server = server_pid(stage)
    os.kill(server, signal.SIGSTOP)
    launching = Future(lambda: stage.start(*SLEEP, name="b"))

    def is_connected() -> bool:
        found = [(pid, look(pid)) for pid in mentioning(os.fsencode(stage.paths.socket))]
        clients = [
            pid for pid, seen in found if seen and seen.argv[0] == b"tmux" and b"if-shell" in seen.argv
        ]
        return any("socket:" in os.readlink(f"/proc/{pid}/fd/{fd}") for pid in clients for fd in fds(pid))

    assert wait_until(is_connected, PATIENCE_S)
    os.kill(server, signal.SIGTERM)
    os.kill(server, signal.SIGCONT)
    pane = launching.result()
    assert stage.tmux("list-sessions", "-F", "#{session_name}").text.split() == [pane.session]
    assert server_pid(stage) != server


def test_a_server_with_sessions_is_not_ended(stage: Stage) -> None:
    first, second = stage.start(*SLEEP), stage.start(*SLEEP, name="b")
    kill(stage, first)
    stage.host.run(READ_AND_RUN, stdin=encode(end_if_empty(stage.paths))).check("asking it to end")
    assert stage.tmux("list-sessions", "-F", "#{session_name}").text.split() == [second.session]


@pytest.mark.accept("Q7", "Q14")
@pytest.mark.parametrize("name", [*ODD, "c" * 90 + " #(canary)"])
def test_nothing_in_the_name_of_a_host_dir_is_run_or_expanded(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    """A host dir with `#(cmd)` was run by tmux's pipe-pane."""
    sung = tmp_path / "sung"
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin/canary").write_text(f"#!/bin/sh\necho x >>'{sung}'\n")
    (tmp_path / "bin/canary").chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}/bin:{os.environ['PATH']}")
    (tmp_path / name).mkdir()
    stage = Stage(tmp_path / name)
    try:
        pane = stage.shell("echo up; read x; echo last; exit 3", record=True)
        stage.when_up(pane)
        own = stage.paths.agent(pane.agent_id)
        assert wait_until(lambda: b"up" in read(own.raw), PATIENCE_S)
        stage.tmux("send-keys", "-t", pane.target, "Enter")
        assert wait_until(lambda: is_recorded(stage, own), PATIENCE_S)
        assert b'"exit_code":3' in read(own.exit)
        assert wait_until(lambda: b"last" in read(own.raw), PATIENCE_S)
        assert wait_until(lambda: os.path.exists(stage.paths.bell), PATIENCE_S)
        assert "last" in capture(pane)
        kill(stage, pane)
        assert not os.path.exists(stage.paths.socket)
        assert sorted(os.listdir(tmp_path)) == sorted(["bin", name])
    finally:
        stage.close()


def is_recorded(stage: Stage, own: AgentPaths) -> bool:
    """Whether an agent's exit is recorded; without a probe of its host, tmux may not notice it before another end."""
    stage.host.run(probe_argv(stage.paths)).check("the probe")
    return os.path.exists(own.exit)


def read(path: str) -> bytes:
    return Path(path).read_bytes() if os.path.exists(path) else b""


def test_a_windows_name_and_command_reach_it_as_they_are(stage: Stage) -> None:
    """tmux expands formats in names, and takes a `;` at the end of a word for the end of the command."""
    pane = stage.start(*SLEEP, windows={"#(touch x) #{pid}": "sleep 1000;"})
    shown = stage.tmux("list-windows", "-t", f"={pane.session}", "-F", "#{window_name}").text.splitlines()
    assert shown == ["agent", "#(touch x) #{pid}"]
