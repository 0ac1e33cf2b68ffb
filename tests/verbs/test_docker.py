"""Agents in containers: what others see of them, what they leave, and what becomes of them when the engine goes."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import msgspec
import pytest
from tests.support.docker import BARE, TINY, Engine, running
from tests.support.world import World
from tests.verbs.asking import row, said

import mngr
from mngr.actions import rows
from mngr.actions.host_notes import note_creation
from mngr.hosts.docker.provider import DockerProvider
from mngr.hosts.labels import tags_of
from mngr.hosts.protocol import Provider
from mngr.model.agent import AgentSpec
from mngr.model.host import HostRef, HostSpec
from mngr.process import wait_until
from mngr.testing.waiting import PATIENCE_S

pytestmark = pytest.mark.slow

SLEEP = ("sleep", "1000")
# A client that writes down what it is asked for.
COUNTING = """#!/bin/sh
[ "$1" = --host ] && echo "$3" >>"$0.log"
exec docker "$@"
"""
# An engine that makes a container long after it was asked, whether its client still waits or not.
SLOW = """#!/bin/sh
[ "$3" = run ] || exec docker "$@"
touch "$0.asked"
setsid sh -c 'sleep 6; docker "$@"; echo $? >"$0.code"' "$0" "$@" &
while ! [ -s "$0.code" ]; do sleep 0.1; done
exit "$(cat "$0.code")"
"""
HOSTILE = """
git config core.fsmonitor "touch $1" && git config core.sshCommand "touch $1"
git config uploadpack.packObjectsHook "touch $1" && git config core.pager "touch $1"
git config filter.x.smudge "touch $1" && git config filter.x.clean "touch $1"
mkdir -p .git/hooks
for hook in post-checkout post-merge reference-transaction pre-push post-update; do
  printf '#!/bin/sh\\ntouch %s\\n' "$1" >.git/hooks/$hook; chmod 755 .git/hooks/$hook
