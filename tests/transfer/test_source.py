"""What git says about a folder, and the grammar of --branch."""

import os
import subprocess
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mngr.errors import RefusedError, UsageError
from mngr.testing.transfers import ODD_NAME, git, make_dirty, make_folder, make_repository
from mngr.transfer.source import (
    BranchChoice,
    check_branch,
    content_notes,
    dirty_summary,
    find_source,
    free_branch,
    parse_branch_option,
)


@pytest.mark.accept("K10")
def test_a_repository_is_found_from_below(tmp_path: Path) -> None:
    top = make_repository(tmp_path / ODD_NAME)
    source = find_source(os.path.join(top, "bin"))
    assert source.path == os.path.join(top, "bin")
    assert (source.top, source.common_dir) == (top, os.path.join(top, ".git"))
    assert (source.head, source.head_branch) == (git(top, "rev-parse", "HEAD"), "main")


@pytest.mark.accept("K10")
def test_a_plain_folder_has_no_repository(tmp_path: Path) -> None:
    path = make_folder(tmp_path / "plain")
    source = find_source(path)
    assert (source.path, source.common_dir, source.top, source.head) == (path, "", "", "")
    assert dirty_summary(source) == ""
    with pytest.raises(UsageError, match="not a git repository"):
        find_source(path, base="main")


@pytest.mark.accept("K10")
def test_an_empty_repository_has_a_branch_and_no_commit(tmp_path: Path) -> None:
    git(str(tmp_path), "init", "-q", "-b", "trunk")
    source = find_source(str(tmp_path))
    assert (source.head, source.head_branch) == ("", "trunk")
    with pytest.raises(UsageError, match='no commit "main"'):
        find_source(str(tmp_path), base="main")


@pytest.mark.accept("K10")
def test_a_detached_head_has_a_commit_and_no_branch(tmp_path: Path) -> None:
    top = make_repository(tmp_path / "source")
    git(top, "checkout", "-q", "--detach")
    source = find_source(top)
    assert (source.head, source.head_branch) == (git(top, "rev-parse", "main"), "")


def test_a_linked_worktree_shares_its_repository(tmp_path: Path) -> None:
    top = make_repository(tmp_path / "source")
    git(top, "worktree", "add", "-q", "-b", "side", str(tmp_path / "linked"))
    source = find_source(str(tmp_path / "linked"))
    assert (source.top, source.head_branch) == (str(tmp_path / "linked"), "side")
    assert source.common_dir == os.path.join(top, ".git")


@pytest.mark.parametrize("where", ["bare", "source/.git", "nowhere"])
def test_what_has_no_files_is_refused_with_a_hint(tmp_path: Path, where: str) -> None:
    make_repository(tmp_path / "source")
    git(str(tmp_path), "init", "-q", "--bare", str(tmp_path / "bare"))
    with pytest.raises(UsageError) as caught:
        find_source(str(tmp_path / where))
    assert caught.value.hint


def test_a_base_is_resolved_and_a_misspelt_one_gets_its_neighbour(tmp_path: Path) -> None:
    top = make_repository(tmp_path / "source")
    git(top, "tag", "-a", "v1", "-m", "one")
    first = git(top, "rev-parse", "HEAD")
    git(top, "commit", "-q", "--allow-empty", "-m", "second")
    assert find_source(top, base="v1").head == first
    assert find_source(top, base="HEAD~1").head == first
    with pytest.raises(UsageError) as caught:
        find_source(top, base="mian")
    assert '"main"' in caught.value.hint
    for base in ("v1..main", "--all", "main:README"):
        with pytest.raises(UsageError):
            find_source(top, base=base)
    with pytest.raises(UsageError, match="uncommitted"):
        find_source(top, base="v1", include_dirty=True)


def test_an_unborn_head_can_still_start_from_another_branch(tmp_path: Path) -> None:
    top = make_repository(tmp_path / "source")
    git(top, "symbolic-ref", "HEAD", "refs/heads/unborn")
    assert find_source(top).head == ""
    assert find_source(top, base="main").head == git(top, "rev-parse", "main")


@pytest.mark.accept("K10")
def test_dirt_is_counted_by_kind(tmp_path: Path) -> None:
    top = make_repository(tmp_path / "source")
    assert dirty_summary(find_source(top)) == ""
    make_dirty(top)
    assert dirty_summary(find_source(top)) == "2 changed, 1 deleted, 1 renamed, 2 untracked"


@pytest.mark.parametrize(
    ("text", "choice"),
    [
        (":mngr/*", BranchChoice("", "mngr/foo")),
        ("", BranchChoice("", "mngr/foo")),
        ("main", BranchChoice("main", "mngr/foo")),
        ("main:fix/*-x", BranchChoice("main", "fix/foo-x")),
        (":plain", BranchChoice("", "plain")),
    ],
)
def test_the_branch_option_names_base_and_branch(text: str, choice: BranchChoice) -> None:
    assert parse_branch_option(text, "foo") == choice


@pytest.mark.parametrize(
    "text", ["main:", ":", "-x:y", ":a b", ":a..b", ":a.lock", ":/a", ":a/", ":-a", ":HEAD"]
)
def test_a_bad_branch_option_gets_a_hint(text: str) -> None:
    with pytest.raises(UsageError) as caught:
        parse_branch_option(text, "foo")
    assert caught.value.hint


@pytest.mark.accept("Q7")
@given(st.text(alphabet="a1-_./@{}~^:?*[\\ \n\x7fé.lock", max_size=8))
def test_what_we_take_for_a_branch_git_takes_too(name: str) -> None:
    try:
        check_branch(name)
    except UsageError:
        return
    done = subprocess.run(["git", "check-ref-format", "--branch", name], capture_output=True, check=False)
    assert done.returncode == 0


def test_the_next_free_name_is_chosen(tmp_path: Path) -> None:
    top = make_repository(tmp_path / "source")
    source = find_source(top)
    assert free_branch(source, "mngr/foo") == ("mngr/foo", ())
    for name in ("mngr/foo", "mngr/foo-2/below", "mngr/foobar"):
        git(top, "branch", name)
    name, notes = free_branch(source, "mngr/foo")
    assert name in ("mngr/foo-2", "mngr/foo-3")
    assert name in notes[0]
    git(top, "branch", "mngr/x/y")
    assert free_branch(source, "mngr/x")[0] == "mngr/x-2"


@pytest.mark.accept("K10")
def test_a_branch_in_the_way_of_a_directory_is_named(tmp_path: Path) -> None:
    top = make_repository(tmp_path / "source")
    git(top, "branch", "mngr")
    with pytest.raises(RefusedError, match='"mngr"') as caught:
        free_branch(find_source(top), "mngr/foo")
    assert "--branch" in caught.value.hint


@pytest.mark.accept("K10")
def test_submodules_and_large_files_are_noted(tmp_path: Path) -> None:
    top = make_repository(tmp_path / "source")
    assert content_notes(find_source(top)) == ()
    Path(top, ".gitmodules").write_text('[submodule "x"]\n')
    Path(top, ".gitattributes").write_text("*.bin filter=lfs diff=lfs merge=lfs -text\n")
    notes = content_notes(find_source(top))
    assert "submodule" in notes[0]
    assert "LFS" in notes[1]
