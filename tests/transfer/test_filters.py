"""Programs that a work dir's own configuration names do not run when its work is looked at or brought home."""

from pathlib import Path

import pytest

from mngr.hosts.local import LocalHost
from mngr.testing.transfers import git, make_repository, there
from mngr.transfer.discard import discard
from mngr.transfer.mirror import MirrorTransfer
from mngr.transfer.protocol import Sent
from mngr.transfer.source import find_source
from mngr.transfer.worktree import WorktreeTransfer

pytestmark = pytest.mark.accept("Q5")


@pytest.fixture
def top(tmp_path: Path) -> str:
    return make_repository(tmp_path / "source")


def plant(host: LocalHost, sent: Sent, canary: Path, *scope: str, name: str = "zoo") -> None:
    """A filter for every file, and work that git has to look at."""
    host.write(f"{sent.work_dir}/.gitattributes", f"* filter={name}\n".encode())
    host.write(f"{sent.work_dir}/new", b"fresh\n")
    there(host, sent, "config", *scope, f"filter.{name}.clean", f"touch '{canary}'; cat")
    there(host, sent, "config", *scope, f"filter.{name}.required", "true")


@pytest.mark.parametrize("name", ["zoo", "two.words", "lfs"])
@pytest.mark.parametrize("scope", ["--local", "--worktree", "include"])
def test_a_planted_filter_does_not_run(
    host: LocalHost, top: str, tmp_path: Path, scope: str, name: str
) -> None:
    sent = MirrorTransfer().send(find_source(top), host, f"{host.dir}/work/one", "mngr/one")
    there(host, sent, "config", "extensions.worktreeConfig", "true")
    there(host, sent, "config", "include.path", "more")
    words = ("--file", f"{sent.work_dir}/.git/more") if scope == "include" else (scope,)
    plant(host, sent, tmp_path / "canary", *words, name=name)
    into = find_source(top, include_dirty=True)
    brought = MirrorTransfer().bring_back(host, sent.work_dir, into, "mngr/one")
    assert git(top, "show", f"{brought.branch}:new").endswith("fresh" if name != "lfs" else "")
    discard(host, sent, find_source(top), "mirror")
    assert not (tmp_path / "canary").exists()


def test_a_filter_of_the_users_own_repository_makes_what_is_brought(
    host: LocalHost, top: str, tmp_path: Path
) -> None:
    git(top, "config", "filter.shout.clean", "tr a-z A-Z")
    sent = WorktreeTransfer().send(find_source(top), host, f"{host.dir}/work/one", "mngr/one")
    host.write(f"{sent.work_dir}/.gitattributes", b"new filter=shout\n")
    host.write(f"{sent.work_dir}/new", b"fresh\n")
    brought = WorktreeTransfer().bring_back(
        host, sent.work_dir, find_source(top, include_dirty=True), "mngr/one"
    )
    assert git(top, "cat-file", "blob", f"{brought.after}:new") == "FRESH"