done
echo '* filter=x' >.gitattributes
ln -s "$2" link
echo done >result.txt
git -c core.fsmonitor= -c filter.x.clean=cat -c core.hooksPath=/dev/null add -A
git -c core.fsmonitor= -c core.hooksPath=/dev/null commit -qm hostile
ln -s "$2" "$MNGR_OUTBOX/secret"
echo '{}' >"$MNGR_OUTBOX/result.json"
"""


class Lab:
    """A world with a namespace of its own on the engine."""

    def __init__(self, world: World, engine: Engine) -> None:
        self.world, self.engine, self.namespace = world, engine, f"t{os.urandom(4).hex()}"

    def provider(self, **more: object) -> DockerProvider:
        return self.engine.provider(self.namespace, **more)

    def manager(self, **more: object) -> mngr.Manager:
        given: dict[str, Provider] = {"docker": self.provider(**more)}
        return self.world.manager(**given)

    @property
    def containers(self) -> list[str]:
        return [name.removeprefix(f"{self.namespace}-") for name in self.engine.containers(self.namespace)]

    def configure(self, **more: object) -> None:
        """Writes the settings down, for programs that are started."""
        settings = self.engine.settings(self.namespace, **more)
        lines = [
            f"{key} = {str(value).lower() if isinstance(value, bool) else repr(value)}"
            for key, value in settings.items()
        ]
        self.world.host_dir.mkdir(exist_ok=True)
        (self.world.host_dir / "config.toml").write_text("\n".join(["[providers.docker]", *lines, ""]))

    def start_create(self, address: str) -> "subprocess.Popen[bytes]":
        words = ("-m", "mngr", "create", address, "--no-connect", "--", *SLEEP)
        env = {**self.world.env, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
        quiet = subprocess.DEVNULL
        return subprocess.Popen(
            [sys.executable, *words], cwd=self.world.repo, env=env, stdin=quiet, stdout=quiet, stderr=quiet
        )


@pytest.fixture
def lab(tmp_path: Path, engine: Engine) -> Iterator[Lab]:
    made = Lab(World(tmp_path), engine)
    yield made
    engine.clear(made.namespace)
    made.world.end()


@pytest.mark.accept("L1", "L4")
def test_an_agent_moves_to_a_container_by_its_address_alone(lab: Lab) -> None:
    here = mngr.create("foo", args=SLEEP, manager=lab.manager()).agent
    there = mngr.create("foo@.docker", args=SLEEP, manager=lab.manager()).agent
    assert (here.host.provider, there.host.provider) == ("local", "docker")
    assert (here.transfer, there.transfer) == ("worktree", "mirror")
    assert there.state == "RUNNING"
    mngr.destroy([here, there], manager=lab.manager())
    assert lab.containers == []


def test_a_creation_costs_one_run_and_one_exec(lab: Lab, tmp_path: Path) -> None:
    client = tmp_path / "client"
    client.write_text(COUNTING)
    client.chmod(0o755)
    mngr.create("foo@.docker", args=SLEEP, manager=lab.manager(command=str(client)))
    asked = (tmp_path / "client.log").read_text().split()
    assert asked == ["run", "exec"]


@pytest.mark.accept("K4", "K16")
def test_a_program_that_ends_at_once_in_a_container_is_told_with_its_last_words(lab: Lab) -> None:
    dies = ("sh", "-c", "echo no such luck; exit 3")
    with pytest.raises(mngr.AgentDiedError, match=r"exit code 3:\nno such luck"):
        mngr.create("foo@.docker", args=dies, manager=lab.manager())
    assert (row(lab.manager()).state, row(lab.manager()).exit_code) == ("DONE", 3)
    mngr.destroy("foo", manager=lab.manager())
    with pytest.raises(mngr.MngrError, match="could not be started: nosuchthing") as caught:
        mngr.create("foo@.docker", args=("nosuchthing",), manager=lab.manager())
    assert "is nosuchthing installed" in caught.value.hint
    assert lab.containers == []
    assert lab.world.left_behind() == []


@pytest.mark.accept("K13", "L2")
def test_a_second_machine_sees_the_rows_of_a_stopped_container(lab: Lab, tmp_path: Path) -> None:
    (tmp_path / "second").mkdir()
    second = World(tmp_path / "second")
    made = mngr.create("foo@lab.docker", args=SLEEP, labels={"team": "red"}, manager=lab.manager()).agent
    try:
        seen = row(second.manager(docker=lab.provider()))
        assert (seen.id, seen.state) == (made.id, "RUNNING")
        lab.provider().stop("lab")
        (tmp_path / "third").mkdir()
        third = World(tmp_path / "third")
        for world in (lab.world, second, third):
            seen = row(world.manager(docker=lab.provider()))
            assert (seen.id, seen.state, seen.labels) == (made.id, "STOPPED", {"team": "red"})
            assert (seen.host.state, seen.branch, seen.created_at) == ("STOPPED", "mngr/foo", made.created_at)
        started = mngr.start("foo", manager=third.manager(docker=lab.provider())).agent
        assert (started.id, started.state) == (made.id, "RUNNING")
    finally:
        for world in (second, third):
            world.end()


def test_a_container_that_ends_by_itself_is_told_truly_and_comes_back(lab: Lab) -> None:
    mngr.create("foo@lab.docker", args=SLEEP, timeout="20s", manager=lab.manager())
    said(lab.manager(), "sh", "-c", "echo kept >note")
    assert wait_until(lambda: row(lab.manager()).host.state == "STOPPED", PATIENCE_S)
    seen = row(lab.manager())
    assert (seen.state, seen.why) == ("STOPPED", "its host is stopped: its time was over")
    assert mngr.list_agents(manager=lab.manager()).warnings == ()
    assert mngr.start("foo", manager=lab.manager()).agent.state == "RUNNING"
    assert said(lab.manager(), "cat", "note") == "kept\n"


@pytest.mark.accept("K17")
def test_a_container_without_work_or_owner_is_stopped_and_says_why(lab: Lab) -> None:
    play = ("sh", "-c", "read -r word; echo $word")
    mngr.create("foo@lab.docker", args=play, idle_timeout="2s", manager=lab.manager())
    mngr.create("left@alone.docker", args=SLEEP, lease="10s", manager=lab.manager())
    owned = lab.provider()
    assert wait_until(
        lambda: {ref.name: ref.state for ref in owned.hosts()}.get("alone") == "STOPPED", PATIENCE_S
    )
    listing = mngr.list_agents(manager=lab.manager())
    assert {(host.name, host.state, host.why) for host in listing.hosts if host.provider == "docker"} == {
        ("lab", "RUNNING", ""),
        ("alone", "STOPPED", "no manager looked at it for its lease"),
    }
    assert row(lab.manager(), "left").why == "its host is stopped: no manager looked at it for its lease"
    mngr.message("foo", "enough", manager=lab.manager())
    assert wait_until(lambda: row(lab.manager()).host.state == "STOPPED", PATIENCE_S), (
        "it does not work any more"
    )
    assert row(lab.manager()).host.why == "no agent worked for its idle timeout"
    assert mngr.find_garbage(manager=lab.manager()) == []
    assert [agent.state for agent in mngr.start_host("@alone.docker", manager=lab.manager())] == ["STOPPED"]
    assert mngr.start("foo", manager=lab.manager()).agent.state == "RUNNING"


def test_an_engine_that_was_restarted_is_told_truly(tmp_path: Path) -> None:
    (tmp_path / "w").mkdir()
    world = World(tmp_path / "w")
    with running(tmp_path / "e", only_base=True) as own:
        lab = Lab(world, own)
        mngr.create("foo@lab.docker", args=SLEEP, manager=lab.manager())
        said(lab.manager(), "sh", "-c", "echo kept >note")
        own.restart()
        seen = row(lab.manager())
        assert (seen.state, seen.why, seen.host.state) == ("STOPPED", "its host is stopped", "STOPPED")
        assert mngr.start("foo", manager=lab.manager()).agent.state == "RUNNING"
        assert said(lab.manager(), "cat", "note") == "kept\n"
    listing = mngr.list_agents(manager=lab.manager())
    assert [(agent.name, agent.state, agent.host.state) for agent in listing.agents] == [
        ("foo", "UNKNOWN", "UNREACHABLE")
    ]
    assert any("engine" in warning for warning in listing.warnings)
    assert mngr.find_garbage(manager=lab.manager()) == []
    world.end()


@pytest.mark.accept("K4")
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGKILL])
def test_an_interrupted_creation_leaves_no_container(lab: Lab, number: signal.Signals) -> None:
    lab.configure()
    met = 0
    for step in range(8):
        child = lab.start_create("foo@.docker")
        try:
            child.wait(0.3 + step * 0.12)
        except subprocess.TimeoutExpired:
            child.send_signal(number)
            child.wait(60)
            met += 1
        if child.returncode == 0 or _is_whole(lab):
            mngr.destroy("foo", manager=lab.world.manager())
        elif number == signal.SIGKILL:
            assert wait_until(lambda: _is_clean(lab), PATIENCE_S * 3), f"step {step}: {lab.containers}"
        assert lab.containers == [], f"step {step}"
        assert lab.world.left_behind() == [], f"step {step}"
    assert met


@pytest.mark.accept("K4")
def test_an_interrupted_creation_waits_for_a_slow_engine_and_leaves_no_container(
    lab: Lab, tmp_path: Path
) -> None:
    client = tmp_path / "client"
    client.write_text(SLOW)
    client.chmod(0o755)
    lab.configure(command=str(client))
    child = lab.start_create("foo@.docker")
    assert wait_until((tmp_path / "client.asked").exists, PATIENCE_S)
    child.send_signal(signal.SIGINT)
    assert child.wait(60) != 0
    assert wait_until((tmp_path / "client.code").exists, PATIENCE_S)
    assert lab.containers == []
    assert lab.world.left_behind() == []


def _is_whole(lab: Lab) -> bool:
    """Whether the agent was launched before the signal came: from then on it is kept, all of it."""
    agents = mngr.list_agents(manager=lab.world.manager()).agents
    return [(agent.name, agent.state) for agent in agents] == [("foo", "RUNNING")]


def _is_clean(lab: Lab) -> bool:
    """Collects garbage until nothing is left: what the killed one had asked of the engine may still be under way."""
    manager = lab.world.manager()
    for agent in mngr.list_agents(manager=manager).agents:
        if agent.state == "RUNNING":
            mngr.destroy(agent, manager=manager)
    mngr.remove_garbage(mngr.find_garbage(manager=manager), manager=manager)
    return lab.containers == []


@pytest.mark.accept("K4")
def test_a_container_whose_maker_is_gone_is_found_by_its_label_from_anywhere(
    lab: Lab, tmp_path: Path
) -> None:
    ours = rows.this_process()
    gone = msgspec.structs.replace(ours, start="1")
    far = msgspec.structs.replace(ours, machine="elsewhere")
    spec = AgentSpec("agent-" + "0" * 32, "foo", "command", SLEEP, "", time.time())
    makers = {"ours": (ours, spec), "gone": (gone, spec), "far": (far, spec)}
    makers["far-long-ago"] = (far, msgspec.structs.replace(spec, created_at=time.time() - 4000))
    for name, (creator, of) in makers.items():
        tags = tags_of(msgspec.structs.replace(of, creator=creator))
        lab.provider().create(HostSpec(name=name, tags=tags))
    found = mngr.find_garbage(manager=lab.manager())
    assert {(item.kind, item.what) for item in found} == {("host", "gone"), ("host", "far-long-ago")}
    mngr.remove_garbage(found, manager=lab.manager())
    assert sorted(lab.containers) == ["far", "ours"]


@pytest.mark.accept("K4")
def test_a_container_made_from_a_snapshot_whose_maker_died_at_once_is_garbage(lab: Lab) -> None:
    manager = lab.manager()
    kept = mngr.create("foo@lab.docker", args=SLEEP, manager=manager).agent
    mngr.create_snapshot("foo", "ready", manager=manager)
    gone = msgspec.structs.replace(rows.this_process(), start="1")
    spec = AgentSpec("agent-" + "0" * 32, "bar", "command", SLEEP, "", time.time(), creator=gone)
    for name in ("half", "lab"):
        note_creation(manager, HostRef(name, "docker"), gone)
    lab.provider().create(HostSpec(name="half", snapshot="ready", tags=tags_of(spec)))
    found = mngr.find_garbage(manager=manager)
    assert [(item.kind, item.what) for item in found] == [("host", "half")]
    mngr.remove_garbage(found, manager=manager)
    assert lab.containers == ["lab"]
    assert (row(lab.manager()).id, row(lab.manager()).state) == (kept.id, "RUNNING")


def test_a_name_that_another_took_meanwhile_costs_them_nothing(lab: Lab) -> None:
    class Late(DockerProvider):
        """Learns of hosts only after it has been asked to make one."""

        def hosts(self) -> list[HostRef]:
            return []

    lab.provider().create(HostSpec(name="lab"))
    late = Late("/nowhere")
    late.configure(lab.engine.settings(lab.namespace))
    with pytest.raises(mngr.RefusedError):
        mngr.create("foo@lab.docker", args=SLEEP, manager=lab.world.manager(docker=late))
    assert lab.containers == ["lab"]


@pytest.mark.accept("K17")
def test_a_host_that_is_there_cannot_be_given_another_image(lab: Lab) -> None:
    mngr.create("foo@lab.docker", args=SLEEP, manager=lab.manager())
    with pytest.raises(mngr.UsageError, match="is there already and cannot be given --image"):
        mngr.create("bar@lab.docker", args=SLEEP, image=TINY, manager=lab.manager())
    assert mngr.create("bar@lab.docker", args=SLEEP, manager=lab.manager()).agent.host.name == "lab"


@pytest.mark.accept("K19")
def test_an_image_without_tmux_and_git_is_named_with_the_fix(lab: Lab) -> None:
    for image in (BARE, TINY):
        with pytest.raises(mngr.MngrError, match=r"has no (git|tmux)") as caught:
            mngr.create("foo@.docker", args=SLEEP, manager=lab.manager(image=image))
        assert "bootstrap = true" in caught.value.hint
    with pytest.raises(mngr.MngrError, match="has no tmux") as caught:
        mngr.create("foo@.docker", args=SLEEP, transfer="none", manager=lab.manager(image=BARE))
    assert "bootstrap = true" in caught.value.hint
    assert lab.containers == []


@pytest.mark.accept("K19")
def test_what_an_image_lacks_is_installed_when_asked(lab: Lab) -> None:
    agent = mngr.create("foo@.docker", args=SLEEP, manager=lab.manager(image=BARE, bootstrap=True)).agent
    assert agent.state == "RUNNING"
    assert "git version" in said(lab.manager(), "git", "--version")
    with pytest.raises(mngr.MngrError, match="tmux and git could not be installed") as caught:
        mngr.create("bar@.docker", args=SLEEP, manager=lab.manager(image=TINY, bootstrap=True))
    assert "apt-get, apk or dnf" in caught.value.message
    assert lab.containers == [agent.host.name]


@pytest.mark.accept("P9")
def test_a_hostile_repository_in_a_container_does_no_harm_here(lab: Lab, tmp_path: Path) -> None:
    trap, secret = tmp_path / "trap", tmp_path / "secret"
    secret.write_text("ours\n")
    mngr.create("foo@.docker", args=SLEEP, manager=lab.manager())
    said(lab.manager(), "sh", "-ec", HOSTILE, "sh", str(trap), str(secret))
    assert mngr.pull("foo", manager=lab.manager()).changed
    assert lab.world.git("show", "mngr/foo:result.txt") == "done\n"
    mngr.pull("foo", mode="ff-only", manager=lab.manager())
    assert (lab.world.repo / "result.txt").read_text() == "done\n"
    try:
        mngr.pull_outbox("foo", str(tmp_path / "results"), manager=lab.manager())
    except mngr.MngrError:
        pass
    brought = [path for path in (tmp_path / "results").rglob("*") if path.is_file() and not path.is_symlink()]
    assert not any(path.read_text() == "ours\n" for path in brought)
    assert not trap.exists()


@pytest.mark.accept("L2")
def test_a_clone_goes_from_here_to_a_container_and_back(lab: Lab) -> None:
    mngr.create("foo", args=SLEEP, manager=lab.manager())
    said(lab.manager(), "sh", "-c", "echo two >file.txt; git commit -qam second; echo three >file.txt")
    there = mngr.clone("foo", "bar@.docker", manager=lab.manager()).agent
    assert there.host.provider == "docker"
    both = ("sh", "-c", "cat file.txt; git log -1 --format=%s")
    assert said(lab.manager(), *both, name="bar") == "three\nsecond\n"
    assert mngr.clone("bar", "baz@local", manager=lab.manager()).agent.host.provider == "local"
    assert said(lab.manager(), *both, name="baz") == "three\nsecond\n"


def test_a_snapshot_keeps_the_whole_container(lab: Lab) -> None:
    mngr.create("foo@lab.docker", args=SLEEP, env={"COLOUR": "blue"}, manager=lab.manager())
    said(
        lab.manager(),
        "sh",
        "-c",
        "echo tool >/opt/tool; echo two >file.txt; git commit -qam second; echo three >file.txt",
    )
    mngr.create_snapshot("foo", "ready", manager=lab.manager())
    said(lab.manager(), "sh", "-c", "echo bad >file.txt; rm /opt/tool")
    mngr.destroy("foo", manager=lab.manager())
    assert lab.containers == []
    assert [shot.name for shot in mngr.list_snapshots(manager=lab.manager())] == ["ready"]

    made = mngr.create("bar@.docker", snapshot="ready", manager=lab.manager()).agent
    assert [agent.name for agent in mngr.list_agents(manager=lab.manager()).agents] == ["bar"]
    look = ("sh", "-c", "cat /opt/tool file.txt; git log -1 --format=%s; echo $COLOUR")
    assert said(lab.manager(), *look, name="bar") == "tool\nthree\nsecond\nblue\n"
    fresh = mngr.create(
        "baz@.docker", args=SLEEP, snapshot="ready", source=str(lab.world.repo), manager=lab.manager()
    ).agent
    assert said(lab.manager(), "sh", "-c", "cat /opt/tool file.txt", name="baz") == "tool\none\n"
    assert made.host.name != fresh.host.name

    mngr.destroy(["bar", "baz"], manager=lab.manager())
    assert lab.containers == []
    mngr.destroy_snapshot("ready", manager=lab.manager())
    assert mngr.list_snapshots(manager=lab.manager()) == ()
    with pytest.raises(mngr.NotFoundError, match='no snapshot "ready"'):
        mngr.create("qux@.docker", snapshot="ready", manager=lab.manager())
    assert lab.containers == []
