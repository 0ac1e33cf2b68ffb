import os
import shutil
import signal
import sys
import time
from pathlib import Path

import pytest
from tests.support.world import World
from tests.tmux.stage import is_alive

from mngr import process
from mngr.actions.create.create import create
from mngr.actions.destroy import destroy
from mngr.actions.gc.gc import Garbage, find_garbage, remove_garbage
from mngr.actions.list import list_agents
from mngr.actions.manager import Manager
from mngr.actions.snapshots.snapshot import create_snapshot, restore_snapshot
from mngr.errors import MngrError, UnreachableError
from mngr.hosts.local import LocalProvider
from mngr.model.host import HostRef
from mngr.tmux.server import tmux

pytestmark = pytest.mark.accept("K1")

# Creates an agent and dies at the n-th process it starts: right after starting it, or once it has ended.
_CREATE_AND_DIE = """
import os, signal, sys
from mngr import process
from mngr.actions.create.create import create

when, at, transfer, setup = sys.argv[1], int(sys.argv[2]), sys.argv[3], sys.argv[4]
step, count = getattr(process, when), 0

def dying(*arguments, **options):
    global count
    result = step(*arguments, **options)
    count += 1
    if count == at:
        os.kill(os.getpid(), signal.SIGKILL)
    return result

setattr(process, when, dying)
create("foo", args=("sleep", "1000"), transfer=transfer, setup=setup)
"""


def _create_and_die(world: World, when: str, at: int, transfer: str, setup: str = "") -> int:
    argv = (sys.executable, "-c", _CREATE_AND_DIE, when, str(at), transfer, setup)
    env = {**world.env, "PYTHONPATH": os.pathsep.join(sys.path), "GIT_CONFIG_NOSYSTEM": "1"}
    code = process.run(argv, cwd=str(world.repo), env=process.OnlyEnv(env)).code
    world.eventually(lambda: not [line for line in world.command_lines() if _is_step(line)])
    return code


def _is_step(line: str) -> bool:
    """Whether it is a step of a creation that goes on although its creator was killed."""
    return " git " in f" {line}" or 'eval "$(cat)"' in line


def _gc(world: World) -> list[str]:
    """Collects until nothing is found: what a killed process had started may finish in between."""
    notes: list[str] = []
    for _ in range(3):
        found = find_garbage(manager=world.manager_here)
        if not found:
            break
        notes += remove_garbage(found, manager=world.manager_here)
    assert find_garbage(manager=world.manager_here) == []
    return notes


def _left(world: World) -> list[str]:
    """Everything a creation makes, wherever it is."""
    left = [*world.worktrees(), *world.sessions(), *(world.refs() - {"refs/heads/main"})]
    for folder in ("agents", "names", "work", "made", "tmp"):
        path = f"{world.host_dir}/{folder}"
        left += [f"{path}/{name}" for name in os.listdir(path)] if os.path.isdir(path) else []
    return left


def _age(path: Path | str, seconds: float) -> None:
    then = time.time() - seconds
    os.utime(path, (then, then))


@pytest.mark.slow
@pytest.mark.accept("K4")
@pytest.mark.parametrize("transfer", ["worktree", "mirror", "copy"])
@pytest.mark.parametrize("when", ["_spawn", "_finish"])
def test_a_create_killed_at_any_step_is_removed_without_a_trace(
    world: World, transfer: str, when: str
) -> None:
    killed = 0
    for at in range(1, 40):
        code = _create_and_die(world, when, at, transfer)
        if code == 0:
            break
        assert code == 128 + signal.SIGKILL
        killed += 1
        _gc(world)
        agents = list_agents(manager=world.manager_here).agents
        assert [agent.state for agent in agents] in ([], ["RUNNING"]), (at, agents)
        destroy(list(agents), manager=world.manager_here)
        assert _left(world) == [], at
    assert killed >= 5
    destroy("foo", manager=world.manager_here)


@pytest.mark.accept("K4", "K5")
def test_what_a_killed_create_left_running_is_ended(world: World) -> None:
    setup = "setsid sleep 1001 & kill -KILL $PPID; exec sleep 1000"
    assert _create_and_die(world, "_spawn", 0, "worktree", setup) == 128 + signal.SIGKILL
    world.eventually(lambda: len(_running(world, "sleep 100")) == 2)
    _gc(world)
    assert not _running(world, "sleep 100")
    assert _left(world) == []


def _running(world: World, words: str) -> list[str]:
    return [line for line in world.command_lines() if words in line]


