import os
import stat
from pathlib import Path

import pytest
from tests.support.world import World

from mngr.actions.create.clone import clone
from mngr.actions.create.create import create
from mngr.actions.destroy import destroy
from mngr.actions.events import events
from mngr.actions.message import message
from mngr.actions.rename import rename
from mngr.actions.snapshots.snapshot import (
    create_snapshot,
    destroy_snapshot,
    list_snapshots,
    restore_snapshot,
    snapshot_target,
)
from mngr.actions.stop import stop
from mngr.actions.targets import agent_of_directory
from mngr.errors import NotFoundError, RefusedError, UsageError
from mngr.store.runfile import parse_run_file

pytestmark = pytest.mark.accept("K1")

TRANSFERS = pytest.mark.parametrize("transfer", ["worktree", "mirror", "copy"])


def _change_everything(world: World, work: Path) -> None:
    world.commit(work, "later", "committed later\n")
    (work / "file").write_text("changed again\n")
    (work / "dirty").unlink()
    (work / "added").write_text("added\n")
    (work / "new folder").mkdir()
    (work / "new folder" / "x").write_text("x\n")
    (work / "ignored").write_text("changed and ignored\n")


def _make_dirty(work: Path) -> None:
    (work / "file").write_text("changed\n")
    (work / "dirty").write_text("untracked\n")
    (work / "ignored").write_text("i\n")


@TRANSFERS
def test_restore_puts_files_branch_and_uncommitted_work_back_exactly(world: World, transfer: str) -> None:
    foo = world.create("foo", transfer=transfer)
    work = Path(foo.work_dir)
    head = world.commit(work, "early", "e\n")
    _make_dirty(work)
    tree, status = world.tree(work), world.git_in(work, "status", "--porcelain")
    taken = create_snapshot("foo", "good", note="before lunch", manager=world.manager_here)
    assert (taken.name, taken.agent_name, taken.note) == ("good", "foo", "before lunch")
    _change_everything(world, work)
    pid = Path(world.own(foo).pid).read_text()
    change = restore_snapshot("good", manager=world.manager_here)
    assert Path(world.own(foo).pid).read_text() != pid
    assert world.tree(work) == {**tree, "ignored": "changed and ignored\n"}
    assert world.git_in(work, "status", "--porcelain") == status
    assert world.git_in(work, "rev-parse", "HEAD", "--abbrev-ref", "HEAD").split() == [head, "mngr/foo"]
    assert (change.changed, change.agent.state) == (True, "RUNNING")


@TRANSFERS
def test_what_a_restore_replaces_can_be_restored_too(world: World, transfer: str) -> None:
    foo = world.create("foo", transfer=transfer)
    work = Path(foo.work_dir)
    _make_dirty(work)
    create_snapshot("foo", "good", manager=world.manager_here)
    _change_everything(world, work)
    tree, head = world.tree(work), world.git_in(work, "rev-parse", "HEAD")
    notes = restore_snapshot("good", manager=world.manager_here).notes
    assert "good-before-restore-1" in notes[0]
    restore_snapshot("good-before-restore-1", manager=world.manager_here)
    assert (world.tree(work), world.git_in(work, "rev-parse", "HEAD")) == (tree, head)
    names = [snapshot.name for snapshot in list_snapshots("foo", manager=world.manager_here)]
    assert names == ["good", "good-before-restore-1", "good-before-restore-2"]


def test_a_snapshot_disturbs_neither_the_agent_nor_its_index(world: World) -> None:
    foo = world.create("foo")
    work = Path(foo.work_dir)
    _make_dirty(work)
    world.git_in(work, "add", "dirty")
    before, pid = world.git_in(work, "status", "--porcelain"), Path(world.own(foo).pid).read_text()
    create_snapshot("foo", manager=world.manager_here)
    assert world.git_in(work, "status", "--porcelain") == before
    assert (world.state("foo"), Path(world.own(foo).pid).read_text()) == ("RUNNING", pid)


