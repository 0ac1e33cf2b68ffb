"""Sandboxes of the real Modal SDK, against a loopback Modal, pass the suites that every host and provider passes."""

import fcntl
import os
import pty
import select
import signal
import struct
import sys
import termios
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from grpclib.const import Status
from tests.support.modal.service import Service

from mngr import process
from mngr.errors import MngrError, NotFoundError, RefusedError, UnreachableError, UsageError
from mngr.hosts.modal.call import call
from mngr.hosts.modal.host import ModalHost
from mngr.hosts.modal.provider import ModalProvider
from mngr.hosts.modal.settings import mebibytes, read_settings
from mngr.hosts.protocol import Snapshots, Startable
from mngr.model.host import HostSpec, HostState
from mngr.testing.hosts import HostConformance, LifecycleConformance
from mngr.testing.hosts.witness import streaming
from mngr.testing.waiting import PATIENCE_S

pytestmark = pytest.mark.slow


@pytest.fixture
def app() -> str:
    return f"t{os.urandom(4).hex()}"


@pytest.fixture
def provider(modal: Service, app: str) -> Iterator[ModalProvider]:
    made = modal.provider(app)
    yield made
    for name in modal.names(app):
        made.destroy(name)


@pytest.fixture(scope="module")
def host(modal: Service) -> Iterator[ModalHost]:
    """One sandbox for all tests that leave it as it was, but for files in its host dir."""
    made = modal.provider("t-shared")
    yield made.create(HostSpec(name="lab"))
    made.destroy("lab")


@pytest.mark.accept("K13")
class TestModalHost(HostConformance):
    pass


@pytest.mark.accept("K13")
class TestModalProvider(LifecycleConformance):
    pass


def test_it_can_be_started_again_and_kept(provider: ModalProvider) -> None:
    assert isinstance(provider, Startable)
    assert isinstance(provider, Snapshots)


def test_environment_values_show_in_no_command_line(host: ModalHost) -> None:
    stream = host.stream(["sleep", "300"], env={"TOKEN": "hunter-two-two", "PATH": os.environ["PATH"]})
    try:
        shown = process.run(["sh", "-c", "cat /proc/[0-9]*/cmdline 2>/dev/null"]).stdout
        assert b"hunter-two-two" not in shown
        assert b"MNGR_DO" not in host.run(["env"]).stdout
    finally:
        stream.kill()


def test_a_command_of_many_long_words_arrives(host: ModalHost) -> None:
    words = ["x" * 90_000, "ü" * 40_000, "y" * 90_000]
    done = host.run(["sh", "-c", 'for word; do printf %s "$word" | wc -c; done', "sh", *words])
    assert done.text.split() == ["90000", "80000", "90000"]


def test_an_upload_is_made_of_large_writes(modal: Service, host: ModalHost) -> None:
    before = modal.faults.asked["TaskExecStdinWrite"]
    assert host.run(["wc", "-c"], stdin=bytes(8 << 20), timeout_s=PATIENCE_S).text.strip() == str(8 << 20)
    assert modal.faults.asked["TaskExecStdinWrite"] - before <= 8  # its end is one of them


@pytest.mark.accept("K17")
def test_options_are_honoured(modal: Service, app: str) -> None:
    provider = modal.provider(app, allow_domains=["pypi.org"], allow_cidrs=["10.0.0.0/8"], region="eu")
    spec = HostSpec(name="small", cpus=0.5, memory="1g", offline=True, timeout="90m")
    host = provider.create(spec)
    (sandbox,) = modal.running(app)
    asked = sandbox.asked
    assert (asked.resources.milli_cpu, asked.resources.milli_cpu_max) == (500, 500)
    assert (asked.resources.memory_mb, asked.resources.memory_mb_max) == (1024, 1024)
    assert (asked.timeout_secs, list(asked.scheduler_placement.regions)) == (5400, ["eu"])
    devices = ["sh", "-c", "tail -n +3 /proc/net/dev | cut -d: -f1"]
    assert host.run(devices).text.split() == ["lo"]
    provider.stop("small")
    assert provider.start("small").run(devices).text.split() == ["lo"]
    again = modal.running(app)[0].asked
    assert (again.resources, again.timeout_secs) == (asked.resources, 5400)
    provider.destroy("small")

    provider.create(HostSpec(name="wide"))
    (sandbox,) = modal.running(app)
    access = sandbox.asked.network_access
    assert list(access.allowed_domains) == ["pypi.org"]
    assert list(access.allowed_cidrs) == ["10.0.0.0/8"]
    assert sandbox.asked.timeout_secs == 24 * 3600
    provider.destroy("wide")


