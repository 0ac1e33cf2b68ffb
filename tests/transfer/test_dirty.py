"""Uncommitted work as a commit."""

from pathlib import Path

import pytest

from mngr.errors import MngrError
from mngr.hosts.local import LocalHost
from mngr.sh.program import quote
from mngr.testing.transfers import git, make_dirty, make_repository, portrait
from mngr.transfer.dirty import snapshot_commit, snapshot_commit_script
from mngr.transfer.git import run_script
from mngr.transfer.mirror import MirrorTransfer
from mngr.transfer.source import find_source


@pytest.fixture
def top(tmp_path: Path) -> str:
    return make_repository(tmp_path / "source")


def test_a_clean_tree_needs_no_snapshot(top: str) -> None:
    assert snapshot_commit(find_source(top, include_dirty=True)) == ""


@pytest.mark.accept("K10")
def test_a_snapshot_holds_every_kind_of_change_and_touches_nothing(top: str) -> None:
    make_dirty(top)
    Path(top, "ignored").write_text("not this\n")
    before = portrait(top)
    commit = snapshot_commit(find_source(top, include_dirty=True))
    assert portrait(top) == before
    listed = git(top, "ls-tree", "-r", "--format=%(objectmode) %(path)", commit).split("\n")
    assert listed == [
        "100644 .gitignore",
        "100644 README",
        "100644 bin/renamed",
        "120000 dangling",
        "120000 link",
        "100755 new dir/script",
        "100644 staged",
    ]
    assert git(top, "rev-parse", f"{commit}^") == git(top, "rev-parse", "HEAD")
    assert sorted(path.name for path in Path(top, ".git").glob("mngr*")) == []


def test_conflict_markers_and_intended_files_come_along(top: str) -> None:
    git(top, "checkout", "-q", "-b", "side")
    Path(top, "README").write_text("side\n")
    git(top, "commit", "-q", "-a", "-m", "side")
    git(top, "checkout", "-q", "main")
    Path(top, "README").write_text("main\n")
    git(top, "commit", "-q", "-a", "-m", "main")
    with pytest.raises(MngrError):
        git(top, "merge", "-q", "side")
    Path(top, "later").write_text("later\n")
    git(top, "add", "-N", "later")
    before = portrait(top)
    commit = snapshot_commit(find_source(top, include_dirty=True))
    assert "<<<<<<<" in git(top, "show", f"{commit}:README")
    assert git(top, "show", f"{commit}:later") == "later"
    assert portrait(top) == before


def test_files_outside_a_sparse_checkout_are_not_taken_for_deleted(top: str) -> None:
    git(top, "sparse-checkout", "set", "--no-cone", "/link")
    assert not Path(top, "README").exists()
    Path(top, "new").write_text("new\n")
    commit = snapshot_commit(find_source(top, include_dirty=True))
    assert git(top, "diff", "--name-status", "HEAD", commit) == "A\tnew"


def test_what_git_cannot_take_is_an_error_with_a_hint(top: str) -> None:
    git(top, "init", "-q", "nested")
    with pytest.raises(MngrError, match="nested") as caught:
        snapshot_commit(find_source(top, include_dirty=True))
    assert "--include-dirty" in caught.value.hint
    assert list(Path(top, ".git").glob("mngr-index*")) == []


def test_the_script_prints_a_commit_for_an_agents_work_dir(host: LocalHost, top: str) -> None:
    sent = MirrorTransfer().send(find_source(top), host, f"{host.dir}/work/a 'b", "mngr/one")
    clean = run_script(host, snapshot_commit_script(sent.work_dir)).check("snapshot").text.strip()
    assert clean == sent.base_commit
    host.write(f"{sent.work_dir}/new", b"new")
    script = snapshot_commit_script(sent.work_dir) + f"cd {quote(host.dir)}\n"
    commit = run_script(host, script).check("snapshot").text.strip()
    assert git(sent.work_dir, "show", f"{commit}:new") == "new"
