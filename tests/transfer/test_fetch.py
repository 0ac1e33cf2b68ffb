"""What comes home and what is refused on the way."""

import os
from pathlib import Path

import pytest

from mngr.errors import MngrError, RefusedError
from mngr.hosts.local import LocalHost
from mngr.testing.transfers import (
    ODD_NAME,
    commit_there,
    git,
    make_folder,
    make_repository,
    portrait,
    there,
)
from mngr.transfer.copy import CopyTransfer
from mngr.transfer.mirror import MirrorTransfer
from mngr.transfer.pack import fetch_pack
from mngr.transfer.protocol import Brought, Sent
from mngr.transfer.source import find_source


@pytest.fixture
def top(tmp_path: Path) -> str:
    return make_repository(tmp_path / "source")


@pytest.fixture
def sent(host: LocalHost, top: str) -> Sent:
    return MirrorTransfer().send(find_source(top), host, f"{host.dir}/work/one", "mngr/one")


def bring(host: LocalHost, sent: Sent, top: str, branch: str = "mngr/one", *, dirty: bool = False) -> Brought:
    into = find_source(top, include_dirty=dirty)
    return MirrorTransfer().bring_back(host, sent.work_dir, into, branch)


def test_a_branch_that_is_checked_out_is_not_moved(
    host: LocalHost, sent: Sent, top: str, tmp_path: Path
) -> None:
    git(top, "worktree", "add", "-q", "-b", "mngr/one", str(tmp_path / ODD_NAME))
    commit_there(host, sent, "file", "work")
    before = portrait(top)
    with pytest.raises(RefusedError) as caught:
        bring(host, sent, top)
    assert str(tmp_path / ODD_NAME) in caught.value.message
    with pytest.raises(RefusedError, match="checked out"):
        bring(host, sent, top, "main")
    assert portrait(top) == before


def test_an_unborn_branch_checked_out_is_not_made(host: LocalHost, sent: Sent, tmp_path: Path) -> None:
    empty = str(tmp_path / "empty")
    git(str(tmp_path), "init", "-q", "-b", "mngr/one", empty)
    with pytest.raises(RefusedError, match="checked out"):
        bring(host, sent, empty)


def test_commits_that_only_the_source_has_are_not_lost(host: LocalHost, sent: Sent, top: str) -> None:
    commit_there(host, sent, "file", "one")
    bring(host, sent, top)
    there(host, sent, "commit", "-q", "--amend", "-m", "rewritten")
    before = portrait(top)
    with pytest.raises(RefusedError, match="fast-forward") as caught:
        bring(host, sent, top)
    assert "git branch -m mngr/one" in caught.value.hint
    assert portrait(top) == before


def test_a_snapshot_that_came_before_is_replaced_by_the_real_commit(
    host: LocalHost, sent: Sent, top: str
) -> None:
    host.write(f"{sent.work_dir}/new", b"draft")
    assert bring(host, sent, top).notes == (
        "uncommitted work stays there (1 untracked); --include-dirty brings it",
    )
    draft = bring(host, sent, top, dirty=True)
    assert git(top, "show", "mngr/one:new") == "draft"
    commit = commit_there(host, sent, "new", "final")
    brought = bring(host, sent, top)
    assert (brought.before, brought.after) == (draft.after, commit)
    assert any("snapshot" in note for note in brought.notes)


def test_a_branch_of_another_name_is_said(host: LocalHost, sent: Sent, top: str) -> None:
    there(host, sent, "checkout", "-q", "-b", "elsewhere")
    commit = commit_there(host, sent, "file", "one")
    brought = bring(host, sent, top)
    assert brought.after == commit
    assert any('"elsewhere"' in note for note in brought.notes)


def test_a_branch_in_the_way_is_an_error_and_moves_nothing(host: LocalHost, sent: Sent, top: str) -> None:
    commit_there(host, sent, "file", "one")
    git(top, "branch", "mngr")
    before = portrait(top)
    with pytest.raises(RefusedError, match="mngr"):
        bring(host, sent, top)
    assert portrait(top) == before


