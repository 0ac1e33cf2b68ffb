"""Agents in Modal sandboxes: what others see of them, what they leave, and what becomes of them when a sandbox ends."""

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from functools import partial
from pathlib import Path

import pytest
from grpclib.const import Status
from tests.support.modal.service import Service
from tests.support.world import World
from tests.verbs.asking import row, said

import mngr
from mngr.hosts.modal.provider import ModalProvider
from mngr.hosts.protocol import Provider
from mngr.process import wait_until
from mngr.testing.waiting import PATIENCE_S

pytestmark = pytest.mark.slow

SLEEP = ("sleep", "1000")
# An apt-get that has what is asked for in its cellar.
INSTALLER = """#!/bin/sh
for word; do case $word in tmux|git) ln -s "/usr/bin/$word" /bare/bin/;; esac; done
"""


class Lab:
    """A world with an app of its own at Modal."""

    def __init__(self, world: World, service: Service) -> None:
        self.world, self.service, self.app = world, service, f"t{os.urandom(4).hex()}"

    def provider(self, **more: object) -> ModalProvider:
        return self.service.provider(self.app, **more)

    def manager(self, world: World | None = None) -> mngr.Manager:
        given: dict[str, Provider] = {"modal": self.provider()}
        return (world or self.world).manager(**given)

    def configure(self) -> None:
        """Writes the settings down, for programs that are started."""
        self.world.host_dir.mkdir(exist_ok=True)
        text = f'[providers.modal]\napp = "{self.app}"\nimage = "debian"\n'
        (self.world.host_dir / "config.toml").write_text(text)

    def start(self, *words: str, **more: str) -> "subprocess.Popen[bytes]":
        env = {
            **self.world.env,
            **self.service.env,
            **more,
            "PYTHONPATH": os.pathsep.join(filter(None, sys.path)),
        }
        return subprocess.Popen(
            [sys.executable, "-m", "mngr", *words],
            cwd=self.world.repo,
            env=env,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
        )

    def say(self, *words: str) -> str:
        with self.start(*words) as child:
            said = child.communicate(timeout=PATIENCE_S)[0].decode()
        assert child.returncode == 0, said
        return said


@pytest.fixture
def lab(tmp_path: Path, modal: Service) -> Iterator[Lab]:
    made = Lab(World(tmp_path), modal)
    yield made
    modal.faults.status.clear()
    for sandbox in modal.running(made.app):
        modal.end(sandbox)
    made.world.end()


@pytest.mark.accept("L1", "L2", "L4")
def test_an_agent_moves_to_modal_by_its_address_alone(lab: Lab) -> None:
    lab.configure()
    for address, provider in (("foo", "local"), ("bar@.modal", "modal")):
        lab.say("create", address, "--no-connect", "--", *SLEEP)
        name = address.partition("@")[0]
        assert f".{provider}" in lab.say("list", "--format", "{name} .{host.provider}", name)
        lab.say("exec", name, "--", "sh", "-c", "echo two >file.txt; git commit -qam second")
        lab.say("pull", name)
        assert lab.world.git("log", "-1", "--format=%s", f"mngr/{name}") == "second\n"
        lab.say("stop", name)
        lab.say("destroy", "--force", name)
    assert lab.service.left(lab.app) == []


@pytest.mark.accept("K13", "L2")
def test_a_second_machine_sees_the_rows_of_a_stopped_sandbox_and_starts_it(lab: Lab, tmp_path: Path) -> None:
    (tmp_path / "second").mkdir()
    second = World(tmp_path / "second")
    made = mngr.create("foo@lab.modal", args=SLEEP, labels={"team": "red"}, manager=lab.manager()).agent
    try:
        assert row(lab.manager(second)).state == "RUNNING"
        said(lab.manager(), "sh", "-c", "echo kept >note")
        mngr.stop_host("@lab.modal", manager=lab.manager())
        assert lab.service.names(lab.app) == []
        (tmp_path / "third").mkdir()
        third = World(tmp_path / "third")
        for world in (lab.world, second, third):
            seen = row(lab.manager(world))
            assert (seen.id, seen.state, seen.labels) == (made.id, "STOPPED", {"team": "red"})
            assert (seen.host.state, seen.branch) == ("STOPPED", "mngr/foo")
        started = mngr.start("foo", manager=lab.manager(third)).agent
        assert (started.id, started.state) == (made.id, "RUNNING")
        assert said(lab.manager(third), "cat", "note") == "kept\n"
    finally:
        for world in (second, third):
            world.end()