def test_a_stopped_agent_stays_stopped_and_the_log_says_restored(world: World) -> None:
    world.create("foo")
    create_snapshot("foo", "s", manager=world.manager_here)
    stop("foo", manager=world.manager_here)
    assert restore_snapshot("s", manager=world.manager_here).agent.state == "STOPPED"
    last = list(events("foo", manager=world.manager_here))[-1]
    assert (last.kind, last.data) == ("restored", {"snapshot": "s", "before": "s-before-restore-1"})


def test_conversation_and_outbox_go_back_with_the_files(world: World) -> None:
    foo = world.create("foo", type="scripted")
    own = Path(world.own(foo).dir)
    message("foo", "first", manager=world.manager_here)
    world.eventually(lambda: world.state("foo") == "WAITING")
    (own / "outbox" / "kept").write_text("k\n")
    conversation = (own / "conversation.jsonl").read_bytes()
    create_snapshot("foo", "s", manager=world.manager_here)
    message("foo", "second", manager=world.manager_here)
    world.eventually(lambda: b"second" in (own / "conversation.jsonl").read_bytes())
    (own / "outbox" / "later").write_text("l\n")
    restore_snapshot("s", manager=world.manager_here)
    assert (own / "conversation.jsonl").read_bytes().startswith(conversation)
    assert b"second" not in (own / "conversation.jsonl").read_bytes()
    assert os.listdir(own / "outbox") == ["kept"]


def test_a_renamed_agent_is_restored_under_its_present_name(world: World) -> None:
    foo = world.create("foo", env={"A": "1"})
    create_snapshot("foo", "s", manager=world.manager_here)
    rename("foo", "bar", manager=world.manager_here)
    assert restore_snapshot("s", manager=world.manager_here).agent.name == "bar"
    env = parse_run_file(Path(world.own(foo).run).read_bytes()).env
    assert (env["A"], env["MNGR_AGENT_NAME"]) == ("1", "bar")


def test_a_branch_that_went_on_while_the_agent_is_on_another_is_left_alone(world: World) -> None:
    foo = world.create("foo")
    work = foo.work_dir
    create_snapshot("foo", "s", manager=world.manager_here)
    tip = world.commit(work, "later", "l\n")
    world.git_in(work, "checkout", "-q", "-b", "other")
    notes = restore_snapshot("s", manager=world.manager_here).notes
    assert world.git_in(work, "rev-parse", "mngr/foo") == tip
    assert world.git_in(work, "rev-parse", "HEAD") == foo.base_commit
    assert "mngr/foo" in notes[1]


def test_in_place_only_files_are_put_back(world: World) -> None:
    world.create("foo", transfer="none")
    create_snapshot("foo", "s", manager=world.manager_here)
    head = world.commit(world.repo, "later", "l\n")
    (world.repo / "added").write_text("a\n")
    restore_snapshot("s", manager=world.manager_here)
    assert world.git_in(world.repo, "rev-parse", "HEAD", "--abbrev-ref", "HEAD").split() == [head, "main"]
    assert set(world.tree(world.repo)) == {"file", ".gitignore"}


def test_a_folder_without_git_goes_back_exactly(world: World) -> None:
    folder = world.folder / "plain"
    (folder / "sub dir").mkdir(parents=True)
    (folder / "sub dir" / ".hidden").write_text("h\n")
    (folder / "file").write_text("f\n")
    world.manager_here = world.manager_in(folder)
    world.create("foo")
    tree = world.tree(folder)
    create_snapshot("foo", "s", manager=world.manager_here)
    (folder / "sub dir" / ".hidden").unlink()
    (folder / "file").write_text("changed\n")
    (folder / ".added").write_text("a\n")
    restore_snapshot("s", manager=world.manager_here)
    assert world.tree(folder) == tree
    restore_snapshot("s-before-restore-1", manager=world.manager_here)
    assert world.tree(folder) == {"file": "changed\n", ".added": "a\n"}


