"""A repository that an agent filled with programs for git to run: every verb goes its way, and none of them runs."""

import os
from collections.abc import Iterator
from pathlib import Path

import pytest
from msgspec import Struct
from tests.hostile.traps import Traps, embed_repository, git, spring_load
from tests.support.world import World, file_and_ignored

from mngr.actions.create.clone import clone
from mngr.actions.destroy import destroy
from mngr.actions.diff import diff
from mngr.actions.gc.gc import find_garbage, remove_garbage
from mngr.actions.list import list_agents
from mngr.actions.pull import pull
from mngr.actions.push import push
from mngr.actions.snapshots.snapshot import create_snapshot, restore_snapshot
from mngr.errors import MngrError
from mngr.hosts.local import LocalHost
from mngr.testing.transfers import make_repository
from mngr.transfer.discard import discard, unmerged_commits
from mngr.transfer.mirror import MirrorTransfer
from mngr.transfer.protocol import Brought
from mngr.transfer.protocol import Sent as Made
from mngr.transfer.push import push_commits
from mngr.transfer.source import find_source
from mngr.transfer.view import checkout_of

pytestmark = pytest.mark.accept("Q5", "Q11")


@pytest.fixture
def world(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[World]:
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.setenv("GIT_CONFIG_NOSYSTEM", "1")
    monkeypatch.delenv("GIT_CONFIG_GLOBAL", raising=False)
    monkeypatch.delenv("XDG_CONFIG_HOME", raising=False)
    world = World(tmp_path, file_and_ignored)
    yield world
    world.destroy_all()


def _booby_trap(world: World, traps: Traps, work_dir: Path, transfer: str) -> None:
    world.commit(work_dir, "a.txt", "one\n")
    embed_repository(work_dir)
    git_dir = work_dir / ".git"
    if transfer == "worktree":
        # What it shares with the user's repository is the user's own; its very own part is not.
        git(world.repo, "config", "extensions.worktreeConfig", "true")
        git_dir = Path(git(work_dir, "rev-parse", "--absolute-git-dir"))
    config = "config.worktree" if transfer == "worktree" else "config"
    spring_load(traps, work_dir, git_dir, config=config, rewritten=str(world.host_dir))


@pytest.mark.parametrize("transfer", ["worktree", "mirror", "copy"])
def test_no_verb_runs_a_program_that_an_agents_repository_names(
    world: World, tmp_path: Path, transfer: str
) -> None:
    """TH-M4."""
    traps, manager = Traps(tmp_path / "traps"), world.manager_here
    agent = world.create("foo", transfer=transfer)
    work_dir = Path(agent.work_dir)
    _booby_trap(world, traps, work_dir, transfer)
    assert list_agents(manager=manager).agents[0].name == "foo"
    assert "+changed" in diff("foo", manager=manager).text
    assert traps.sprung == []
    assert create_snapshot("foo", "before", manager=manager).commit
    pulled = pull("foo", manager=manager)
    assert pulled.branch == "mngr/foo"
    dirty = pull("foo", include_dirty=True, manager=manager)
    assert git(world.repo, "cat-file", "blob", f"{dirty.branch}:a.txt") == "changed"
    assert traps.sprung == []
    beside = clone("foo", "bar", manager=manager).agent
    assert (Path(beside.work_dir) / "a.txt").read_text() == "changed\n"
    assert traps.sprung == []
    (work_dir / "a.txt").write_text("again\n")
    assert restore_snapshot("before", manager=manager).changed
    assert (work_dir / "a.txt").read_text() == "changed\n"
    assert traps.sprung == []
    pull("foo", mode="merge", manager=manager)
    assert (world.repo / "a.txt").read_text() == "one\n"
    world.commit(world.repo, "b.txt", "from the user\n")
    assert traps.sprung == []
    push("foo", manager=manager)
    assert (work_dir / "b.txt").read_text() == "from the user\n"
    assert traps.sprung == []
    destroy("foo", manager=manager)
    assert not work_dir.exists()
    os.rename(world.own(beside).dir, tmp_path / "record")
    remove_garbage(find_garbage(manager=manager), manager=manager)
    assert not Path(beside.work_dir).exists()
    assert traps.sprung == []


class Sent(Struct, frozen=True):
    """A mirror in which an agent did some work, without the agent."""

    host: LocalHost
    top: str
    work_dir: Path

    @property
    def git_dir(self) -> Path:
        return self.work_dir / ".git"

    def pull(self, *, dirty: bool = False) -> Brought:
        into = find_source(self.top, include_dirty=dirty)
        return MirrorTransfer().bring_back(self.host, str(self.work_dir), into, "mngr/one")

    def push(self) -> None:
        place = checkout_of(self.host, str(self.work_dir), "mirror", None)
        push_commits(find_source(self.top), place)


@pytest.fixture
def sent(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Sent:
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.setenv("GIT_CONFIG_NOSYSTEM", "1")
    monkeypatch.delenv("GIT_CONFIG_GLOBAL", raising=False)
    monkeypatch.delenv("XDG_CONFIG_HOME", raising=False)
    (tmp_path / "host").mkdir()
    host, top = LocalHost(str(tmp_path / "host")), make_repository(tmp_path / "source")
    made = MirrorTransfer().send(find_source(top), host, f"{host.dir}/work/one", "mngr/one")
    work_dir = Path(made.work_dir)
    (work_dir / "done").write_text("done\n")
    git(work_dir, "add", ".")
    git(work_dir, "commit", "-q", "-m", "done")
    return Sent(host, top, work_dir)


def test_a_missing_object_is_not_fetched_from_where_the_agent_says(sent: Sent, tmp_path: Path) -> None:
    traps, blob = Traps(tmp_path / "traps"), git(sent.work_dir, "rev-parse", "HEAD:done")
    with open(sent.git_dir / "config", "a") as file:
        file.write(traps.config("own") + "[extensions]\n\tpartialClone = trap\n")
    (sent.git_dir / "config").write_text(
        (sent.git_dir / "config")
        .read_text()
        .replace("repositoryformatversion = 0", "repositoryformatversion = 1")
    )
    (sent.git_dir / "objects" / blob[:2] / blob[2:]).unlink()
    for dirty in (False, True):
        with pytest.raises(MngrError):
            sent.pull(dirty=dirty)
    assert traps.sprung == []
    made = Made(str(sent.work_dir), "mngr/one", git(Path(sent.top), "rev-parse", "HEAD"), owns_work_dir=True)
    with pytest.raises(MngrError, match="cannot be kept"):
        discard(sent.host, made, find_source(sent.top), "mirror")
    discard(sent.host, made, find_source(sent.top), "mirror", discard_unreadable=True)
    assert traps.sprung == []


def test_files_come_from_the_work_dir_whatever_the_configuration_says(sent: Sent, tmp_path: Path) -> None:
    private = tmp_path / "private"
    private.mkdir()
    (private / "diary").write_text("dear diary\n")
    with open(sent.git_dir / "config", "a") as file:
        file.write(f"[core]\n\tworktree = {private}\n\texcludesFile = {private}/diary\n\tbare = false\n")
    (sent.work_dir / "new").write_text("new\n")
    brought = sent.pull(dirty=True)
    changed = git(Path(sent.top), "diff", "--name-status", "HEAD", brought.after)
    assert changed.split() == ["A", "done", "A", "new"]


def test_alternates_name_no_program(sent: Sent, tmp_path: Path) -> None:
    traps = Traps(tmp_path / "traps")
    other = make_repository(tmp_path / "other")
    sent.pull()
    git(Path(sent.top), "merge", "-q", "--ff-only", "mngr/one")
    Path(sent.top, "more").write_text("more\n")
    git(Path(sent.top), "add", ".")
    git(Path(sent.top), "commit", "-q", "-m", "more")
    with open(sent.git_dir / "config", "a") as file:
        file.write(traps.config("own"))
    (sent.git_dir / "objects/info").mkdir(exist_ok=True)
    (sent.git_dir / "objects/info/alternates").write_text(f"{other}/.git/objects\n")
    sent.push()
    assert (sent.work_dir / "more").exists()
    sent.pull(dirty=True)
    assert traps.sprung == []


def test_history_comes_as_it_is_and_not_as_replacements_and_grafts_show_it(sent: Sent) -> None:
    head, base = git(sent.work_dir, "rev-parse", "HEAD"), git(Path(sent.top), "rev-parse", "HEAD")
    git(sent.work_dir, "update-ref", f"refs/replace/{head}", base)
    (sent.git_dir / "info").mkdir(exist_ok=True)
    (sent.git_dir / "info/grafts").write_text(f"{head}\n")
    place = checkout_of(sent.host, str(sent.work_dir), "mirror", None)
    made = Made(str(sent.work_dir), "mngr/one", base, owns_work_dir=True)
    assert unmerged_commits(place, made, None) == 1
    assert sent.pull().after == head
    assert git(Path(sent.top), "rev-parse", "mngr/one^") == base


def test_a_bare_repository_in_place_of_a_broken_one_is_not_taken_for_it(sent: Sent, tmp_path: Path) -> None:
    traps = Traps(tmp_path / "traps")
    os.rename(sent.git_dir / "objects", sent.work_dir / "objects")
    os.rename(sent.git_dir / "refs", sent.work_dir / "refs")
    os.rename(sent.git_dir / "HEAD", sent.work_dir / "HEAD")
    (sent.work_dir / "config").write_text(f"[core]\n\tbare = false\n\tworktree = .\n{traps.config('bare')}")
    with pytest.raises(MngrError, match="cannot read a repository"):
        sent.pull(dirty=True)
    assert traps.sprung == []


@pytest.mark.parametrize("lead", ["file", "link", "commondir"])
def test_a_repository_that_leads_to_another_one_is_refused(sent: Sent, tmp_path: Path, lead: str) -> None:
    other = Path(make_repository(tmp_path / "other"))
    before = git(other, "for-each-ref")
    if lead == "commondir":
        (sent.git_dir / "commondir").write_text(f"{other}/.git\n")
    else:
        os.rename(sent.git_dir, tmp_path / "moved")
        if lead == "link":
            sent.git_dir.symlink_to(other / ".git")
        else:
            sent.git_dir.write_text(f"gitdir: {other}/.git\n")
    with pytest.raises(MngrError, match="leads to another one"):
        sent.pull(dirty=True)
    with pytest.raises(MngrError):
        sent.push()
    assert git(other, "for-each-ref") == before


def test_a_damaged_agent_is_destroyed_when_it_is_said_that_its_commits_may_go(world: World) -> None:
    """TH-M2."""
    agent = world.create("foo", transfer="mirror")
    world.commit(agent.work_dir, "done", "done\n")
    Path(agent.work_dir, ".git/HEAD").write_text("nonsense\n")
    with pytest.raises(MngrError, match="nothing was removed") as caught:
        destroy("foo", manager=world.manager_here)
    assert "--discard-unreadable" in caught.value.hint
    assert world.names() == ["foo"]
    (change,) = destroy("foo", discard_unreadable=True, manager=world.manager_here)
    assert change.notes[0].startswith("discarded what could not be read")
    assert world.names() == []
    assert not os.path.exists(agent.work_dir)
