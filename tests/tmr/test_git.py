"""git on a repository's objects, as the pipeline uses it."""

from pathlib import Path

import pytest
from tests.tmr.report.desk import RunDesk, with_repository

import mngr
from mngr_tmr.git import Repository


def test_a_branch_that_someone_has_checked_out_is_not_moved(tmp_path: Path) -> None:
    path = with_repository(tmp_path)
    desk = RunDesk(path)
    tip = desk.git("commit-tree", "HEAD^{tree}", "-p", "HEAD", "-m", "more").strip()
    desk.git("worktree", "add", "-q", "-b", "second", str(tmp_path / "second"))
    repo = Repository(str(path), 0)
    assert repo.checked_out() == {"main", "second"}
    for branch in ("main", "second"):
        with pytest.raises(mngr.RefusedError, match="is checked out"):
            repo.move_branch(branch, tip)
        assert repo.branch(branch) == desk.base
    repo.move_branch("third", tip)
    assert repo.branch("third") == tip