def test_a_creation_that_goes_on_and_a_finished_agent_are_left_alone(world: World) -> None:
    script = "touch ready; until [ -e go ]; do sleep 0.02; done"
    argv = (sys.executable, "-c", _CREATE_AND_DIE, "_spawn", "0", "worktree", script)
    env = {**world.env, "PYTHONPATH": os.pathsep.join(sys.path)}
    creating = process.stream(argv, cwd=str(world.repo), env=process.OnlyEnv(env))
    try:
        world.eventually(lambda: any(Path(path, "ready").exists() for path in world.worktrees()))
        assert world.state("foo") == "CREATING"
        assert find_garbage(manager=world.manager_here) == []
        Path(world.worktrees()[0], "go").touch()
        assert creating.wait(90) == 0
    finally:
        creating.kill()
    assert find_garbage(manager=world.manager_here) == []
    assert world.state("foo") == "RUNNING"


def test_an_interrupted_creation_says_so_and_a_dry_look_changes_nothing(world: World) -> None:
    assert _create_and_die(world, "_finish", 5, "worktree")
    before = _left(world)
    found = find_garbage(manager=world.manager_here)
    assert [(item.kind, item.what, item.why) for item in found] == [
        ("creation", "foo", "its creation was interrupted")
    ]
    assert _left(world) == before != []
    _gc(world)


def test_destroy_removes_an_interrupted_creation_too(world: World) -> None:
    assert _create_and_die(world, "_finish", 5, "worktree")
    destroy("foo", manager=world.manager_here)
    assert _left(world) == []


def test_an_orphaned_worktree_goes_and_its_work_becomes_branches(world: World) -> None:
    foo = world.create("foo")
    head = world.commit(foo.work_dir, "new", "x\n")
    Path(foo.work_dir, "dirty").write_text("d\n")
    bar = world.create("bar")
    for agent in (foo, bar):
        process.run(("rm", "-rf", world.own(agent).dir))
    kinds = sorted(item.kind for item in find_garbage(manager=world.manager_here))
    assert kinds == ["name", "name", "session", "session", "work dir", "work dir"]
    notes = _gc(world)
    assert world.branches() == {"main", "mngr/foo-uncommitted"}
    assert world.git_in(world.repo, "rev-parse", "mngr/foo-uncommitted^") == head
    assert world.git_in(world.repo, "show", "mngr/foo-uncommitted:dirty") == "d"
    assert any("mngr/foo" in note for note in notes)
    assert (world.worktrees(), world.sessions(), os.listdir(world.paths.names)) == ([], set(), [])
    assert not _running(world, "sleep")


def test_the_commits_of_an_orphaned_repository_are_kept(world: World) -> None:
    foo = world.create("foo", transfer="mirror")
    head = world.commit(foo.work_dir, "new", "x\n")
    process.run(("rm", "-rf", world.own(foo).dir))
    notes = _gc(world)
    assert not os.path.exists(foo.work_dir)
    ref = f"refs/mngr/lost/{os.path.basename(foo.work_dir)}"
    assert ref in " ".join(notes)
    assert world.git_in(f"{world.paths.snapshots}/store-sha1.git", "rev-parse", ref) == head


def test_a_damaged_record_is_a_row_and_never_garbage(world: World) -> None:
    foo = world.create("foo")
    spec = Path(world.own(foo).spec)
    text = spec.read_text()
    for damage in ("", text[:40], "[]"):
        spec.write_text(damage)
        _age(world.own(foo).dir, 7200)
        assert find_garbage(manager=world.manager_here) == []
        assert list_agents(manager=world.manager_here).agents[0].state == "UNKNOWN"
    spec.write_text(text)


def test_old_leftovers_go_and_fresh_ones_stay(world: World) -> None:
    foo = world.create("foo")
    host_dir = Path(world.host_dir)
    old_files = [
        host_dir / "bell.123",
        host_dir / "agents" / foo.id / "run.sh.new.77",
        host_dir / "config.toml.new.5.ab",
    ]
    old_dirs = [
        host_dir / "agents" / ("agent-" + "0" * 32),
        host_dir / "snapshots" / "half",
        host_dir / "tmp" / "x.git",
    ]
    lock = host_dir / "tmux" / "lock.new.77"
    for path in (*old_dirs, lock):
        path.mkdir(parents=True)
    for path in old_files:
        path.touch()
    (host_dir / "names" / "ghost").write_text("agent-" + "1" * 32 + "\n")
    assert [item.kind for item in find_garbage(manager=world.manager_here)] == ["name"]
    outbox = Path(world.own(foo).outbox, "mine.new.1")
    outbox.touch()
    for path in (*old_files, *old_dirs, lock, outbox):
        _age(path, 7200)
    found = {item.what for item in find_garbage(manager=world.manager_here)}
    assert found == {str(path) for path in (*old_files, *old_dirs, lock, host_dir / "names" / "ghost")}
    _gc(world)
    assert not any(path.exists() for path in (*old_files, *old_dirs, lock))
    assert (outbox.exists(), world.state("foo")) == (True, "RUNNING")


