"""Where layers are found."""

import os
from pathlib import Path

import pytest

from mngr.config.locate import find_places, host_dir, main_root, repo_root
from mngr.errors import UsageError


def test_the_host_dir_is_absolute_and_moves_with_the_environment(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    assert host_dir({"HOME": "/h"}) == "/h/.mngr"
    assert host_dir({"HOME": "/h", "MNGR_HOST_DIR": ""}) == "/h/.mngr"
    assert host_dir({"HOME": "/h", "MNGR_HOST_DIR": "/x/../y/"}) == "/y"
    assert host_dir({"HOME": "/h", "MNGR_HOST_DIR": "~/z"}) == "/h/z"
    assert host_dir({"HOME": "/h", "MNGR_HOST_DIR": "rel"}) == str(tmp_path / "rel")
    assert os.path.isabs(host_dir({}))


def test_a_relative_host_dir_in_a_vanished_directory_is_said(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    gone = tmp_path / "gone"
    gone.mkdir()
    monkeypatch.chdir(gone)
    gone.rmdir()
    with pytest.raises(UsageError, match="no longer exists"):
        host_dir({"HOME": "/h", "MNGR_HOST_DIR": "rel"})
    assert host_dir({"HOME": "/h"}) == "/h/.mngr"


@pytest.mark.parametrize("kind", ["directory", "file"])
def test_the_root_is_the_nearest_directory_with_git(tmp_path: Path, kind: str) -> None:
    inner = tmp_path / "outer dir/ìnner/deep"
    inner.mkdir(parents=True)
    (tmp_path / "outer dir/.git").mkdir()
    assert repo_root(str(inner)) == str(tmp_path / "outer dir")
    mark = inner.parent / ".git"
    mark.mkdir() if kind == "directory" else mark.write_text("gitdir: /x")
    assert repo_root(str(inner)) == str(inner.parent)
    assert repo_root(str(inner.parent)) == str(inner.parent)


def test_files_are_named_weakest_first(tmp_path: Path) -> None:
    (tmp_path / ".git").mkdir()
    places = find_places(str(tmp_path), {"MNGR_HOST_DIR": "/h"})
    assert places.files == (
        "/h/config.toml",
        f"{tmp_path}/.mngr/settings.toml",
        f"{tmp_path}/.mngr/settings.local.toml",
    )
    assert find_places("/", {"MNGR_HOST_DIR": "/h"}).files == ("/h/config.toml",)


@pytest.mark.parametrize(
    "said", ["", "gitdir:", "gitdir: /nowhere", "gitdir: \0", "\udcff", "gitdir: ../a/.git/worktrees/b"]
)
def test_a_strange_git_file_leaves_a_checkout_its_own(tmp_path: Path, said: str) -> None:
    (tmp_path / ".git").write_bytes(os.fsencode(said))
    assert main_root(str(tmp_path)) == str(tmp_path)