def test_images_are_built_from_a_folder_with_build_arguments(
    modal: Service, app: str, tmp_path: Path
) -> None:
    (tmp_path / "Dockerfile").write_text("FROM debian\nARG COLOUR=red\nENV COLOUR=$COLOUR\nCOPY said /said\n")
    (tmp_path / "said").write_text("in the image\n")
    provider = modal.provider(app, image=str(tmp_path), build_args={"COLOUR": "blue"})
    look = ["sh", "-c", "cat /said; echo $COLOUR"]
    assert provider.create(HostSpec(name="built")).run(look).text == "in the image\nblue\n"
    other = modal.provider(app, image="").create(HostSpec(name="again", image=f"{tmp_path}/Dockerfile"))
    assert other.run(look).text == "in the image\nred\n"
    built = modal.faults.asked["MountPutFile"]
    provider.create(HostSpec(name="third"))
    assert modal.provider(app, image="").create(HostSpec(name="plain")).run(["git", "--version"]).code == 0
    assert {"tmux", "git"} <= set(modal.yard.installed)
    assert modal.faults.asked["MountPutFile"] == built
    with pytest.raises(UsageError, match="no folder or Dockerfile"):
        provider.create(HostSpec(image="./no-such-folder"))
    for name in modal.names(app):
        provider.destroy(name)


@pytest.mark.accept("K4")
@pytest.mark.parametrize("call", ["SandboxCreateV2", "ImageGetOrCreate", "DictUpdate"])
def test_a_creation_that_fails_leaves_nothing(
    modal: Service, provider: ModalProvider, app: str, call: str
) -> None:
    modal.faults.status[call] = Status.INVALID_ARGUMENT
    try:
        with pytest.raises(MngrError, match='cannot make sandbox "never"'):
            provider.create(HostSpec(name="never"))
    finally:
        modal.faults.status.clear()
    assert modal.left(app) == []


@pytest.mark.accept("K4")
def test_a_creation_that_is_cut_off_leaves_nothing(modal: Service, provider: ModalProvider, app: str) -> None:
    class CutOff(ModalProvider):
        """Loses its connection when Modal has made the sandbox."""

        def _ask(self, doing: str, work: Any, timeout_s: float = 20, *, watches: bool = False) -> Any:
            done = super()._ask(doing, work, timeout_s, watches=watches)
            if modal.names(app) == ["cut"] and "take" not in doing:
                raise KeyboardInterrupt
            return done

    cut_off = CutOff("/nowhere")
    cut_off.configure({"app": app, "image": "x"})
    with pytest.raises(KeyboardInterrupt):
        cut_off.create(HostSpec(name="cut"))
    assert modal.left(app) == []
    with pytest.raises(MngrError, match="does not exist"):
        modal.provider(app, image="no-such-image").create(HostSpec(name="never"))
    assert modal.left(app) == []


def test_labels_are_seen_by_everybody_also_of_a_stopped_sandbox(
    modal: Service, provider: ModalProvider, app: str
) -> None:
    provider.create(HostSpec(name="lab", tags={"who": 'a "b"\n$c' * 5000}))
    provider.stop("lab")
    assert modal.provider(app).tags("lab")["who"] == 'a "b"\n$c' * 5000
    provider.destroy("lab")
    with pytest.raises(NotFoundError):
        provider.tags("lab")