def test_a_sandbox_that_ends_by_itself_is_told_truly(lab: Lab) -> None:
    mngr.create("foo@lab.modal", args=SLEEP, manager=lab.manager())
    (sandbox,) = lab.service.running(lab.app)
    lab.service.end(sandbox)
    seen = row(lab.manager())
    assert (seen.state, seen.host.state) == ("STOPPED", "STOPPED")
    assert seen.why == "its host is stopped: its sandbox ended by itself"
    assert mngr.list_agents(manager=lab.manager()).warnings == ()
    with pytest.raises(mngr.MngrError, match="ended by itself, and its files with it"):
        mngr.start("foo", manager=lab.manager())
    mngr.destroy("foo", manager=lab.manager())
    assert mngr.list_agents(manager=lab.manager()).agents == ()
    assert lab.service.left(lab.app) == []


def test_an_agent_of_a_stopped_sandbox_is_destroyed_without_a_new_one_unless_it_has_commits(lab: Lab) -> None:
    asked = lab.service.faults.asked
    for commits in (False, True):
        mngr.create("foo@lab.modal", args=SLEEP, manager=lab.manager())
        if commits:
            said(lab.manager(), "sh", "-c", "echo two >file.txt; git commit -qam second")
        mngr.stop_host("@lab.modal", manager=lab.manager())
        before = asked["SandboxCreateV2"]
        mngr.destroy("foo", manager=lab.manager())
        assert asked["SandboxCreateV2"] - before == commits
        assert lab.service.left(lab.app) == []
    assert "second" in lab.world.git("log", "--all", "--format=%s")


def test_agents_that_went_with_their_sandboxes_are_destroyed_with_the_others(lab: Lab) -> None:
    lab.configure()
    for name in ("foo", "bar", "baz"):
        mngr.create(f"{name}@{name}-lab.modal", args=SLEEP, manager=lab.manager())
    for sandbox in lab.service.running(lab.app):
        if sandbox.tags["mngr-host"] != "bar-lab":
            lab.service.end(sandbox)
    with lab.start("start", "foo") as child:
        assert b"its files with it" in child.communicate(timeout=PATIENCE_S)[0]
    assert child.returncode == 5
    assert lab.say("destroy", "foo", "--yes").splitlines()[0].startswith("Destroyed foo")
    told = lab.say("destroy", "--all", "--yes")
    assert [line.split()[1].rstrip(".,:") for line in told.splitlines() if "Destroyed" in line] == [
        "baz",
        "bar",
    ]
    assert lab.service.left(lab.app) == []


@pytest.mark.accept("K11")
def test_gc_does_nothing_while_modal_cannot_list(lab: Lab) -> None:
    mngr.create("foo@lab.modal", args=SLEEP, manager=lab.manager())
    assert row(lab.manager()).state == "RUNNING"
    for call in ("SandboxListV2", "DictContents"):
        lab.service.faults.status[call] = Status.PERMISSION_DENIED
        listing = mngr.list_agents(manager=lab.manager())
        assert [(agent.name, agent.host.state) for agent in listing.agents] == [("foo", "UNREACHABLE")]
        assert any("modal" in warning for warning in listing.warnings)
        assert mngr.find_garbage(manager=lab.manager()) == []
        lab.service.faults.status.clear()
    assert row(lab.manager()).state == "RUNNING"


@pytest.mark.accept("K11")
@pytest.mark.parametrize("env", [{"MODAL_SERVER_URL": "http://127.0.0.1:9"}, {"MODAL_TOKEN_ID": ""}])
def test_modal_that_is_away_or_does_not_know_us_costs_a_warning(lab: Lab, env: dict[str, str]) -> None:
    lab.configure()
    mngr.create("foo", args=SLEEP, manager=lab.world.manager())
    with lab.start("list", **env) as child:
        told = child.communicate(timeout=PATIENCE_S)[0].decode()
    assert child.returncode == 0, told
    assert "foo" in told
    assert "modal" in told


