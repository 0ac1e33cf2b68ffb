"""What pull --merge, --rebase and --ff-only leave behind when they work and when they do not."""

from pathlib import Path

import pytest

from mngr.errors import MngrError, RefusedError
from mngr.testing.transfers import git, make_repository, plant_hooks, portrait
from mngr.transfer.merge import How, merge_brought
from mngr.transfer.source import find_source


@pytest.fixture
def top(tmp_path: Path) -> str:
    """A branch `agent` with a commit of its own, and `main` checked out."""
    top = make_repository(tmp_path / "source")
    git(top, "checkout", "-q", "-b", "agent")
    write(top, "README", "agent\n")
    git(top, "checkout", "-q", "main")
    return top


def write(top: str, name: str, text: str) -> None:
    Path(top, name).write_text(text)
    git(top, "add", "-A")
    git(top, "commit", "-q", "-m", f"{name}: {text.strip()}")


@pytest.mark.parametrize("how", list(How))
def test_a_branch_ahead_moves_the_checked_out_one_forward(top: str, how: How, tmp_path: Path) -> None:
    trap = plant_hooks(top, tmp_path / "hook ran")
    brought = merge_brought(find_source(top), "agent", how)
    assert not trap.exists()
    assert brought.after == git(top, "rev-parse", "main") == git(top, "rev-parse", "agent")
    assert Path(top, "README").read_text() == "agent\n"
    assert git(top, "status", "--porcelain") == ""
    assert merge_brought(find_source(top), "agent", how).notes == ("nothing new",)


def test_both_sides_are_merged_or_rebased(top: str) -> None:
    write(top, "other", "mine\n")
    start = git(top, "rev-parse", "HEAD")
    with pytest.raises(RefusedError, match="both moved on"):
        merge_brought(find_source(top), "agent", How.FF_ONLY)
    merge_brought(find_source(top), "agent", How.MERGE)
    assert git(top, "rev-list", "--count", "--merges", "main") == "1"
    git(top, "reset", "-q", "--hard", start)
    merge_brought(find_source(top), "agent", How.REBASE)
    assert git(top, "log", "--format=%s", "-2") == "other: mine\nREADME: agent"


@pytest.mark.parametrize("how", [How.MERGE, How.REBASE])
def test_a_conflict_puts_everything_back_and_names_the_files(top: str, how: How) -> None:
    write(top, "other", "fine\n")
    write(top, "README", "mine\n")
    Path(top, "untracked").write_text("kept\n")
    before = portrait(top)
    with pytest.raises(MngrError, match="README") as caught:
        merge_brought(find_source(top), "agent", how)
    assert f"git {how} agent" in caught.value.hint
    after = portrait(top)
    assert (after[0], after[1], after[4:]) == (before[0], before[1], before[4:])
    assert Path(top, "README").read_text() == "mine\n"
    assert Path(top, "untracked").read_text() == "kept\n"
    assert not Path(top, ".git", "MERGE_HEAD").exists()
    assert not Path(top, ".git", "rebase-merge").exists()


@pytest.mark.parametrize("how", list(How))
def test_a_dirty_tree_is_refused(top: str, how: How) -> None:
    Path(top, "README").write_text("uncommitted\n")
    before = portrait(top)
    with pytest.raises(RefusedError, match="uncommitted work"):
        merge_brought(find_source(top), "agent", how)
    assert portrait(top) == before


def test_a_merge_under_way_is_not_ours_to_abort(top: str) -> None:
    write(top, "other", "mine\n")
    git(top, "merge", "-q", "--no-commit", "--no-ff", "-s", "ours", "agent")
    with pytest.raises(RefusedError, match="under way"):
        merge_brought(find_source(top), "agent", How.MERGE)
    assert Path(top, ".git", "MERGE_HEAD").exists()


def test_an_untracked_file_in_the_way_is_kept(top: str) -> None:
    git(top, "checkout", "-q", "agent")
    write(top, "extra", "agent\n")
    git(top, "checkout", "-q", "main")
    Path(top, "extra").write_text("mine\n")
    with pytest.raises(MngrError, match="extra"):
        merge_brought(find_source(top), "agent", How.MERGE)
    assert Path(top, "extra").read_text() == "mine\n"
