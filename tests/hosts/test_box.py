"""The example provider passes the suites, and a box is another machine as far as files and processes go."""

import os
import signal
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from mngr_box.host import BoxHost
from mngr_box.provider import BoxProvider
from tests.support.needs import needs
from tests.support.processes import start_detached

from mngr import process
from mngr.errors import UnreachableError
from mngr.hosts.protocol import Startable, shares_files
from mngr.model.host import HostRef, HostSpec, HostState
from mngr.process import CommandFailedError
from mngr.testing.hosts import HostConformance, LifecycleConformance
from mngr.testing.waiting import PATIENCE_S

_CREATE_AND_DIE = """
import os, signal, sys
from mngr.model.host import HostSpec
from mngr_box.provider import BoxProvider
BoxProvider(sys.argv[1]).create(HostSpec(name="orphan"))
os.kill(os.getpid(), signal.SIGKILL)
"""


@pytest.fixture(scope="module", autouse=True)
def _needs_namespaces() -> None:
    user = () if os.geteuid() == 0 else ("-U", "--map-root-user")
    needs("mount and process namespaces", "unshare", *user, "-m", "-p", "-f", "--mount-proc", "true")
    needs("nsenter of util-linux 2.38 or newer", "sh", "-c", "nsenter --help | grep -q -- --wdns")


@pytest.fixture
def provider(tmp_path: Path) -> Iterator[BoxProvider]:
    provider = BoxProvider(str(tmp_path / "host dir"))
    yield provider
    for ref in provider.hosts():
        provider.destroy(ref.name)


@pytest.fixture
def box(provider: BoxProvider) -> BoxHost:
    return provider.create(HostSpec(name="box"))


@pytest.mark.accept("K12", "K13")
class TestBoxHost(HostConformance):
    @pytest.fixture
    def host(self, box: BoxHost) -> BoxHost:
        return box


@pytest.mark.accept("K12", "K13")
class TestBoxProvider(LifecycleConformance):
    pass


def test_a_path_here_and_the_same_path_there_are_different_files(box: BoxHost, tmp_path: Path) -> None:
    path = str(tmp_path / "same path")
    Path(path).write_text("here")
    with pytest.raises(FileNotFoundError):
        box.read(path)
    box.write(path, b"there")
    assert (Path(path).read_text(), box.read(path)) == ("here", b"there")
    assert not shares_files(box)


def test_homes_and_temporary_directories_are_its_own_and_empty(box: BoxHost) -> None:
    listing = box.run(["sh", "-c", "ls -A /home /tmp /work /var/tmp /run; ls /"]).text
    assert listing.split("\n\n")[0] == "/home:"
    assert "/tmp:\n\n" in listing
    assert "/work:\n" in listing
    box.write("/root/mine", b"")
    assert not os.path.exists("/root/mine")
    assert box.run(["sh", "-c", "echo $HOME; pwd"]).text == "/root\n/root\n"


def test_the_system_is_shared_and_cannot_be_written(box: BoxHost) -> None:
    for path in ("/usr", "/usr/bin/env", "/etc"):
        assert box.run(["test", "-e", path]).code == 0
        assert box.run(["test", "-w", path]).code != 0


