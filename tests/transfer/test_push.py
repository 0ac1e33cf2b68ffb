"""New commits reach an agent's files, or nothing changes there."""

from pathlib import Path

import pytest

from mngr.errors import RefusedError, UsageError
from mngr.hosts.local import LocalHost
from mngr.testing.transfers import commit_there, git, make_repository, plant_hooks, there
from mngr.transfer.mirror import MirrorTransfer
from mngr.transfer.protocol import Sent
from mngr.transfer.push import push_commits
from mngr.transfer.source import find_source
from mngr.transfer.view import Checkout, checkout_of
from mngr.transfer.worktree import WorktreeTransfer


@pytest.fixture
def top(tmp_path: Path) -> str:
    return make_repository(tmp_path / "source")


@pytest.fixture(params=["mirror", "worktree"])
def sent(request: pytest.FixtureRequest, host: LocalHost, top: str) -> Sent:
    transfer = MirrorTransfer() if request.param == "mirror" else WorktreeTransfer()
    return transfer.send(find_source(top), host, f"{host.dir}/work/one", "mngr/one")


def place(host: LocalHost, sent: Sent, top: str) -> Checkout:
    transfer = "mirror" if Path(sent.work_dir, ".git").is_dir() else "worktree"
    return checkout_of(host, sent.work_dir, transfer, find_source(top))


def commit_here(top: str, text: str) -> str:
    Path(top, "README").write_text(text)
    git(top, "commit", "-q", "-a", "-m", text)
    return git(top, "rev-parse", "HEAD")


def test_branch_and_files_move_forward(host: LocalHost, sent: Sent, top: str, tmp_path: Path) -> None:
    commit = commit_here(top, "news")
    trap = plant_hooks(sent.work_dir if Path(sent.work_dir, ".git").is_dir() else top, tmp_path / "hook ran")
    host.write(f"{sent.work_dir}/untracked", b"kept")
    brought = push_commits(find_source(top), place(host, sent, top))
    assert not trap.exists()
    assert (brought.branch, brought.before, brought.after) == ("mngr/one", sent.base_commit, commit)
    assert host.read(f"{sent.work_dir}/README") == b"news"
    assert there(host, sent, "status", "--porcelain") == "?? untracked"
    assert there(host, sent, "for-each-ref", "refs/mngr") == ""
    assert push_commits(find_source(top), place(host, sent, top)).notes == ("nothing new",)


def test_an_agent_with_commits_of_its_own_is_left_alone(host: LocalHost, sent: Sent, top: str) -> None:
    own = commit_there(host, sent, "file", "own")
    commit_here(top, "news")
    with pytest.raises(RefusedError, match="commits of its own") as caught:
        push_commits(find_source(top), place(host, sent, top))
    assert "mngr pull" in caught.value.hint
    assert there(host, sent, "rev-parse", "HEAD") == own
    assert there(host, sent, "for-each-ref", "refs/mngr") == ""


@pytest.mark.parametrize("name", ["README", "new"])
def test_uncommitted_files_are_not_overwritten(host: LocalHost, sent: Sent, top: str, name: str) -> None:
    Path(top, "new").write_text("new\n")
    git(top, "add", "-A")
    commit_here(top, "news")
    host.write(f"{sent.work_dir}/{name}", b"uncommitted")
    with pytest.raises(RefusedError, match=name):
        push_commits(find_source(top), place(host, sent, top))
    assert host.read(f"{sent.work_dir}/{name}") == b"uncommitted"
    assert there(host, sent, "rev-parse", "HEAD") == sent.base_commit


def test_an_unknown_ref_is_refused(host: LocalHost, sent: Sent, top: str) -> None:
    with pytest.raises(UsageError, match="nowhere"):
        push_commits(find_source(top), place(host, sent, top), ref="nowhere")


def test_an_empty_copy_takes_its_first_commit(host: LocalHost, tmp_path: Path) -> None:
    empty = str(tmp_path / "empty")
    git(str(tmp_path), "init", "-q", "-b", "main", empty)
    sent = MirrorTransfer().send(find_source(empty), host, f"{host.dir}/work/e", "mngr/e")
    Path(empty, "README").write_text("first\n")
    git(empty, "add", "-A")
    git(empty, "commit", "-q", "-m", "first")
    assert push_commits(find_source(empty), place(host, sent, empty)).before == ""
    assert host.read(f"{sent.work_dir}/README") == b"first\n"
