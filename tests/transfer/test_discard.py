"""Exactly what a transfer made goes, and never the only copy of a commit."""

import os
from pathlib import Path

import pytest
from msgspec.structs import replace

from mngr.errors import RefusedError
from mngr.hosts.local import LocalHost
from mngr.testing.transfers import commit_there, git, make_folder, make_repository, there
from mngr.transfer.copy import CopyTransfer
from mngr.transfer.discard import discard, unmerged_commits
from mngr.transfer.mirror import MirrorTransfer
from mngr.transfer.no_transfer import NoneTransfer
from mngr.transfer.protocol import Sent, Transfer
from mngr.transfer.source import find_source
from mngr.transfer.view import checkout_of
from mngr.transfer.worktree import WorktreeTransfer

BOTH: list[Transfer] = [WorktreeTransfer(), MirrorTransfer()]


@pytest.fixture
def top(tmp_path: Path) -> str:
    return make_repository(tmp_path / "source")


def send(transfer: Transfer, host: LocalHost, top: str) -> Sent:
    return transfer.send(find_source(top), host, f"{host.dir}/work/one", "mngr/one")


@pytest.mark.parametrize("transfer", BOTH, ids=lambda transfer: transfer.name)
def test_a_merged_branch_is_not_worth_keeping(host: LocalHost, top: str, transfer: Transfer) -> None:
    sent = send(transfer, host, top)
    commit_there(host, sent, "one", "one")
    commit_there(host, sent, "two", "two")
    place = checkout_of(host, sent.work_dir, transfer.name, find_source(top))
    assert unmerged_commits(place, sent, find_source(top)) == 2
    transfer.bring_back(host, sent.work_dir, find_source(top), sent.branch)
    git(top, "merge", "-q", "--ff-only", sent.branch)
    assert unmerged_commits(place, sent, find_source(top)) == 0
    assert discard(host, sent, find_source(top), transfer.name) == ()
    assert not os.path.exists(sent.work_dir)


@pytest.mark.parametrize("keeper", ["tag", "remote", "branch"])
def test_a_tag_a_remote_or_another_branch_keeps_commits_too(host: LocalHost, top: str, keeper: str) -> None:
    sent = send(WorktreeTransfer(), host, top)
    commit = commit_there(host, sent, "one", "one")
    ref = {"tag": "refs/tags/t", "remote": "refs/remotes/origin/x", "branch": "refs/heads/other"}[keeper]
    git(top, "update-ref", ref, commit)
    assert discard(host, sent, find_source(top), "worktree") == ()
    assert git(top, "branch", "--list", "mngr/*") == ""


def test_a_base_that_only_a_detached_head_holds_is_not_the_agents_work(host: LocalHost, top: str) -> None:
    git(top, "checkout", "-q", "--detach")
    git(top, "commit", "-q", "--allow-empty", "-m", "detached")
    sent = send(WorktreeTransfer(), host, top)
    commit_there(host, sent, "one", "one")
    notes = discard(host, sent, find_source(top), "worktree")
    assert notes == (f"kept branch mngr/one in {top}: 1 commit not merged anywhere",)


def test_commits_on_no_branch_get_one(host: LocalHost, top: str) -> None:
    sent = send(WorktreeTransfer(), host, top)
    there(host, sent, "checkout", "-q", "--detach")
    commit = commit_there(host, sent, "one", "one")
    notes = discard(host, sent, find_source(top), "worktree")
    assert notes == (f"kept 1 commit that were on no branch as mngr/one-detached in {top}",)
    assert git(top, "rev-parse", "mngr/one-detached") == commit


def test_a_branch_that_the_user_checked_out_is_kept(host: LocalHost, top: str) -> None:
    sent = send(WorktreeTransfer(), host, top)
    there(host, sent, "checkout", "-q", "--detach")
    git(top, "checkout", "-q", sent.branch)
    notes = discard(host, sent, find_source(top), "worktree")
    assert notes == (f"kept branch mngr/one in {top}: it is checked out in {top}",)