def test_our_environment_stays_here(box: BoxHost, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MNGR_TEST_SECRET", "hunter2")
    assert b"MNGR_TEST_SECRET" not in box.run(["env"]).stdout


def test_environment_values_show_in_no_command_line(box: BoxHost) -> None:
    stream = box.stream(["sleep", "300"], env={"TOKEN": "hunter-two-two"})
    try:
        shown = process.run(["sh", "-c", "cat /proc/[0-9]*/cmdline 2>/dev/null"]).stdout
        assert b"hunter-two-two" not in shown
    finally:
        stream.kill()


def test_processes_of_one_box_are_not_seen_from_another(provider: BoxProvider) -> None:
    left, right = (provider.create(HostSpec(name=name)) for name in ("left", "right"))
    pid = left.run(["sh", "-c", "sleep 297 >/dev/null 2>&1 & echo $!"]).text.strip()
    command_lines = ["sh", "-c", "cat /proc/[0-9]*/cmdline | tr '\\0' ' '"]
    assert "sleep 297" in left.run(command_lines).text
    assert "sleep 297" not in right.run(command_lines).text
    assert left.run(["kill", "-0", pid]).code == 0
    assert right.run(["kill", "-0", pid]).code != 0


def test_an_offline_box_has_no_network_but_itself(provider: BoxProvider) -> None:
    online, offline = (provider.create(HostSpec(offline=offline)) for offline in (False, True))
    devices = ["sh", "-c", "tail -n +3 /proc/net/dev | cut -d: -f1 | sort"]
    assert online.run(devices).stdout == process.run(devices).stdout
    assert offline.run(devices).text.split() == ["lo"]
    provider.stop(offline.name)
    assert provider.start(offline.name).run(devices).text.split() == ["lo"]


def test_a_box_outlives_the_process_that_made_it(provider: BoxProvider, tmp_path: Path) -> None:
    env = {"PYTHONPATH": os.pathsep.join(path for path in sys.path if path)}
    argv = [sys.executable, "-c", _CREATE_AND_DIE, str(tmp_path / "host dir")]
    assert process.run(argv, env=env).code == 128 + signal.SIGKILL
    assert list(provider.hosts()) == [HostRef("orphan", "box", HostState.RUNNING)]
    assert provider.open("orphan").run(["echo", "alive"]).text == "alive\n"


def test_orphans_in_a_box_are_reaped(box: BoxHost) -> None:
    box.run(["sh", "-c", "(sleep 0.2 >/dev/null 2>&1 &)"])
    zombies = ["sh", "-c", "grep -l '^State:.Z' /proc/[0-9]*/status"]
    assert process.wait_until(
        lambda: b"sleep" not in box.run(["ps", "ax"]).stdout.replace(b"sleep 86400", b""), 60
    )
    assert process.wait_until(lambda: box.run(zombies).stdout == b"", PATIENCE_S)


def test_stop_also_ends_what_left_its_session(provider: BoxProvider, box: BoxHost) -> None:
    box.run(["setsid", "-f", "sleep", "296.25"])
    assert _processes_here(b"sleep\x00296.25") == 1
    provider.stop("box")
    assert _processes_here(b"sleep\x00296.25") == 0
    with pytest.raises(UnreachableError, match="is not running"):
        box.run(["true"])


def test_a_later_process_with_the_same_number_is_not_the_box(
    provider: BoxProvider, box: BoxHost, tmp_path: Path
) -> None:
    provider.stop("box")
    state = tmp_path / "host dir/providers/box/box/box.json"
    pid = start_detached("sleep", "60")
    try:
        state.write_text(state.read_text().replace(f'"pid":{box._box.pid}', f'"pid":{pid}'))
        assert [ref.state for ref in provider.hosts()] == [HostState.STOPPED]
        provider.destroy("box")
        os.kill(pid, 0)
    finally:
        os.kill(pid, signal.SIGKILL)
        os.waitpid(pid, 0)


def test_destroy_leaves_no_mount_process_or_directory(provider: BoxProvider, tmp_path: Path) -> None:
    box = provider.create(HostSpec(name="brief"))
    box.run(
        ["sh", "-c", "sleep 296.75 >/dev/null 2>&1 & cp -r /etc/apt /root/ 2>/dev/null; mkdir -p '/work/a b'"]
    )
    assert _mounts_of(tmp_path) == []
    provider.destroy("brief")
    assert _mounts_of(tmp_path) == []
    assert os.listdir(tmp_path / "host dir/providers/box") == []
    assert _processes_here(b"sleep\x00296.75") == 0
    assert os.path.isdir("/usr/bin")


def test_a_failed_creation_leaves_nothing(
    provider: BoxProvider, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("mngr_box.provider._CLOSE", "sleep 296.5 >/dev/null 2>&1 & echo no luck >&2; exit 3")
    with pytest.raises(CommandFailedError, match="no luck"):
        provider.create(HostSpec(name="never"))
    assert os.listdir(tmp_path / "host dir/providers/box") == []
    assert _processes_here(b"sleep\x00296.5") == 0


def test_an_agents_tools_work_in_a_box(box: BoxHost) -> None:
    assert isinstance(BoxProvider("/nowhere"), Startable)
    assert box.run(["python3", "-c", "print(6 * 7)"]).text == "42\n"
    assert box.run(["sh", "-c", "git init -q /work/r && git -C /work/r status --porcelain=v2 -b"]).code == 0
    assert b"a/b" in box.run(["sh", "-c", "cd /tmp && mkdir a && : >a/b && tar cf - a | tar tf -"]).stdout
    tmux = ["tmux", "-S", "/root/socket", "-f", "/dev/null"]
    pane = [
        *tmux,
        "new-session",
        "-d",
        "-s",
        "a",
        "-x",
        "90",
        "-y",
        "30",
        "sh",
        "-c",
        "read x; echo got:$x; sleep 99",
    ]
    tty = box.run([*pane, ";", "list-panes", "-t", "=a:", "-F", "#{pane_tty}"]).check("tmux").text.strip()
    assert tty.startswith("/dev/pts/")
    assert "rows 30; columns 90" in box.run(["sh", "-c", f"stty -a <{tty}"]).check("stty").text
    box.run([*tmux, "send-keys", "-t", "=a:", "hello", "Enter"]).check("send-keys")
    capture = [*tmux, "capture-pane", "-p", "-t", "=a:"]
    assert process.wait_until(lambda: "got:hello" in box.run(capture).text, PATIENCE_S)


def _mounts_of(folder: Path) -> list[str]:
    """Mounts of this machine that name the folder; those of containers come and go meanwhile."""
    lines = Path("/proc/self/mountinfo").read_text().splitlines()
    return [line for line in lines if str(folder) in line]


def _processes_here(command_line: bytes) -> int:
    """Living processes of this machine with these words in their command line."""
    found = 0
    for pid in filter(str.isdigit, os.listdir("/proc")):
        try:
            found += command_line in Path(f"/proc/{pid}/cmdline").read_bytes()
        except OSError:
            continue
    return found
