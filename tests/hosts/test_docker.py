"""Containers of a real Docker engine pass the suites that every host and provider passes, and keep what is asked."""

import os
import signal
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.support.docker import BASE, TINY, Engine

from mngr import process
from mngr.errors import MngrError, NotFoundError, RefusedError, TimedOutError, UnreachableError, UsageError
from mngr.hosts.docker.host import DockerHost
from mngr.hosts.docker.provider import DockerProvider
from mngr.hosts.docker.settings import read_settings
from mngr.hosts.protocol import Snapshots, Startable
from mngr.model.host import HostSpec, HostState
from mngr.testing.hosts import HostConformance, LifecycleConformance
from mngr.testing.waiting import PATIENCE_S

pytestmark = pytest.mark.slow


@pytest.fixture
def namespace(engine: Engine) -> Iterator[str]:
    name = f"t{os.urandom(4).hex()}"
    yield name
    engine.clear(name)


@pytest.fixture
def provider(engine: Engine, namespace: str) -> DockerProvider:
    return engine.provider(namespace)


@pytest.fixture
def container(provider: DockerProvider) -> DockerHost:
    return provider.create(HostSpec(name="lab"))


@pytest.mark.accept("K13")
class TestDockerHost(HostConformance):
    @pytest.fixture
    def host(self, container: DockerHost) -> DockerHost:
        return container


@pytest.mark.accept("K13")
class TestDockerProvider(LifecycleConformance):
    pass


def test_it_can_be_started_again_and_kept(provider: DockerProvider) -> None:
    assert isinstance(provider, Startable)
    assert isinstance(provider, Snapshots)


@pytest.mark.accept("K13", "K19")
def test_a_container_with_nothing_but_busybox_is_a_host(engine: Engine, namespace: str) -> None:
    host = engine.provider(namespace, image=TINY).create(HostSpec(name="tiny"))
    data = os.urandom(100_000)
    host.write(f"{host.dir}/a b", data, 0o755)
    assert host.read(f"{host.dir}/a b") == data
    assert host.run(["sh", "-c", "kill -9 $$"]).code == 137
    pid = ""
    for timeout_s in (8, 64):  # on a loaded machine the first may end before its program has begun
        if not pid:
            with pytest.raises(TimedOutError):
                host.run(["sh", "-c", f"echo $$ >{host.dir}/pid; sleep 300"], timeout_s=timeout_s)
            pid = host.run(["sh", "-c", f"cat {host.dir}/pid || :"]).text.strip()
    assert process.wait_until(lambda: host.run(["kill", "-0", pid]).code != 0, PATIENCE_S)


def test_environment_values_show_in_no_command_line(container: DockerHost) -> None:
    stream = container.stream(["sleep", "300"], env={"TOKEN": "hunter-two-two", "PATH": os.environ["PATH"]})
    try:
        shown = process.run(["sh", "-c", "cat /proc/[0-9]*/cmdline 2>/dev/null"]).stdout
        assert b"hunter-two-two" not in shown
    finally:
        stream.kill()


@pytest.mark.accept("K4")
def test_an_interrupt_while_a_stream_begins_leaves_no_process(
    engine: Engine, container: DockerHost, tmp_path: Path
) -> None:
    slow = tmp_path / "slow-client"
    slow.write_text("#!/bin/sh\nsleep 300\n")
    slow.chmod(0o755)
    host = DockerHost(container.name, container.container, (str(slow), "--host", engine.address))
    before = signal.signal(signal.SIGALRM, signal.default_int_handler)
    signal.setitimer(signal.ITIMER_REAL, 1)
    try:
        with pytest.raises(KeyboardInterrupt):
            host.stream(["true"])
    finally:
        signal.signal(signal.SIGALRM, before)
    shown = process.run(["sh", "-c", "cat /proc/[0-9]*/cmdline 2>/dev/null | tr '\\0' ' '"]).text
    assert str(slow) not in shown