@pytest.mark.accept("K4")
@pytest.mark.parametrize("call", ["SandboxCreateV2", "TaskExecStart", "TaskExecStdioRead"])
def test_a_failure_in_the_middle_of_a_creation_leaves_nothing(lab: Lab, call: str) -> None:
    lab.service.faults.status[call] = Status.FAILED_PRECONDITION
    with pytest.raises(mngr.MngrError):
        mngr.create("foo@.modal", args=SLEEP, manager=lab.manager())
    lab.service.faults.status.clear()
    assert lab.service.left(lab.app) == []
    assert lab.world.left_behind() == []


@pytest.mark.accept("K4")
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGKILL])
def test_an_interrupted_creation_leaves_no_sandbox(lab: Lab, number: signal.Signals) -> None:
    lab.configure()
    asked = lab.service.faults.asked
    for call in ("SandboxCreateV2", "TaskExecStart"):
        lab.service.faults.late_s[call] = 0.5
        asked.clear()
        child = lab.start("create", "foo@.modal", "--no-connect", "--", *SLEEP)
        assert wait_until(partial(asked.get, call), PATIENCE_S)
        child.send_signal(number)
        child.communicate(timeout=PATIENCE_S)
        lab.service.faults.late_s.clear()
        assert child.returncode != 0
        if number == signal.SIGKILL:
            assert wait_until(lambda: _is_clean(lab), PATIENCE_S)
        assert lab.service.left(lab.app) == [], call
        assert lab.world.left_behind() == [], call


def _is_clean(lab: Lab) -> bool:
    """Collects garbage until nothing is left: what the killed one had asked for may still be under way."""
    manager = lab.manager()
    mngr.remove_garbage(mngr.find_garbage(manager=manager), manager=manager)
    return lab.service.left(lab.app) == []


@pytest.mark.accept("K19")
def test_an_image_without_tmux_and_git_is_named_with_the_fix_which_works(lab: Lab, tmp_path: Path) -> None:
    programs = tmp_path / "image/bare/bin"
    programs.mkdir(parents=True)
    for name in set(os.listdir("/usr/bin")) - {"tmux", "git", "apt-get"}:
        (programs / name).symlink_to(f"/usr/bin/{name}")
    (programs / "apt-get").write_text(INSTALLER)
    (programs / "apt-get").chmod(0o755)
    lab.service.yard.registry["bare:1"] = tmp_path / "image"
    (tmp_path / "Dockerfile").write_text("FROM bare:1\nENV PATH=/bare/bin\n")
    for transfer, missing in (("mirror", "git"), ("none", "tmux")):
        given: dict[str, Provider] = {"modal": lab.provider(image=f"{tmp_path}/Dockerfile")}
        with pytest.raises(mngr.MngrError, match=f"has no {missing}") as caught:
            mngr.create("foo@.modal", args=SLEEP, transfer=transfer, manager=lab.world.manager(**given))
        assert "bootstrap = true" in caught.value.hint
    assert lab.service.left(lab.app) == []
    given = {"modal": lab.provider(image=f"{tmp_path}/Dockerfile", bootstrap=True)}
    made = mngr.create("foo@.modal", args=SLEEP, manager=lab.world.manager(**given)).agent
    assert made.state == "RUNNING"


def test_a_snapshot_keeps_the_whole_sandbox(lab: Lab) -> None:
    mngr.create("foo@lab.modal", args=SLEEP, env={"COLOUR": "blue"}, manager=lab.manager())
    said(
        lab.manager(),
        "sh",
        "-c",
        "mkdir /opt; echo tool >/opt/tool; echo two >file.txt; git commit -qam second",
    )
    mngr.create_snapshot("foo", "ready", manager=lab.manager())
    mngr.destroy("foo", manager=lab.manager())
    assert lab.service.names(lab.app) == []
    assert [shot.name for shot in mngr.list_snapshots(manager=lab.manager())] == ["ready"]
    mngr.create("bar@.modal", snapshot="ready", manager=lab.manager())
    assert [agent.name for agent in mngr.list_agents(manager=lab.manager()).agents] == ["bar"]
    look = ("sh", "-c", "cat /opt/tool file.txt; git log -1 --format=%s; echo $COLOUR")
    assert said(lab.manager(), *look, name="bar") == "tool\ntwo\nsecond\nblue\n"
    mngr.destroy("bar", manager=lab.manager())
    lab.configure()
    assert lab.say("snapshot", "destroy", "ready", "--yes") == "Destroyed snapshot ready\n"
    assert lab.service.left(lab.app) == []
