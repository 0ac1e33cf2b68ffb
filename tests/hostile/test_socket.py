"""Another local user reaches neither our tmux server nor what we say to it, however long the host dir's path is."""

import hashlib
import os
import shutil
import stat
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.support.needs import needs
from tests.support.stranger import Stranger
from tests.support.world import World

import mngr
from mngr import process
from mngr.actions.connect import plan_connect
from mngr.actions.doctor import examine
from mngr.errors import MngrError, RefusedError
from mngr.process import wait_until
from mngr.store.paths import HostPaths
from mngr.testing.waiting import PATIENCE_S

CANARY = "canary-in-our-environment"
SLEEP = ("sleep", "1000")


@pytest.fixture
def world(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[World]:
    """One whose host dir is too long for a socket's address."""
    monkeypatch.setenv("MNGR_TEST_CANARY", CANARY)
    made = World(tmp_path)
    made.host_dir = tmp_path / ("long-" * 24)
    made.env["MNGR_HOST_DIR"] = str(made.host_dir)
    made.paths = HostPaths(str(made.host_dir))
    yield made
    made.end()


@pytest.fixture
def stranger() -> Iterator[Stranger]:
    needs("root, to act as another user", "sh", "-c", '[ "$(id -u)" = 0 ]')
    made = Stranger(Path(f"/tmp/mngr-test-stranger-{os.urandom(6).hex()}"))
    yield made
    made.end()
    shutil.rmtree(made.folder)


def first_place(world: World) -> str:
    """Where the first edition put the socket of a long host dir: any user can compute it and be there first."""
    return f"/tmp/mngr-{hashlib.sha256(os.fsencode(world.host_dir)).hexdigest()[:16]}"


@pytest.mark.accept("Q16")
@pytest.mark.parametrize("way", ["listening", "link", "open"])
def test_who_is_first_in_the_temp_directory_hears_and_changes_nothing(
    world: World, stranger: Stranger, way: str
) -> None:
    """TH-H4."""
    place = first_place(world)
    try:
        if way == "link":
            stranger.run('mkdir "$1/in" && ln -s "$1/in" "$2"', str(stranger.folder), place)
        else:
            stranger.run('mkdir "$1" && chmod "$2" "$1"', place, "777" if way == "open" else "755")
        if way != "open":
            stranger.listen(f"{place}/socket")
        manager = world.manager()
        assert mngr.create("foo", args=("cat",), transfer="none", manager=manager).agent.state == "RUNNING"
        assert mngr.message("foo", "hello", manager=manager).receipt.status == "delivered"
        assert "hello" in mngr.capture("foo", manager=manager)
        plan = plan_connect("foo", manager=manager)
        assert not any(word.startswith("/tmp/mngr-") for word in plan.argv)
        mngr.destroy("foo", manager=manager)
        assert world.left_behind() == []
        assert not stranger.heard
    finally:
        shutil.rmtree(place) if not os.path.islink(place) else os.unlink(place)


@pytest.mark.accept("Q16")
def test_the_socket_is_in_a_directory_that_only_we_can_enter(world: World, stranger: Stranger) -> None:
    """TH-H4."""
    before = set(os.listdir("/tmp"))
    agent = mngr.create("foo", args=SLEEP, transfer="none", manager=world.manager()).agent
    folder = os.lstat(world.paths.tmux)
    assert stat.S_ISDIR(folder.st_mode)
    assert (folder.st_uid, stat.S_IMODE(folder.st_mode)) == (os.geteuid(), 0o700)
    assert stat.S_ISSOCK(os.lstat(world.paths.socket).st_mode)
    own = hashlib.sha256(os.fsencode(world.host_dir)).hexdigest()[:16]
    assert not [name for name in set(os.listdir("/tmp")) - before if own in name]
    # The line that `list` prints for people works as it is, from anywhere.
    attach = [word if word != "attach-session" else "has-session" for word in agent.attach]
    assert process.run(attach[: attach.index(";")], cwd="/").code == 0
    mngr.destroy("foo", manager=world.manager())
    assert wait_until(lambda: world.processes() == {}, PATIENCE_S), world.processes()
    assert not os.path.exists(world.paths.socket)


@pytest.mark.accept("Q16")
def test_a_directory_of_another_user_in_the_place_of_the_sockets_is_refused(
    world: World, stranger: Stranger
) -> None:
    """TH-H4."""
    for path in (world.paths.agents, world.paths.names):
        os.makedirs(path, mode=0o700)
    ours = [at for at in (world.folder, *world.folder.parents) if at.is_relative_to(tempfile.gettempdir())]
    for folder in ours:  # the folders of this test run, and none of the machine's
        folder.chmod(folder.stat().st_mode | 0o011)
    world.host_dir.chmod(0o777)
    stranger.run('mkdir "$1" && chmod 755 "$1"', world.paths.tmux)
    # From inside: the path is too long for an address.
    os.symlink(world.paths.tmux, stranger.folder / "t")
    stranger.listen(f"{stranger.folder}/t/socket")
    with pytest.raises(RefusedError, match="every user may write"):
        mngr.list_agents(manager=world.manager())
    world.host_dir.chmod(0o711)
    with pytest.raises(MngrError, match="belongs to another user"):
        mngr.create("foo", args=SLEEP, transfer="none", manager=world.manager())
    assert mngr.list_agents(manager=world.manager()).agents == ()
    assert not stranger.heard
    shutil.rmtree(world.paths.tmux)


@pytest.mark.accept("Q16")
@pytest.mark.parametrize("way", ["directory", "link"])
def test_a_host_dir_that_another_user_made_is_refused_by_every_verb(
    world: World, stranger: Stranger, way: str
) -> None:
    """TH-H4."""
    stranger.run('mkdir "$1/theirs" && ln -s "$2" "$1/link"', str(stranger.folder), str(world.home))
    taken = stranger.folder / {"directory": "theirs", "link": "link"}[way]
    world.env["MNGR_HOST_DIR"] = str(taken)
    before = set(os.listdir(world.home))
    for verb in (
        lambda: mngr.create("foo", args=SLEEP, transfer="none", manager=world.manager()),
        lambda: mngr.list_agents(manager=world.manager()),
        lambda: mngr.destroy("foo", manager=world.manager()),
        lambda: plan_connect("foo", manager=world.manager()),
    ):
        with pytest.raises(RefusedError, match="belongs to another user"):
            verb()
    assert set(os.listdir(world.home)) == before
    (found,) = [one for one in examine(world.manager()) if one.name == "host dir"]
    assert "belongs to another user" in found.found
