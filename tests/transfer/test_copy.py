"""A folder as it is."""

import os
from pathlib import Path

import pytest

from mngr.errors import MngrError, UsageError
from mngr.hosts.local import LocalHost
from mngr.testing.transfers import (
    ODD_NAME,
    git,
    make_dirty,
    make_folder,
    make_repository,
    there,
    tree_here,
    tree_there,
)
from mngr.transfer.copy import CopyTransfer
from mngr.transfer.source import find_source


@pytest.mark.accept("K10")
def test_a_plain_folder_comes_whole(host: LocalHost, tmp_path: Path) -> None:
    path = make_folder(tmp_path / ODD_NAME)
    Path(path, "-x").write_text("an option?\n")
    Path(path, ".hidden").write_text("hidden\n")
    sent = CopyTransfer().send(find_source(path), host, f"{host.dir}/work/{ODD_NAME}", "mngr/one")
    assert (sent.branch, sent.base_commit) == ("", "")
    assert tree_there(host, sent.work_dir) == tree_here(path)


def test_a_repository_brings_uncommitted_and_ignored_files(host: LocalHost, tmp_path: Path) -> None:
    top = make_repository(tmp_path / "source")
    make_dirty(top)
    Path(top, "ignored").write_text("a secret the agent may need\n")
    sent = CopyTransfer().send(find_source(top), host, f"{host.dir}/work/one", "mngr/one")
    assert tree_there(host, sent.work_dir) == tree_here(top)
    assert there(host, sent, "symbolic-ref", "--short", "HEAD") == "mngr/one"


def test_a_copy_knows_nothing_of_the_sources_worktrees(host: LocalHost, tmp_path: Path) -> None:
    top = make_repository(tmp_path / "source")
    git(top, "worktree", "add", "-q", "-b", "side", str(tmp_path / "side"))
    sent = CopyTransfer().send(find_source(top), host, f"{host.dir}/work/one", "mngr/one")
    assert len(there(host, sent, "worktree", "list").split("\n")) == 1


def test_a_linked_worktree_is_refused(host: LocalHost, tmp_path: Path) -> None:
    top = make_repository(tmp_path / "source")
    git(top, "worktree", "add", "-q", "-b", "side", str(tmp_path / "side"))
    with pytest.raises(UsageError) as caught:
        CopyTransfer().send(find_source(str(tmp_path / "side")), host, f"{host.dir}/work/one", "mngr/one")
    assert "mirror" in caught.value.hint


def test_a_folder_is_not_copied_into_itself(tmp_path: Path) -> None:
    path = make_folder(tmp_path / "plain")
    host = LocalHost(f"{path}/.mngr")
    with pytest.raises(UsageError, match="itself"):
        CopyTransfer().send(find_source(path), host, f"{host.dir}/work/one", "mngr/one")


def test_a_folder_below_a_repository_comes_alone(host: LocalHost, tmp_path: Path) -> None:
    top = make_repository(tmp_path / "source")
    sent = CopyTransfer().send(find_source(f"{top}/bin"), host, f"{host.dir}/work/one", "mngr/one")
    assert os.listdir(sent.work_dir) == ["tool"]
    assert sent.branch == ""


@pytest.mark.accept("K4")
def test_a_copy_that_fails_half_way_leaves_nothing(host: LocalHost, tmp_path: Path) -> None:
    top = make_repository(tmp_path / "source")
    source = find_source(top)
    git(top, "checkout", "-q", "--orphan", "x")
    git(top, "branch", "-D", "main")
    Path(top, ".git", "objects", source.head[:2], source.head[2:]).unlink()
    with pytest.raises(MngrError):
        CopyTransfer().send(source, host, f"{host.dir}/work/one", "mngr/one")
    assert not os.path.exists(f"{host.dir}/work/one")