@TRANSFERS
def test_a_snapshot_outlives_its_agent_and_starts_a_new_one_without_words(
    world: World, transfer: str
) -> None:
    foo = world.create("foo", "sh", "-c", "sleep 1000", transfer=transfer, env={"A": "$x"}, labels={"k": "v"})
    head = world.commit(foo.work_dir, "early", "e\n")
    _make_dirty(Path(foo.work_dir))
    tree = world.tree(foo.work_dir)
    create_snapshot("foo", "s", manager=world.manager_here)
    destroy("foo", manager=world.manager_here)
    world.git_in(world.repo, "branch", "-D", "mngr/foo")
    world.git_in(world.repo, "-c", "gc.reflogExpireUnreachable=now", "gc", "-q", "--prune=now")
    assert not os.path.exists(foo.work_dir)
    with pytest.raises(NotFoundError, match="is no more") as caught:
        restore_snapshot("s", manager=world.manager_here)
    assert "--snapshot s" in caught.value.hint
    bar = create("bar", snapshot="s", manager=world.manager_here).agent
    assert (bar.type, bar.labels, bar.state, bar.branch) == ("command", {"k": "v"}, "RUNNING", "mngr/bar")
    run = parse_run_file(Path(world.own(bar).run).read_bytes())
    assert (run.argv, run.env["A"]) == (("sh", "-c", "sleep 1000"), "$x")
    del tree["ignored"]
    assert world.tree(bar.work_dir) == tree
    assert world.git_in(bar.work_dir, "rev-parse", "HEAD") == head
    assert world.git_in(bar.work_dir, "status", "--porcelain").split() == ["M", "file", "??", "dirty"]


def test_a_new_agent_from_a_snapshot_knows_the_conversation_and_takes_other_words(world: World) -> None:
    foo = world.create("foo", type="scripted")
    message("foo", "first", manager=world.manager_here)
    world.eventually(lambda: world.state("foo") == "WAITING")
    create_snapshot("foo", "s", manager=world.manager_here)
    bar = world.create("bar", snapshot="s", labels={"new": "1"})
    assert (bar.type, bar.labels) == ("scripted", {"new": "1"})
    assert b"first" in Path(world.own(bar).dir, "conversation.jsonl").read_bytes()
    assert sorted(os.listdir(world.paths.agents)) == sorted((foo.id, bar.id))
    baz = create(
        "baz", snapshot="s", type="command", args=("sleep", "1000"), manager=world.manager_here
    ).agent
    assert baz.type == "command"
    with pytest.raises(UsageError, match="--from"):
        create("qux", snapshot="s", source=".", manager=world.manager_here)


def test_a_folder_without_git_starts_a_new_agent_after_its_own_is_gone(world: World) -> None:
    folder = world.folder / "plain"
    folder.mkdir()
    (folder / "file").write_text("f\n")
    world.manager_here = world.manager_in(folder)
    world.create("foo")
    create_snapshot("foo", "s", manager=world.manager_here)
    destroy("foo", manager=world.manager_here)
    (folder / "file").unlink()
    bar = world.create("bar", snapshot="s")
    assert (world.tree(bar.work_dir), bar.transfer) == ({"file": "f\n"}, "copy")


@TRANSFERS
def test_destroying_a_snapshot_lets_go_of_its_commit(world: World, transfer: str) -> None:
    foo = world.create("foo", transfer=transfer)
    _make_dirty(Path(foo.work_dir))
    refs = world.refs()
    snapshot = create_snapshot("foo", "s", manager=world.manager_here)
    destroy_snapshot("s", manager=world.manager_here)
    assert list_snapshots(manager=world.manager_here) == ()
    assert world.refs() == refs
    assert world.git_in(snapshot.repository, "for-each-ref", "refs/mngr") == ""
    assert not Path(world.paths.snapshots, "s").exists()
    assert Path(foo.work_dir, "dirty").exists()
    with pytest.raises(NotFoundError, match='no snapshot "s"'):
        destroy_snapshot("s", manager=world.manager_here)


