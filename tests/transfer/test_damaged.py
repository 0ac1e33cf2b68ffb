"""A repository that its agent, or a full disk, damaged: the agent can still be destroyed, and no commit goes unsaid."""

import os
from collections.abc import Callable
from pathlib import Path

import pytest
from msgspec.structs import replace

from mngr.errors import MngrError
from mngr.hosts.local import LocalHost
from mngr.testing.transfers import commit_there, git, make_repository
from mngr.transfer.copy import CopyTransfer
from mngr.transfer.discard import discard
from mngr.transfer.mirror import MirrorTransfer
from mngr.transfer.protocol import Sent, Transfer
from mngr.transfer.source import find_source
from mngr.transfer.worktree import WorktreeTransfer

pytestmark = pytest.mark.accept("Q15")

OWN: list[Transfer] = [MirrorTransfer(), CopyTransfer()]


@pytest.fixture
def top(tmp_path: Path) -> str:
    return make_repository(tmp_path / "source")


def send(transfer: Transfer, host: LocalHost, top: str) -> Sent:
    return transfer.send(find_source(top), host, f"{host.dir}/work/one", "mngr/one")


def git_dir(sent: Sent) -> Path:
    return Path(git(sent.work_dir, "rev-parse", "--absolute-git-dir"))


def _fifo(path: Path) -> None:
    path.unlink()
    os.mkfifo(path)


HARMLESS: dict[str, Callable[[Path], object]] = {
    "an empty index": lambda place: (place / "index").write_bytes(b""),
    "half an index": lambda place: (place / "index").write_bytes((place / "index").read_bytes()[:50]),
    "a pipe for an index": lambda place: _fifo(place / "index"),
    "a lock that stayed": lambda place: (place / "index.lock").touch(),
}
HARMFUL: dict[str, Callable[[Path], object]] = {
    "a corrupt HEAD": lambda place: (place / "HEAD").write_text("nonsense\n"),
    "a branch with control characters": lambda place: (place / "HEAD").write_text(
        "ref: refs/heads/a\x1b[2Jb\n"
    ),
    "a corrupt config": lambda place: (place / "config").write_text("[core\n"),
    "lost objects": lambda place: _lose(place),
}


def _lose(place: Path) -> None:
    for path in (place / "objects").glob("??/*"):
        path.unlink()


@pytest.mark.parametrize("damage", HARMLESS)
@pytest.mark.parametrize("transfer", [*OWN, WorktreeTransfer()], ids=lambda transfer: transfer.name)
def test_a_damaged_index_keeps_neither_the_agent_nor_its_commits_back(
    host: LocalHost, top: str, transfer: Transfer, damage: str
) -> None:
    """TH-M2."""
    sent = send(transfer, host, top)
    commit = commit_there(host, sent, "one", "one")
    HARMLESS[damage](git_dir(sent))
    notes = discard(host, sent, find_source(top), transfer.name)
    assert notes == (f"kept branch mngr/one in {top}: 1 commit not merged anywhere",)
    assert git(top, "rev-parse", "mngr/one") == commit
    assert not os.path.exists(sent.work_dir)


@pytest.mark.parametrize("damage", HARMFUL)
@pytest.mark.parametrize("transfer", OWN, ids=lambda transfer: transfer.name)
def test_commits_that_cannot_be_read_go_only_when_that_is_asked_for(
    host: LocalHost, top: str, transfer: Transfer, damage: str
) -> None:
    """TH-M2."""
    sent = send(transfer, host, top)
    commit_there(host, sent, "one", "one")
    HARMFUL[damage](git_dir(sent))
    with pytest.raises(MngrError, match="nothing was removed") as caught:
        discard(host, sent, find_source(top), transfer.name)
    assert "--discard-unreadable" in caught.value.hint
    assert caught.value.message.isprintable()
    assert os.path.exists(sent.work_dir)
    (note,) = discard(host, sent, find_source(top), transfer.name, discard_unreadable=True)
    assert note.startswith("discarded what could not be read")
    assert not os.path.exists(sent.work_dir)
    assert git(top, "for-each-ref", "refs/mngr") == ""


@pytest.mark.parametrize("damage", ["a corrupt HEAD", "a branch with control characters"])
def test_a_damaged_worktree_goes_and_its_branch_stays(host: LocalHost, top: str, damage: str) -> None:
    """TH-M2."""
    sent = send(WorktreeTransfer(), host, top)
    commit = commit_there(host, sent, "one", "one")
    HARMFUL[damage](git_dir(sent))
    notes = discard(host, sent, find_source(top), "worktree")
    assert notes == (f"kept branch mngr/one in {top}: 1 commit not merged anywhere",)
    assert git(top, "rev-parse", "mngr/one") == commit
    assert not os.path.exists(sent.work_dir)
    assert len(git(top, "worktree", "list").split("\n")) == 1


def test_a_recorded_branch_that_git_does_not_take_is_no_obstacle(host: LocalHost, top: str) -> None:
    """TH-M2."""
    sent = send(MirrorTransfer(), host, top)
    commit = commit_there(host, sent, "one", "one")
    notes = discard(host, replace(sent, branch="mngr/\x1b[2J\n"), find_source(top), "mirror")
    assert notes == (f"kept branch mngr/kept in {top}: 1 commit not merged anywhere",)
    assert git(top, "rev-parse", "mngr/kept") == commit


def test_a_worktree_that_was_made_to_lead_elsewhere_is_not_looked_into(
    host: LocalHost, top: str, tmp_path: Path
) -> None:
    other = make_repository(tmp_path / "other")
    sent = send(WorktreeTransfer(), host, top)
    Path(sent.work_dir, ".git").write_text(f"gitdir: {other}/.git\n")
    into = find_source(top, include_dirty=True)
    with pytest.raises(MngrError, match="leads to another one"):
        WorktreeTransfer().bring_back(host, sent.work_dir, into, "mngr/one")
    assert git(top, "branch", "--list", "mngr/*-uncommitted") == ""


def test_uncommitted_work_beside_an_empty_index_is_brought_whole(host: LocalHost, top: str) -> None:
    """TH-M2."""
    sent = send(MirrorTransfer(), host, top)
    host.write(f"{sent.work_dir}/new", b"fresh\n")
    host.write(f"{sent.work_dir}/README", b"changed\n")
    HARMLESS["an empty index"](git_dir(sent))
    into = find_source(top, include_dirty=True)
    brought = MirrorTransfer().bring_back(host, sent.work_dir, into, "mngr/one")
    changed = git(top, "diff", "--name-status", sent.base_commit, brought.after)
    assert changed.split() == ["M", "README", "A", "new"]
