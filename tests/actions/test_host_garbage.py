"""Hosts that a killed mngr, or their last agent, left behind."""

import os
import signal
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from mngr_box.provider import BoxProvider
from tests.support.needs import needs
from tests.support.world import World

import mngr
from mngr import process
from mngr.actions.gc.gc import find_garbage, remove_garbage
from mngr.actions.manager import Manager
from mngr.model.host import HostSpec, HostState
from mngr.process import wait_until
from mngr.testing.faulty.provider import FaultyProvider
from mngr.testing.waiting import PATIENCE_S

# Dies when the host of its agent is made and the agent has nothing there yet.
_CREATE_AND_DIE = """
import os, signal, sys
from mngr.actions.create.create import create
from mngr.actions.manager import Manager
from mngr_box.provider import BoxProvider
class Deadly(BoxProvider):
    def create(self, spec):
        super().create(spec)
        os.kill(os.getpid(), signal.SIGKILL)
manager = Manager(cwd=sys.argv[1], providers={"box": Deadly(os.environ["MNGR_HOST_DIR"])})
create("foo@left.box", args=("sleep", "1000"), manager=manager)
"""


# Dies with two agents that were only for itself, one of them elsewhere.
_OWN_AND_DIE = """
import os, signal, sys, mngr
from mngr_box.provider import BoxProvider
manager = mngr.Manager(cwd=sys.argv[1], providers={"box": BoxProvider(os.environ["MNGR_HOST_DIR"])})
for address in ("here", "there@lab.box"):
    mngr.create(address, args=("sleep", "1000"), labels=mngr.owner_labels(), manager=manager)
os.kill(os.getpid(), signal.SIGKILL)
"""


@pytest.fixture
def boxes(world: World) -> Iterator[BoxProvider]:
    user = () if os.geteuid() == 0 else ("-U", "--map-root-user")
    needs("mount and process namespaces", "unshare", *user, "-m", "-p", "-f", "--mount-proc", "true")
    provider = BoxProvider(str(world.host_dir))
    world.manager_here = Manager(cwd=str(world.repo), env=world.env, providers={"box": provider})
    yield provider
    for ref in provider.hosts():
        provider.destroy(ref.name)


def garbage(world: World) -> list[tuple[str, str, str]]:
    return [(item.kind, item.what, item.why) for item in find_garbage(manager=world.manager_here)]


@pytest.mark.accept("K4")
def test_a_host_whose_maker_was_killed_is_found_and_removed(world: World, boxes: BoxProvider) -> None:
    env = {**world.env, "PYTHONPATH": os.pathsep.join(path for path in sys.path if path)}
    done = process.run([sys.executable, "-c", _CREATE_AND_DIE, str(world.repo)], env=env)
    assert done.code == 128 + signal.SIGKILL, done
    assert [ref.name for ref in boxes.hosts()] == ["left"]
    assert garbage(world) == [("host", "left", "its creation was interrupted")]
    remove_garbage(find_garbage(manager=world.manager_here), manager=world.manager_here)
    assert list(boxes.hosts()) == []
    assert garbage(world) == []
    assert not list(Path(world.host_dir, "providers/box").glob("*.creating.json"))


@pytest.mark.accept("K4")
def test_agents_that_belonged_to_a_killed_process_are_found(world: World, boxes: BoxProvider) -> None:
    env = {**world.env, "PYTHONPATH": os.pathsep.join(path for path in sys.path if path)}
    done = process.run([sys.executable, "-c", _OWN_AND_DIE, str(world.repo)], env=env, timeout_s=120)
    assert done.code == 128 + signal.SIGKILL, done
    world.create("mine", labels=mngr.owner_labels())
    world.create("foreign", labels={"mngr.owner": "another-machine/boot/1/2"})
    why = "the process that it belonged to is gone"
    assert garbage(world) == [("agent", "here", why), ("agent", "there", why)]
    mngr.stop_host("@lab.box", manager=world.manager_here)
    assert sorted(garbage(world)) == [("agent", "here", why), ("host", "lab", why)]
    remove_garbage(find_garbage(manager=world.manager_here), manager=world.manager_here)
    assert list(boxes.hosts()) == []
    left = mngr.list_agents(manager=world.manager_here).agents
    assert sorted(agent.name for agent in left) == ["foreign", "mine"]