def test_names_are_numbered_unique_and_checked(world: World) -> None:
    world.create("foo")
    made = [create_snapshot("foo", manager=world.manager_here).name for _ in range(2)]
    assert made == ["foo-1", "foo-2"]
    with pytest.raises(RefusedError, match='"foo-1" is there already'):
        create_snapshot("foo", "foo-1", manager=world.manager_here)
    with pytest.raises(UsageError, match="cannot be used"):
        create_snapshot("foo", "../x", manager=world.manager_here)
    with pytest.raises(NotFoundError) as caught:
        restore_snapshot("fooo-1", manager=world.manager_here)
    assert 'did you mean "foo-1"' in caught.value.hint


def test_a_snapshot_that_fails_leaves_nothing(world: World) -> None:
    foo = world.create("foo")
    work = Path(foo.work_dir)
    work.rename(world.folder / "away")
    with pytest.raises(Exception, match="is gone"):
        create_snapshot("foo", "s", manager=world.manager_here)
    assert os.listdir(world.paths.snapshots) == []
    (world.folder / "away").rename(work)


def test_a_work_dir_that_holds_the_host_dir_is_refused(world: World) -> None:
    world.manager_here = world.manager_in(world.folder)
    world.create("foo")
    with pytest.raises(RefusedError, match="would hold itself"):
        create_snapshot("foo", "s", manager=world.manager_here)


def test_a_torn_record_is_a_warning_and_the_others_are_listed(world: World) -> None:
    world.create("foo")
    create_snapshot("foo", "a", manager=world.manager_here)
    create_snapshot("foo", "b", manager=world.manager_here)
    Path(world.paths.snapshots, "a", "snapshot.json").write_text('{"name": "a", \n')
    assert [snapshot.name for snapshot in list_snapshots(manager=world.manager_here)] == ["b"]
    assert "unreadable" in " ".join(world.manager_here.warnings)


def test_a_single_word_is_an_agent_or_a_name_for_the_agent_of_this_directory(world: World) -> None:
    with pytest.raises(NotFoundError, match="there is no agent"):
        agent_of_directory(world.manager_here)
    foo = world.create("foo")
    assert snapshot_target(["my-snapshot"], manager=world.manager_here) == (foo, "my-snapshot")
    assert snapshot_target(["foo"], manager=world.manager_here) == (foo, "")
    assert snapshot_target([], manager=world.manager_here) == (foo, "")
    bar = clone("foo", "bar", manager=world.manager_here).agent
    with pytest.raises(UsageError, match="could be any of: foo, bar"):
        snapshot_target(["my-snapshot"], manager=world.manager_here)
    inside = world.manager_in(Path(bar.work_dir))
    assert snapshot_target(["my-snapshot"], manager=inside)[0].id == bar.id
    assert snapshot_target(["foo", "x"], manager=inside)[0].id == foo.id


@pytest.mark.accept("Q16")
def test_the_environment_in_a_snapshot_is_private_and_goes_with_it(world: World) -> None:
    """A snapshot outlives its agent with the environment it was given: documented, and nobody else's to read."""
    previous = os.umask(0)
    try:
        world.create("foo", env={"TOKEN": "s3cret"})
        create_snapshot("foo", "kept", manager=world.manager_here)
        destroy("foo", manager=world.manager_here)
    finally:
        os.umask(previous)
    holders = [
        path for path in Path(world.host_dir).rglob("*") if path.is_file() and b"s3cret" in path.read_bytes()
    ]
    assert [path.name for path in holders] == ["run.sh"]
    assert stat.S_IMODE(holders[0].stat().st_mode) == 0o600
    above = [holders[0].parent, holders[0].parent.parent, Path(world.host_dir)]
    assert [oct(stat.S_IMODE(folder.stat().st_mode)) for folder in above] == ["0o700"] * 3
    destroy_snapshot("kept", manager=world.manager_here)
    assert not holders[0].parent.exists()