def test_a_sandbox_that_ends_by_itself_is_stopped_and_says_why_it_cannot_start(
    modal: Service, provider: ModalProvider, app: str
) -> None:
    host = provider.create(HostSpec(name="brief", timeout="10s", tags={"who": "me"}))
    assert process.wait_until(lambda: _states(provider) == {"brief": HostState.STOPPED}, PATIENCE_S)
    assert [ref.why for ref in provider.hosts()] == ["its time was over"]
    with pytest.raises(UnreachableError):
        host.run(["true"])
    with pytest.raises(UnreachableError, match="is stopped"):
        provider.open("brief")
    assert provider.tags("brief") == {"who": "me"}
    with pytest.raises(MngrError, match="ended by itself, and its files with it") as caught:
        provider.start("brief")
    assert "destroy" in caught.value.hint
    provider.stop("brief")
    provider.destroy("brief")
    assert modal.left(app) == []


@pytest.mark.accept("K17")
def test_files_of_a_sandbox_that_ended_by_itself_are_there_where_modal_keeps_them(
    modal: Service, app: str
) -> None:
    provider = modal.provider(app, exit_snapshots=True)
    assert "idle_timeout" in provider.options - modal.provider(app).options
    host = provider.create(HostSpec(name="brief", lease="10s"))
    host.write(f"{host.dir}/note", b"kept")
    assert process.wait_until(lambda: _states(provider) == {"brief": HostState.STOPPED}, PATIENCE_S)
    assert [ref.why for ref in provider.hosts()] == ["no manager looked at it for its lease"]
    assert provider.start("brief").read(f"{host.dir}/note") == b"kept"
    provider.destroy("brief")
    assert modal.left(app) == []


def test_apps_and_environments_are_apart(modal: Service, app: str) -> None:
    elsewhere = modal.provider(app, environment="dev")
    elsewhere.create(HostSpec(name="lab"))
    for other in (modal.provider(app), modal.provider(f"{app}-2", environment="dev")):
        assert list(other.hosts()) == []
        with pytest.raises(NotFoundError):
            other.open("lab")
    assert set(_states(elsewhere)) == {"lab"}
    elsewhere.destroy("lab")
    assert modal.left(f"dev/{app}") == []


def test_a_sandbox_without_a_record_is_found_by_its_tag(
    modal: Service, provider: ModalProvider, app: str
) -> None:
    provider.create(HostSpec(name="lost"))
    modal.control.dicts[f"di-{app}"].clear()
    assert _states(provider) == {"lost": HostState.RUNNING}
    assert provider.open("lost").run(["true"]).code == 0
    assert provider.tags("lost") == {}
    with pytest.raises(RefusedError):
        provider.create(HostSpec(name="lost"))
    assert modal.control.dicts[f"di-{app}"] == {}
    provider.destroy("lost")
    assert modal.left(app) == []


def test_a_snapshot_starts_many_and_outlives_its_sandbox(
    modal: Service, provider: ModalProvider, app: str
) -> None:
    host = provider.create(HostSpec(name="lab", tags={"who": "me"}))
    host.write("/opt/tool", b"made once")
    provider.keep("lab", "ready", b"record \xff")
    with pytest.raises(RefusedError, match="already"):
        provider.keep("lab", "ready", b"")
    provider.destroy("lab")
    assert provider.kept() == {"ready": b"record \xff"}
    for name in ("one", "two", "three"):
        made = provider.create(HostSpec(name=name, snapshot="ready"))
        assert made.read("/opt/tool") == b"made once"
        assert provider.tags(name) == {}
    assert set(_states(provider).values()) == {HostState.RUNNING}
    provider.drop("ready")
    assert provider.kept() == {}
    assert set(_states(provider)) == {"one", "two", "three"}
    with pytest.raises(NotFoundError, match='no snapshot "ready"'):
        provider.create(HostSpec(snapshot="ready"))
    for name in ("one", "two", "three"):
        provider.destroy(name)
    assert modal.left(app) == []


def test_files_of_a_stopped_sandbox_are_kept_once(modal: Service, provider: ModalProvider) -> None:
    before = set(modal.yard.images)
    host = provider.create(HostSpec(name="lab"))
    made = set(modal.yard.images)
    for turn in range(2):
        host.write(f"{host.dir}/turn-{turn}", b"")
        provider.stop("lab")
        host = provider.start("lab")
    assert host.run(["ls", host.dir]).text.split() == ["turn-0", "turn-1"]
    assert len(set(modal.yard.images) - made) == 1
    provider.destroy("lab")
    assert set(modal.yard.images) - before == made - before


