"""Copies that cross hosts: this machine and boxes that share no files with it or each other."""

import os
from collections.abc import Iterator
from pathlib import Path

import pytest
from mngr_box.provider import BoxProvider
from tests.support.needs import needs
from tests.support.world import World

from mngr.actions.create.clone import clone
from mngr.actions.create.create import create
from mngr.actions.destroy import destroy
from mngr.actions.exec import exec_in
from mngr.actions.gc.gc import find_garbage, remove_garbage
from mngr.actions.list import list_agents
from mngr.actions.manager import Manager
from mngr.actions.message import message
from mngr.actions.migrate import migrate
from mngr.actions.snapshots.snapshot import create_snapshot, list_snapshots
from mngr.errors import MngrError
from mngr.hosts.protocol import Host
from mngr.model.agent import Agent
from mngr.process import wait_until
from mngr.testing.waiting import PATIENCE_S

pytestmark = pytest.mark.accept("K1")


@pytest.fixture
def boxes(world: World) -> Iterator[BoxProvider]:
    user = () if os.geteuid() == 0 else ("-U", "--map-root-user")
    needs("mount and process namespaces", "unshare", *user, "-m", "-p", "-f", "--mount-proc", "true")
    provider = BoxProvider(str(world.host_dir))
    world.manager_here = Manager(cwd=str(world.repo), env=world.env, providers={"box": provider})
    yield provider
    for ref in provider.hosts():
        provider.destroy(ref.name)


def _host(world: World, agent: Agent) -> Host:
    return world.manager_here.open_host(agent.host.name, agent.host.provider)


def _sh(world: World, agent: Agent, script: str) -> str:
    """Runs shell lines in the agent's work dir, on its host."""
    return _host(world, agent).run(("sh", "-c", script), cwd=agent.work_dir).check(script).text


def _work(world: World, agent: Agent) -> None:
    _sh(
        world,
        agent,
        "echo c >committed && git add committed && git -c user.name=n -c user.email=n@x commit -qm c && "
        "echo changed >file && echo u >'un tracked'",
    )


_LOOK = (
    "cat committed file 'un tracked'; git log --format=%s; git status --porcelain; git branch --show-current"
)


@pytest.mark.parametrize(
    ("start", "end"), [("foo", "bar@b.box"), ("foo@a.box", "bar@.local"), ("foo@a.box", "bar@b.box")]
)
def test_a_clone_crosses_hosts_with_commits_uncommitted_work_and_env(
    world: World, boxes: BoxProvider, start: str, end: str
) -> None:
    foo = create(
        start, args=("sleep", "1000"), env={"A": "$1"}, labels={"k": "v"}, manager=world.manager_here
    ).agent
    _work(world, foo)
    bar = clone("foo", end, manager=world.manager_here).agent
    assert (bar.state, bar.labels, bar.branch) == ("RUNNING", {"k": "v"}, "mngr/bar")
    assert bar.host != foo.host
    assert _sh(world, bar, _LOOK) == _sh(world, foo, _LOOK).replace("mngr/foo", "mngr/bar")
    pid = _host(world, bar).read(f"{_state_dir(world, bar)}/pid").split()[0].decode()
    environ = _host(world, bar).read(f"/proc/{pid}/environ").split(b"\0")
    assert b"A=$1" in environ
    assert b"MNGR_AGENT_NAME=bar" in environ
    assert (b"HOME=" + os.fsencode(world.home) in environ) == (bar.host.provider == "local")
    assert not [ref for ref in world.refs() if ref.startswith("refs/mngr/")]


def _state_dir(world: World, agent: Agent) -> str:
    return f"{_host(world, agent).dir}/agents/{agent.id}"


def test_a_conversation_and_files_without_git_cross_hosts(world: World, boxes: BoxProvider) -> None:
    plain = world.folder / "plain"
    plain.mkdir()
    (plain / "file").write_text("f\n")
    world.manager_here = Manager(cwd=str(plain), env=world.env, providers={"box": boxes})
    create("foo", type="scripted", manager=world.manager_here)
    message("foo", "remember this", manager=world.manager_here)
    assert wait_until(lambda: world.state("foo") == "WAITING", PATIENCE_S)
    bar = clone("foo", "bar@b.box", manager=world.manager_here).agent
    home = clone("bar", "baz@.local", manager=world.manager_here).agent
    for agent in (bar, home):
        said = _host(world, agent).read(f"{_state_dir(world, agent)}/conversation.jsonl")
        assert b"remember this" in said
        assert _sh(world, agent, "cat file") == "f\n"
        listed = _host(world, agent).run(("ls", f"{_host(world, agent).dir}/agents")).text
        assert "staged" not in listed