@pytest.mark.accept("K5")
@pytest.mark.parametrize("transfer", BOTH, ids=lambda transfer: transfer.name)
def test_what_has_vanished_is_no_obstacle(host: LocalHost, top: str, transfer: Transfer) -> None:
    sent = send(transfer, host, top)
    host.run(("rm", "-rf", sent.work_dir))
    assert discard(host, sent, find_source(top), transfer.name) == ()
    assert git(top, "branch", "--list", "mngr/*") == ""
    assert len(git(top, "worktree", "list").split("\n")) == 1
    sent, source = send(transfer, host, top), find_source(top)
    host.run(("rm", "-rf", top))
    assert discard(host, sent, source, transfer.name) == ()
    assert not os.path.exists(sent.work_dir)


def test_a_worktree_whose_link_the_agent_broke_still_goes(host: LocalHost, top: str) -> None:
    sent = send(WorktreeTransfer(), host, top)
    os.unlink(f"{sent.work_dir}/.git")
    assert discard(host, sent, find_source(top), "worktree") == ()
    assert not os.path.exists(sent.work_dir)
    assert len(git(top, "worktree", "list").split("\n")) == 1


def test_read_only_folders_go_too(host: LocalHost, top: str) -> None:
    sent = send(MirrorTransfer(), host, top)
    host.run(("sh", "-c", 'mkdir "$1/cache"; touch "$1/cache/x"; chmod 555 "$1/cache"', "sh", sent.work_dir))
    assert discard(host, sent, find_source(top), "mirror") == ()
    assert not os.path.exists(sent.work_dir)


@pytest.mark.parametrize("place", ["elsewhere", "host/work/../../elsewhere", "host/agents"])
def test_a_folder_that_mngr_did_not_make_is_kept(
    host: LocalHost, top: str, tmp_path: Path, place: str
) -> None:
    victim = tmp_path / place
    os.makedirs(victim)
    sent = Sent(work_dir=str(victim), owns_work_dir=True)
    assert "kept" in discard(host, sent, find_source(top), "mirror")[0]
    assert victim.exists()


def test_a_work_dir_that_the_user_chose_goes_when_we_made_it(
    host: LocalHost, top: str, tmp_path: Path
) -> None:
    sent = MirrorTransfer().send(find_source(top), host, str(tmp_path / "chosen"), "mngr/one")
    assert discard(host, sent, find_source(top), "mirror") == ()
    assert not os.path.exists(tmp_path / "chosen")


def test_working_in_place_leaves_the_place(host: LocalHost, tmp_path: Path) -> None:
    plain = make_folder(tmp_path / "plain")
    sent = send(NoneTransfer(), host, plain)
    assert sent.work_dir == plain
    assert discard(host, sent, find_source(plain), "none") == ()
    assert os.path.exists(f"{plain}/README")


def test_work_that_was_never_pulled_is_fetched_before_a_copy_goes(host: LocalHost, top: str) -> None:
    sent = send(CopyTransfer(), host, top)
    commit = commit_there(host, sent, "one", "one")
    git(top, "branch", "mngr/one", git(top, "commit-tree", "-m", "unrelated", "HEAD^{tree}"))
    notes = discard(host, sent, find_source(top), "copy")
    assert notes == (f"kept branch mngr/one-2 in {top}: 1 commit not merged anywhere",)
    assert git(top, "rev-parse", "mngr/one-2") == commit


def test_an_unreachable_answer_is_not_taken_for_nothing_to_keep(host: LocalHost, top: str) -> None:
    sent = send(MirrorTransfer(), host, top)
    commit_there(host, sent, "one", "one")
    git(top, "checkout", "-q", "-b", "mngr")
    with pytest.raises(RefusedError):
        discard(host, replace(sent, branch="mngr/one"), find_source(top), "mirror")
    assert os.path.exists(sent.work_dir)