def test_a_cut_connection_changes_no_byte(modal: Service, host: ModalHost) -> None:
    data = os.urandom(3 << 20)
    modal.faults.lose.update({"TaskExecStart": 1, "TaskExecStdinWrite": 1})
    with streaming(host, ["cat"]) as stream:
        feeder = threading.Thread(target=_feed, args=(stream.stdin.fileno(), data))
        feeder.start()
        heard = b""
        while len(heard) < len(data):
            heard += os.read(stream.stdout.fileno(), 1 << 16)
        feeder.join(10)
    assert heard == data
    assert not +modal.faults.lose


@pytest.mark.accept("K11")
def test_modal_that_does_not_answer_is_unreachable(modal: Service, provider: ModalProvider) -> None:
    for status in (Status.UNAUTHENTICATED, Status.PERMISSION_DENIED, Status.RESOURCE_EXHAUSTED):
        modal.faults.status["SandboxListV2"] = status
        try:
            with pytest.raises(UnreachableError, match="cannot list sandboxes") as caught:
                provider.hosts()
        finally:
            modal.faults.status.clear()
        assert caught.value.hint
    modal.faults.late_s["DictContents"] = 5
    try:
        with pytest.raises(UnreachableError, match="did not answer within"):
            call("cannot list", provider._records.hosts(), 0.2)
    finally:
        modal.faults.late_s.clear()


def test_without_the_sdk_the_error_says_how_to_get_it() -> None:
    script = (
        "import sys; sys.modules['modal'] = None\n"
        "from mngr.hosts.modal.provider import ModalProvider\n"
        "try: ModalProvider('/nowhere').hosts()\n"
        "except Exception as error: print(type(error).__name__, error.hint)"
    )
    said = process.run([sys.executable, "-c", script]).text
    assert said == 'UnreachableError install it: pip install "mngr-agents[modal]"\n'


def test_unknown_settings_are_refused_with_the_nearest() -> None:
    with pytest.raises(UsageError, match="unknown key imgae") as caught:
        read_settings({"imgae": "debian"})
    assert '"image"' in caught.value.hint
    with pytest.raises(UsageError, match=r"\[providers\.modal\]"):
        read_settings({"cpus": "many"})


@pytest.mark.parametrize(("text", "amount"), [("512m", 512), ("4g", 4096), ("1.5gb", 1536), ("1048576", 1)])
def test_memory_is_understood_as_docker_does(text: str, amount: int) -> None:
    assert mebibytes(text) == amount
    with pytest.raises(UsageError, match="not an amount"):
        mebibytes("much")


def test_an_attached_terminal_follows_ours_in_size_and_a_hang_up_ends_its_program(
    modal: Service, host: ModalHost
) -> None:
    argv = host.attach_argv(["sh", "-c", "echo $$ >/tmp/pid; while :; do stty size; sleep 0.2; done"])
    pid, fd = pty.fork()
    if not pid:
        os.execvpe(argv[0], argv, {**os.environ, **modal.env})
    try:
        fcntl.ioctl(fd, termios.TIOCSWINSZ, struct.pack("HHHH", 33, 77, 0, 0))
        assert _shows(fd, b"33 77")
        fcntl.ioctl(fd, termios.TIOCSWINSZ, struct.pack("HHHH", 44, 111, 0, 0))
        assert _shows(fd, b"44 111")
    finally:
        os.kill(pid, signal.SIGHUP)
        assert os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 129
        os.close(fd)
    inside = host.read("/tmp/pid").decode().strip()
    assert process.wait_until(lambda: host.run(["kill", "-0", inside]).code != 0, PATIENCE_S)


def _shows(fd: int, wanted: bytes) -> bool:
    heard, deadline = b"", time.monotonic() + 90
    while wanted not in heard and time.monotonic() < deadline:
        if select.select([fd], [], [], 1)[0]:
            heard += os.read(fd, 1 << 16)
    return wanted in heard


def _feed(fd: int, data: bytes) -> None:
    left = memoryview(data)
    while left:
        left = left[os.write(fd, left) :]


def _states(provider: ModalProvider) -> dict[str, HostState]:
    return {ref.name: ref.state for ref in provider.hosts()}