def test_a_snapshot_of_an_agent_elsewhere_starts_one_here_after_it_is_gone(
    world: World, boxes: BoxProvider
) -> None:
    keeper = create("keeper@a.box", args=("sleep", "1000"), manager=world.manager_here).agent
    foo = create("foo@a.box", args=("sleep", "1000"), manager=world.manager_here).agent
    _work(world, foo)
    expected = _sh(world, foo, _LOOK).replace("mngr/foo", "mngr/bar")
    create_snapshot("foo", "s", manager=world.manager_here)
    destroy("foo", manager=world.manager_here)
    assert [(one.name, one.host.name) for one in list_snapshots(manager=world.manager_here)] == [("s", "a")]
    bar = create("bar", snapshot="s", manager=world.manager_here).agent
    assert _sh(world, bar, _LOOK) == expected
    there = create("baz@a.box", snapshot="s", manager=world.manager_here).agent
    assert (there.host.name, keeper.host.name) == ("a", "a")
    assert _sh(world, there, _LOOK) == expected.replace("mngr/bar", "mngr/baz")


@pytest.mark.accept("K4")
def test_a_clone_that_fails_elsewhere_leaves_no_host(world: World, boxes: BoxProvider) -> None:
    program = world.folder / "only here"
    program.write_text("#!/bin/sh\nexec sleep 1000\n")
    program.chmod(0o755)
    world.create("foo", str(program))
    with pytest.raises(MngrError, match="could not be started"):
        clone("foo", "bar@.box", manager=world.manager_here)
    assert boxes.hosts() == []
    assert world.names() == ["foo"]


@pytest.mark.accept("K4")
def test_a_move_that_fails_leaves_the_agent_at_work_where_it_was(world: World, boxes: BoxProvider) -> None:
    needs_this = ("sh", "-c", "[ -e /root/only-here ] || exit 3; sleep 1000")
    agent = create("foo@a.box", args=("sleep", "1000"), manager=world.manager_here).agent
    _host(world, agent).write("/root/only-here", b"")
    agent = create("bar@a.box", args=needs_this, manager=world.manager_here).agent
    with pytest.raises(MngrError, match="exit code 3"):
        migrate("bar", "@b.box", manager=world.manager_here)
    rows = {
        agent.name: (agent.host.name, agent.state) for agent in list_agents(manager=world.manager_here).agents
    }
    assert rows == {"foo": ("a", "RUNNING"), "bar": ("a", "RUNNING")}
    assert [ref.name for ref in boxes.hosts()] == ["a"]


def test_garbage_elsewhere_is_found_and_removed_there(world: World, boxes: BoxProvider) -> None:
    foo = create("foo@a.box", args=("sleep", "1000"), manager=world.manager_here).agent
    host = _host(world, foo)
    host.run(("mkdir", "-p", f"{host.dir}/work/stray")).check("stray")
    Path(world.paths.work).mkdir(parents=True, exist_ok=True)
    found = find_garbage(manager=world.manager_here)
    assert [(item.kind, item.what, item.host.name) for item in found] == [
        ("work dir", f"{host.dir}/work/stray", "a")
    ]
    remove_garbage(found, manager=world.manager_here)
    assert host.run(("ls", f"{host.dir}/work")).text.split() == [os.path.basename(foo.work_dir)]
    assert list_agents(manager=world.manager_here).agents[0].state == "RUNNING"


def test_programs_in_an_agents_own_bin_come_first_there_too(world: World, boxes: BoxProvider) -> None:
    setup = 'd=$MNGR_AGENT_STATE_DIR/bin; mkdir "$d"; printf "#!/bin/sh\\necho mine\\n" >"$d/ls"; chmod +x "$d/ls"'
    agent = world.create("one@.box", setup=setup)
    heard: list[bytes] = []
    code = exec_in(
        agent,
        ["sh", "-c", "ls; uname"],
        on_output=lambda _, data: heard.append(data),
        manager=world.manager_here,
    )
    assert code == 0
    assert b"".join(heard).startswith(b"mine\n")
