import os
from pathlib import Path

import msgspec
import pytest
from tests.support.world import World

from mngr.actions.create.clone import clone
from mngr.actions.create.steps import AgentDiedError
from mngr.actions.destroy import destroy
from mngr.actions.label import label
from mngr.actions.message import message
from mngr.actions.stop import stop
from mngr.errors import MngrError, NotFoundError, RefusedError
from mngr.model.agent import Agent
from mngr.store.runfile import RunFile, parse_run_file

pytestmark = pytest.mark.accept("K1")


def _run_file(world: World, agent: Agent) -> RunFile:
    return parse_run_file(Path(world.own(agent).run).read_bytes())


@pytest.mark.parametrize("transfer", ["worktree", "mirror", "copy"])
def test_a_clone_has_the_commits_and_the_uncommitted_work_on_a_branch_of_its_own(
    world: World, transfer: str
) -> None:
    foo = world.create("foo", transfer=transfer)
    work = Path(foo.work_dir)
    head = world.commit(work, "new", "committed\n")
    (work / "file").write_text("changed\n")
    (work / "un tracked").write_text("u\n")
    (work / ".gitignore").unlink()
    status = world.git_in(work, "status", "--porcelain")
    bar = clone("foo", "bar", manager=world.manager_here).agent
    assert (bar.name, bar.state, bar.branch) == ("bar", "RUNNING", "mngr/bar")
    assert (bar.transfer, bar.source) == ("mirror" if transfer == "copy" else transfer, str(world.repo))
    assert world.git_in(bar.work_dir, "rev-parse", "HEAD", "--abbrev-ref", "HEAD").split() == [
        head,
        "mngr/bar",
    ]
    assert world.tree(bar.work_dir) == world.tree(work)
    assert sorted(world.git_in(bar.work_dir, "status", "--porcelain").split()) == sorted(status.split())
    assert world.git_in(work, "status", "--porcelain") == status
    assert not [ref for ref in world.refs() if ref.startswith("refs/mngr/")]


def test_the_source_runs_on_untouched(world: World) -> None:
    foo = world.create("foo")
    pid = Path(world.own(foo).pid).read_text()
    before = Path(world.own(foo).events).read_bytes()
    clone(foo, "bar", manager=world.manager_here)
    assert world.state("foo") == "RUNNING"
    assert Path(world.own(foo).pid).read_text() == pid
    assert Path(world.own(foo).events).read_bytes() == before


def test_argv_env_labels_windows_and_recording_are_the_same_and_it_is_told_its_own_name(world: World) -> None:
    foo = world.create(
        "foo", "sh", "-c", "sleep 1000", "x y", env={"A.B": "$(id)\n", "PLAIN": "'"}, labels={"k": "v"},
        windows={"log": "sleep 1000"}, record=True,
    )  # fmt: skip
    label("foo", {"later": "1"}, manager=world.manager_here)
    bar = clone(foo, manager=world.manager_here).agent
    assert bar.name not in ("", "foo")
    assert bar.labels == {"k": "v", "later": "1"}
    one, two = _run_file(world, foo), _run_file(world, bar)
    assert two.argv == one.argv
    assert two.cwd == two.env["MNGR_AGENT_WORK_DIR"] == bar.work_dir != foo.work_dir
    assert two.env["MNGR_AGENT_NAME"] == bar.name
    assert two.env["MNGR_AGENT_ID"] == bar.id
    told = [name for name in one.env if name.startswith("MNGR_")]
    assert {k: v for k, v in one.env.items() if k not in told} == {
        k: v for k, v in two.env.items() if k not in told
    }
    spec = msgspec.json.decode(Path(world.own(bar).spec).read_bytes())
    assert (spec["windows"], spec["record"]) == ({"log": "sleep 1000"}, True)


def test_a_conversation_goes_on_in_both(world: World) -> None:
    foo = world.create("foo", type="scripted")
    message("foo", "remember this", manager=world.manager_here)
    conversation = Path(world.own(foo).dir, "conversation.jsonl")
    world.eventually(lambda: world.state("foo") == "WAITING")
    bar = clone("foo", "bar", manager=world.manager_here).agent
    copied = Path(world.own(bar).dir, "conversation.jsonl")
    assert copied.read_bytes().startswith(conversation.read_bytes())
    assert b"remember this" in copied.read_bytes()
    message("bar", "only to bar", manager=world.manager_here)
    world.eventually(lambda: b"only to bar" in copied.read_bytes())
    assert b"only to bar" not in conversation.read_bytes()


def test_an_agent_in_place_gets_a_clone_with_a_worktree(world: World) -> None:
    world.create("foo", transfer="none")
    (world.repo / "un tracked").write_text("u\n")
    bar = clone("foo", "bar", manager=world.manager_here).agent
    assert bar.transfer == "worktree"
    assert world.tree(bar.work_dir) == world.tree(world.repo)
    destroy("bar", manager=world.manager_here)
    assert (world.repo / "un tracked").exists()