@pytest.mark.accept("K4", "U3")
def test_a_host_that_was_never_made_is_not_said_to_be_left_behind(world: World) -> None:
    faulty = FaultyProvider(str(world.host_dir))
    faulty.configure({"drop": 1.0})
    world.manager_here = Manager(cwd=str(world.repo), env=world.env, providers={"faulty": faulty})
    with pytest.raises(mngr.UnreachableError) as caught:
        world.create("foo@.faulty")
    assert caught.value.hint == "try again"
    assert garbage(world) == []


def test_a_host_is_garbage_only_when_its_agents_have_been_gone_for_a_while(
    world: World, boxes: BoxProvider
) -> None:
    host = boxes.create(HostSpec(name="empty"))
    assert garbage(world) == []
    world.create("foo@empty.box")
    assert garbage(world) == []
    mngr.destroy("foo", manager=world.manager_here)
    assert garbage(world) == []
    host.run(["touch", "-d", "20 minutes ago", f"{host.dir}/agents", f"{host.dir}/names"]).check("touch")
    assert garbage(world) == [("host", "empty", "its last agent has been gone for ten minutes")]
    remove_garbage(find_garbage(manager=world.manager_here), manager=world.manager_here)
    assert list(boxes.hosts()) == []


def test_a_host_is_stopped_and_started_with_its_agents(world: World, boxes: BoxProvider) -> None:
    world.create("foo@lab.box")
    world.create("bar@lab.box")
    changes = mngr.stop_host("@lab.box", grace_s=2, manager=world.manager_here)
    assert {(change.agent.name, change.agent.state, change.changed) for change in changes} == {
        ("foo", "STOPPED", True),
        ("bar", "STOPPED", True),
    }
    assert [ref.state for ref in boxes.hosts()] == [HostState.STOPPED]
    rows = mngr.list_agents(manager=world.manager_here).agents
    assert {(row.name, row.state, row.host.state) for row in rows} == {
        ("foo", "STOPPED", "STOPPED"),
        ("bar", "STOPPED", "STOPPED"),
    }
    with pytest.raises(mngr.UnreachableError, match="its host is stopped"):
        mngr.exec_in("foo", ["true"], on_output=lambda *_: None, manager=world.manager_here)
    assert garbage(world) == []
    assert mngr.start("foo", manager=world.manager_here).agent.state == "RUNNING"
    assert {row.name: row.state for row in mngr.list_agents(manager=world.manager_here).agents} == {
        "foo": "RUNNING",
        "bar": "STOPPED",
    }


def test_a_host_as_a_target_means_its_agents_and_destroying_it_removes_all(
    world: World, boxes: BoxProvider
) -> None:
    world.create("foo@lab.box")
    world.create("bar@other.box")
    world.create("baz@lab.box")
    heard: list[bytes] = []
    with pytest.raises(mngr.UsageError, match="names a host"):
        mngr.exec_in(
            "@lab.box", ["pwd"], on_output=lambda _, data: heard.append(data), manager=world.manager_here
        )
    results = mngr.destroy_host("@lab.box", manager=world.manager_here)
    assert {result.agent.name for result in results if isinstance(result, mngr.Change)} == {"foo", "baz"}
    assert [ref.name for ref in boxes.hosts()] == ["other"]
    with pytest.raises(mngr.UsageError, match="not mngr's to destroy"):
        mngr.destroy_host("@local", manager=world.manager_here)
    with pytest.raises(mngr.NotFoundError):
        mngr.stop_host("@nowhere.box", manager=world.manager_here)


def test_what_runs_on_a_host_ends_with_it(world: World, boxes: BoxProvider) -> None:
    agent = world.create("foo@lab.box")
    assert agent.host.name == "lab"
    mngr.destroy_host("@lab.box", manager=world.manager_here)
    assert wait_until(lambda: list(boxes.hosts()) == [], PATIENCE_S)
    assert mngr.list_agents(manager=world.manager_here).agents == ()