@pytest.mark.accept("Q4", "Q5")
def test_malformed_objects_are_refused(host: LocalHost, sent: Sent, top: str) -> None:
    blob = there(host, sent, "hash-object", "-w", "README")
    there(host, sent, "config", "core.protectHFS", "false")
    entry = f"100644 blob {blob}\t.git\n".encode()
    tree = host.run(("git", "-C", sent.work_dir, "mktree"), stdin=entry).text.strip()
    evil = there(host, sent, "commit-tree", "-p", "HEAD", "-m", "evil", tree)
    there(host, sent, "update-ref", "refs/heads/mngr/one", evil)
    before = portrait(top)
    with pytest.raises(MngrError, match=r"fsck|hasDotgit"):
        bring(host, sent, top)
    assert portrait(top) == before


@pytest.mark.accept("Q4", "Q5")
def test_a_repository_cannot_send_us_elsewhere(host: LocalHost, sent: Sent, top: str, tmp_path: Path) -> None:
    trap = tmp_path / "ran"
    there(host, sent, "config", "core.fsmonitor", f"touch '{trap}'; false")
    there(host, sent, "config", "uploadpack.packObjectsHook", f"touch '{trap}'; exec git pack-objects")
    commit = commit_there(host, sent, "file", "one")
    trap.unlink(missing_ok=True)
    assert bring(host, sent, top).after == commit
    assert not trap.exists()


@pytest.mark.parametrize("gone", ["", "/.git"])
def test_a_vanished_work_dir_is_said(host: LocalHost, sent: Sent, top: str, gone: str) -> None:
    host.run(("rm", "-rf", f"{sent.work_dir}{gone}"))
    # The enclosing repository must not be taken for the agent's.
    git(host.dir, "init", "-q")
    with pytest.raises(MngrError) as caught:
        bring(host, sent, top)
    assert sent.work_dir in caught.value.message
    assert caught.value.hint


def test_commits_for_a_folder_without_git_have_nowhere_to_go(host: LocalHost, tmp_path: Path) -> None:
    plain = make_folder(tmp_path / "plain")
    sent = CopyTransfer().send(find_source(plain), host, f"{host.dir}/work/plain", "mngr/plain")
    with pytest.raises(RefusedError) as caught:
        CopyTransfer().bring_back(host, sent.work_dir, find_source(plain), "mngr/plain")
    assert "--files" in caught.value.hint


def test_a_report_without_its_commits_is_an_error(host: LocalHost, sent: Sent, top: str) -> None:
    commit_there(host, sent, "file", "one")
    host.run(("sh", "-c", 'rm -rf "$1"/.git/objects/??', "sh", sent.work_dir))
    with pytest.raises(MngrError):
        bring(host, sent, top)
    assert git(top, "for-each-ref", "refs/mngr") == ""
    assert git(top, "branch", "--list", "mngr/*") == ""


def test_nothing_of_ours_stays_in_the_source(host: LocalHost, sent: Sent, top: str) -> None:
    commit_there(host, sent, "file", "one")
    bring(host, sent, top)
    assert git(top, "for-each-ref", "refs/mngr") == ""


@pytest.mark.accept("Q5")
@pytest.mark.parametrize("count", [1, 150])
def test_more_commits_than_the_limit_are_refused_and_leave_nothing(
    host: LocalHost, sent: Sent, top: str, count: int
) -> None:
    for number in range(count):
        host.write(f"{sent.work_dir}/noise-{number}", os.urandom((1 << 20) // count))
    commit = commit_there(host, sent, "more", "more")
    before = sorted(Path(top, ".git/objects/pack").iterdir())
    incoming = [f"{commit}:refs/mngr/incoming/x"]
    with pytest.raises(MngrError):
        fetch_pack(f"{top}/.git", host, sent.work_dir, incoming, most_bytes=100_000 if count > 1 else 1000)
    assert sorted(Path(top, ".git/objects/pack").iterdir()) == before
    assert git(top, "for-each-ref", "refs/mngr") == ""
    fetch_pack(f"{top}/.git", host, sent.work_dir, incoming, most_bytes=10 << 20)
    assert git(top, "rev-parse", "refs/mngr/incoming/x") == commit