def test_a_folder_without_git_is_copied_whole(world: World) -> None:
    folder = world.folder / "plain"
    (folder / "sub dir").mkdir(parents=True)
    (folder / "sub dir" / ".hidden").write_text("h\n")
    os.symlink("sub dir", folder / "link")
    (folder / "tool").write_text("#!/bin/sh\n")
    (folder / "tool").chmod(0o755)
    world.manager_here = world.manager_in(folder)
    foo = world.create("foo")
    bar = clone(foo, "bar", manager=world.manager_here).agent
    work = Path(bar.work_dir)
    assert (foo.work_dir, bar.transfer, bar.branch) == (str(folder), "copy", "")
    assert world.tree(work) == world.tree(folder)
    assert os.readlink(work / "link") == "sub dir"
    assert os.access(work / "tool", os.X_OK)
    destroy("bar", manager=world.manager_here)
    assert not work.exists()
    assert (folder / "tool").exists()


def test_a_stopped_agent_can_be_cloned_and_stays_stopped(world: World) -> None:
    world.create("foo")
    stop("foo", manager=world.manager_here)
    assert clone("foo", "bar", manager=world.manager_here).agent.state == "RUNNING"
    assert world.state("foo") == "STOPPED"


def test_commits_that_only_the_clone_still_holds_survive_its_end(world: World) -> None:
    foo = world.create("foo")
    head = world.commit(foo.work_dir, "new", "x\n")
    clone("foo", "bar", manager=world.manager_here)
    destroy("foo", manager=world.manager_here)
    assert "mngr/foo" not in world.branches()
    notes = destroy("bar", manager=world.manager_here)[0].notes
    assert world.git_in(world.repo, "rev-parse", "mngr/bar") == head
    assert "kept branch mngr/bar" in " ".join(notes)


def test_the_clone_of_a_clone_has_the_same_source_and_base(world: World) -> None:
    foo = world.create("foo", transfer="mirror")
    world.commit(foo.work_dir, "new", "x\n")
    bar = clone("foo", "bar", manager=world.manager_here).agent
    baz = clone("bar", "baz", manager=world.manager_here).agent
    assert (baz.source, baz.base_commit) == (foo.source, foo.base_commit)
    assert world.tree(baz.work_dir) == world.tree(bar.work_dir)


@pytest.mark.parametrize("transfer", ["worktree", "mirror"])
def test_a_repository_without_commits_can_be_cloned(world: World, transfer: str) -> None:
    empty = world.folder / "empty"
    empty.mkdir()
    world.git_in(empty, "init", "-q", "-b", "main")
    world.manager_here = world.manager_in(empty)
    foo = world.create("foo", transfer=transfer)
    Path(foo.work_dir, "first").write_text("f\n")
    bar = clone("foo", "bar", manager=world.manager_here).agent
    assert world.tree(bar.work_dir) == {"first": "f\n"}


def test_a_mirror_whose_source_is_gone_can_still_be_cloned(world: World) -> None:
    foo = world.create("foo", transfer="mirror")
    head = world.commit(foo.work_dir, "new", "x\n")
    Path(foo.work_dir, "file").write_text("dirty\n")
    world.repo.rename(world.folder / "moved away")
    world.manager_here = world.manager_in(world.home)
    bar = clone("foo", "bar", manager=world.manager_here).agent
    assert world.git_in(bar.work_dir, "rev-parse", "HEAD") == head
    assert world.tree(bar.work_dir) == world.tree(foo.work_dir)
    assert os.listdir(f"{world.host_dir}/tmp") == []


@pytest.mark.accept("K4")
@pytest.mark.parametrize("transfer", ["worktree", "mirror", "none"])
def test_a_clone_that_fails_leaves_nothing(world: World, transfer: str) -> None:
    program = world.folder / "program"
    program.write_text("#!/bin/sh\nexec sleep 1000\n")
    program.chmod(0o755)
    world.create("foo", str(program), transfer=transfer)
    program.unlink()
    refs, dirs = world.refs(), sorted(os.listdir(world.paths.work))
    with pytest.raises(MngrError, match="could not be started"):
        clone("foo", "bar", manager=world.manager_here)
    assert (world.refs(), sorted(os.listdir(world.paths.work))) == (refs, dirs)
    assert world.names() == ["foo"]
    assert os.listdir(world.paths.names) == ["foo"]
    assert world.sessions() == {"mngr-foo"}


def test_a_program_that_dies_at_once_is_reported_and_kept(world: World) -> None:
    world.create("foo", "sh", "-c", "[ -e ran ] && exit 7; touch ran; sleep 1000")
    world.eventually(lambda: Path(next(iter(world.worktrees())), "ran").exists())
    with pytest.raises(AgentDiedError, match="exit code 7") as caught:
        clone("foo", "bar", manager=world.manager_here)
    assert caught.value.change.agent.state == "DONE"


def test_a_taken_name_and_an_unknown_agent_are_refused(world: World) -> None:
    world.create("foo")
    with pytest.raises(RefusedError, match='"foo" is there already'):
        clone("foo", "foo", manager=world.manager_here)
    with pytest.raises(NotFoundError, match='no agent "fop"'):
        clone("fop", "bar", manager=world.manager_here)