def test_a_dead_socket_goes_and_a_living_one_stays(world: World) -> None:
    world.create("foo")
    assert find_garbage(manager=world.manager_here) == []
    pid = process.run(tmux(world.paths, "display-message", "-p", "#{pid}")).text.strip()
    os.kill(int(pid), signal.SIGKILL)
    world.eventually(lambda: not is_alive(int(pid)))
    assert [item.kind for item in find_garbage(manager=world.manager_here)] == ["socket"]
    _gc(world)
    assert not os.path.exists(world.paths.socket)
    assert world.names() == ["foo"]


@pytest.mark.accept("Q15")
def test_references_that_an_interruption_left_in_the_users_repository_go(world: World) -> None:
    """gc never removed refs/mngr/incoming and snapshots in the user's repository."""
    world.create("foo")
    head, now = world.git_in(world.repo, "rev-parse", "HEAD"), int(time.time())
    kept = create_snapshot("foo", "kept", manager=world.manager_here)
    lost = create_snapshot("foo", "lost", manager=world.manager_here)
    shutil.rmtree(f"{world.paths.snapshots}/lost")
    fresh = {f"refs/mngr/{kind}/{now}-1-aa" for kind in ("clone", "incoming")} | {"refs/mngr/incoming/f00d"}
    others = {
        "refs/mngr/snapshots/agent-1/of-an-older-mngr",
        "refs/mngr/snapshots/12345678/agent-1/elsewhere",
    }
    old = {f"refs/mngr/{kind}/{now - 7201}-1-aa" for kind in ("clone", "incoming")}
    old |= {"refs/mngr/incoming/0123456789abcdef", "refs/mngr/dirty"}
    for ref in (*fresh, *others, *old):
        world.git_in(world.repo, "update-ref", ref, head)
    for ref in old:
        os.utime(world.repo / ".git" / ref, (now - 7201, now - 7201))
    found = {item.what.rpartition(" ")[2] for item in find_garbage(manager=world.manager_here)}
    assert found == old | {ref for ref in world.refs() if ref.endswith("/lost")}
    _gc(world)
    left = {ref for ref in world.refs() if ref.startswith("refs/mngr/")}
    assert left == fresh | others | {ref for ref in left if ref.endswith(f"/{kept.agent_id}/kept")}
    assert len(left) == len(fresh | others) + 1
    assert restore_snapshot("kept", manager=world.manager_here).changed
    assert lost.commit


def test_references_left_in_the_current_repository_go_without_any_agent(world: World) -> None:
    ref = f"refs/mngr/incoming/{int(time.time()) - 7201}-1-aa"
    world.git_in(world.repo, "update-ref", ref, "HEAD")
    _gc(world)
    assert ref not in world.refs()


def test_what_is_no_garbage_any_more_is_not_removed(world: World) -> None:
    foo = world.create("foo")
    claims = [
        Garbage("work dir", foo.work_dir, "no agent works there"),
        Garbage("name", world.paths.name("foo"), "no agent has it", agent_id=foo.id),
        Garbage("creation", "foo", "its creation was interrupted", agent_id=foo.id),
        Garbage("temporary file", str(world.repo), "nobody uses it"),
    ]
    remove_garbage(claims, manager=world.manager_here)
    assert (world.state("foo"), os.path.isdir(foo.work_dir), world.repo.exists()) == ("RUNNING", True, True)


def test_a_directory_in_use_is_kept_and_named(world: World) -> None:
    orphan = Path(world.paths.work, "stray")
    orphan.mkdir(parents=True)
    user = process.stream(("sleep", "1000"), cwd=str(orphan))
    try:
        with pytest.raises(MngrError, match="in use by processes"):
            remove_garbage(find_garbage(manager=world.manager_here), manager=world.manager_here)
        assert orphan.exists()
    finally:
        user.kill()
    _gc(world)
    assert not orphan.exists()


class _Silent(LocalProvider):
    """A provider whose listing fails."""

    name = "silent"

    def hosts(self) -> list[HostRef]:
        raise UnreachableError("nobody answers")


def test_a_provider_whose_listing_fails_is_left_alone(world: World) -> None:
    create("foo", args=("sleep", "1000"), manager=world.manager_here)
    Path(world.paths.work, "stray").mkdir()
    manager = Manager(cwd=str(world.repo), env=world.env, providers={"local": _Silent(str(world.host_dir))})
    assert find_garbage(manager=manager) == []
    assert "nobody answers" in " ".join(manager.warnings)
    assert Path(world.paths.work, "stray").exists()
    _gc(world)