def test_our_environment_stays_here(container: DockerHost, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MNGR_TEST_SECRET", "hunter2")
    said = container.run(["env"]).stdout
    assert b"MNGR_TEST_SECRET" not in said
    assert b"MNGR_DO" not in said


def test_a_command_of_many_long_words_arrives(container: DockerHost) -> None:
    words = ["x" * 90_000, "ü" * 40_000, "y" * 90_000]
    done = container.run(["sh", "-c", 'for word; do printf %s "$word" | wc -c; done', "sh", *words])
    assert done.text.split() == ["90000", "80000", "90000"]


@pytest.mark.accept("K17")
def test_options_are_honoured(engine: Engine, namespace: str, provider: DockerProvider) -> None:
    host = provider.create(HostSpec(name="small", image=TINY, cpus=0.5, memory="64m", offline=True))
    shown = "{{.HostConfig.NanoCpus}} {{.HostConfig.Memory}} {{.Config.Image}}"
    found = engine.docker("inspect", "--format", shown, host.container).text.split()
    assert found == ["500000000", str(64 << 20), TINY]
    devices = ["sh", "-c", "tail -n +3 /proc/net/dev | cut -d: -f1"]
    assert host.run(devices).text.split() == ["lo"]
    provider.stop("small")
    assert provider.start("small").run(devices).text.split() == ["lo"]


@pytest.mark.accept("K17")
def test_a_container_ends_after_its_time(provider: DockerProvider) -> None:
    host = provider.create(HostSpec(name="brief", timeout="10s"))
    assert process.wait_until(lambda: _states(provider) == {"brief": HostState.STOPPED}, PATIENCE_S)
    with pytest.raises(UnreachableError):
        host.run(["true"])


def test_an_image_is_built_from_a_folder_with_build_arguments(
    engine: Engine, namespace: str, tmp_path: Path
) -> None:
    (tmp_path / "Dockerfile").write_text(
        f"FROM {TINY}\nARG COLOUR=red\nENV COLOUR=$COLOUR\nCOPY said /said\n"
    )
    (tmp_path / "said").write_text("in the image\n")
    provider = engine.provider(namespace, image=str(tmp_path), build_args={"COLOUR": "blue"})
    host = provider.create(HostSpec(name="built"))
    assert host.run(["sh", "-c", "cat /said; echo $COLOUR"]).text == "in the image\nblue\n"
    again = engine.provider(namespace).create(HostSpec(name="again", image=f"{tmp_path}/Dockerfile"))
    assert again.run(["sh", "-c", "echo $COLOUR"]).text == "red\n"
    with pytest.raises(UsageError, match="no folder or Dockerfile"):
        provider.create(HostSpec(image="./no-such-folder"))


@pytest.mark.accept("K4")
def test_a_creation_that_fails_leaves_no_container(engine: Engine, namespace: str) -> None:
    for more in ({"image": "mngr-tests:no-such-image"}, {"run_args": ["--cpuset-cpus", "999"]}):
        with pytest.raises(MngrError, match="cannot make container"):
            engine.provider(namespace, **more).create(HostSpec(name="never"))
    assert engine.containers(namespace) == []


def test_containers_of_others_are_left_alone(
    engine: Engine, namespace: str, provider: DockerProvider
) -> None:
    engine.docker("run", "-d", "--name", f"{namespace}-theirs", TINY, "sleep", "300").check("docker run")
    try:
        assert list(provider.hosts()) == []
        for act in (provider.open, provider.stop, provider.start, provider.destroy):
            with pytest.raises(NotFoundError):
                act("theirs")
        with pytest.raises(RefusedError):
            provider.create(HostSpec(name="theirs"))
        assert engine.docker("exec", f"{namespace}-theirs", "true").code == 0
    finally:
        engine.docker("rm", "-f", f"{namespace}-theirs")


def test_labels_are_seen_by_everybody_also_of_a_stopped_container(
    engine: Engine, namespace: str, provider: DockerProvider
) -> None:
    provider.create(HostSpec(name="lab", tags={"who": 'a "b"\n$c'}))
    provider.stop("lab")
    assert engine.provider(namespace).tags("lab")["who"] == 'a "b"\n$c'


def test_a_snapshot_starts_many_and_outlives_its_container(engine: Engine, provider: DockerProvider) -> None:
    host = provider.create(HostSpec(name="lab", tags={"who": "me"}))
    host.write("/opt/tool", b"made once")
    provider.keep("lab", "ready", b"record \xff")
    with pytest.raises(RefusedError, match="already"):
        provider.keep("lab", "ready", b"")
    provider.destroy("lab")
    assert provider.kept() == {"ready": b"record \xff"}
    for name in ("one", "two"):
        made = provider.create(HostSpec(name=name, snapshot="ready"))
        assert made.read("/opt/tool") == b"made once"
        assert provider.tags(name).get("who", "") in ("", "me")
    assert provider.kept() == {"ready": b"record \xff"}
    provider.drop("ready")
    assert provider.kept() == {}
    assert _states(provider) == {"one": HostState.RUNNING, "two": HostState.RUNNING}
    with pytest.raises(NotFoundError, match='no snapshot "ready"'):
        provider.create(HostSpec(snapshot="ready"))


def test_no_engine_and_no_client_are_unreachable(tmp_path: Path) -> None:
    for settings in ({"host": f"unix://{tmp_path}/nothing"}, {"command": "mngr-no-such-docker"}):
        provider = DockerProvider(str(tmp_path))
        provider.configure(settings)
        with pytest.raises(UnreachableError) as caught:
            provider.hosts()
        assert caught.value.hint


def test_unknown_settings_are_refused_with_the_nearest() -> None:
    with pytest.raises(UsageError, match="unknown key imgae") as caught:
        read_settings({"imgae": BASE})
    assert '"image"' in caught.value.hint
    with pytest.raises(UsageError, match=r"\[providers\.docker\]"):
        read_settings({"cpus": "many"})


def _states(provider: DockerProvider) -> dict[str, HostState]:
    return {ref.name: ref.state for ref in provider.hosts()}
