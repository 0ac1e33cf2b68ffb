"""Worktrees under load, under failure, and with a source that has everything."""

import os
import subprocess
import sys
import threading
from collections.abc import Sequence
from pathlib import Path

import pytest

from mngr import process
from mngr.errors import MngrError, RefusedError, TimedOutError, UsageError
from mngr.hosts.local import LocalHost
from mngr.process import Completed
from mngr.testing.transfers import git, make_repository, plant_hooks, portrait, there
from mngr.transfer import worktree
from mngr.transfer.discard import discard
from mngr.transfer.protocol import Sent
from mngr.transfer.source import find_source
from mngr.transfer.worktree import WorktreeTransfer

_SEND = """
import sys
from mngr.hosts.local import LocalHost
from mngr.transfer.source import find_source
from mngr.transfer.worktree import WorktreeTransfer
top, host_dir, name = sys.argv[1:]
WorktreeTransfer().send(find_source(top), LocalHost(host_dir), f"{host_dir}/work/{name}", f"mngr/{name}")
"""


def send(top: str, host: LocalHost, name: str = "one") -> Sent:
    return WorktreeTransfer().send(find_source(top), host, f"{host.dir}/work/{name}", f"mngr/{name}")


@pytest.mark.accept("K6", "K10")
def test_thirty_at_once_on_one_repository_all_succeed(host: LocalHost, tmp_path: Path) -> None:
    top = make_repository(tmp_path / "source")
    failures: list[BaseException] = []

    def add(number: int) -> None:
        try:
            send(top, host, f"n{number}")
        except BaseException as error:
            failures.append(error)

    threads = [threading.Thread(target=add, args=(number,)) for number in range(30)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert failures == []
    assert len(git(top, "branch", "--list", "mngr/*").split("\n")) == 30
    for number in range(30):
        assert Path(host.dir, "work", f"n{number}", "README").read_text() == "hello\n"


def test_adding_waits_for_the_lock(host: LocalHost, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    top = make_repository(tmp_path / "source")
    monkeypatch.setattr(worktree, "_LOCK_TIMEOUT_S", 0.05)
    before = portrait(top)
    with worktree.lock_repository(find_source(top)), pytest.raises(TimedOutError):
        send(top, host)
    assert portrait(top) == before
    assert send(top, host).branch == "mngr/one"


@pytest.mark.slow
@pytest.mark.accept("K6")
def test_processes_beside_a_foreign_git_all_succeed(host: LocalHost, tmp_path: Path) -> None:
    top = make_repository(tmp_path / "source")
    ours = [
        subprocess.Popen([sys.executable, "-c", _SEND, top, host.dir, f"n{number}"], stderr=subprocess.PIPE)
        for number in range(12)
    ]
    for number in range(12):
        path = str(tmp_path / f"foreign{number}")
        subprocess.run(["git", "-C", top, "worktree", "add", "-q", path], capture_output=True, check=False)
    ended = [(child.communicate()[1], child.returncode) for child in ours]
    assert [said for said, code in ended if code] == []


@pytest.mark.accept("K4")
def test_a_failing_checkout_leaves_nothing(host: LocalHost, tmp_path: Path) -> None:
    top = make_repository(tmp_path / "source")
    Path(top, ".gitattributes").write_text("*.x filter=broken\n")
    Path(top, "a.x").write_text("x\n")
    git(top, "add", "-A")
    git(top, "commit", "-q", "-m", "x")
    git(top, "config", "filter.broken.smudge", "false")
    git(top, "config", "filter.broken.clean", "cat")
    git(top, "config", "filter.broken.required", "true")
    before = portrait(top)
    with pytest.raises(MngrError, match=r"a\.x"):
        send(top, host)
    assert portrait(top) == before
    assert not os.path.exists(f"{host.dir}/work/one")


@pytest.mark.accept("K4")
def test_a_place_that_cannot_be_made_leaves_nothing(host: LocalHost, tmp_path: Path) -> None:
    top = make_repository(tmp_path / "source")
    Path(host.dir, "work").write_text("a file where a folder should be")
    before = portrait(top)
    with pytest.raises(MngrError):
        send(top, host)
    assert portrait(top) == before


@pytest.mark.accept("K4")
@pytest.mark.parametrize("step", ["add", "reset"])
@pytest.mark.parametrize("interruption", [KeyboardInterrupt, "killed"])
def test_an_interrupted_send_leaves_nothing(
    host: LocalHost, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, step: str, interruption: object
) -> None:
    top = make_repository(tmp_path / "source")
    before = portrait(top)
    real = process.run

    def interrupted(argv: Sequence[str], **options: object) -> Completed:
        done: Completed = real(argv, **options)  # type: ignore[arg-type]
        if step in argv:
            if interruption is KeyboardInterrupt:
                raise KeyboardInterrupt
            return Completed(done.argv, 137, b"", b"Killed")
        return done

    monkeypatch.setattr(process, "run", interrupted)
    with pytest.raises((KeyboardInterrupt, MngrError)):
        send(top, host)
    monkeypatch.undo()
    assert portrait(top) == before
    assert not os.path.exists(f"{host.dir}/work/one")
    send(top, host)


def test_a_worktree_removed_by_hand_can_be_made_again(host: LocalHost, tmp_path: Path) -> None:
    top = make_repository(tmp_path / "source")
    first = send(top, host)
    git(top, "worktree", "lock", first.work_dir)
    host.run(("rm", "-rf", first.work_dir))
    again = send(top, host)
    assert again.branch == "mngr/one-2"
    assert there(host, again, "status", "--porcelain") == ""


def test_a_half_written_record_of_a_killed_git_is_cleared(host: LocalHost, tmp_path: Path) -> None:
    top = make_repository(tmp_path / "source")
    source = find_source(top)
    record = Path(top, ".git", "worktrees", "one")
    record.mkdir(parents=True)
    (record / "locked").write_text("initializing")
    other = Path(top, ".git", "worktrees", "theirs")
    other.mkdir()
    (other / "gitdir").write_text("/media/stick/theirs/.git\n")
    worktree.forget_worktree(source, f"{host.dir}/work/one")
    assert not record.exists()
    assert other.exists()


@pytest.mark.accept("K9", "K10")
def test_a_known_race_is_tried_again(
    host: LocalHost, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    top = make_repository(tmp_path / "source")
    lost: list[Sequence[str]] = []
    real = process.run

    def racing(argv: Sequence[str], **options: object) -> Completed:
        done: Completed = real(argv, **options)  # type: ignore[arg-type]
        if "add" in argv and len(lost) < 2:
            lost.append(argv)
            return Completed(done.argv, 128, b"", b"failed to read .git/worktrees/x/commondir: Success")
        return done

    monkeypatch.setattr(process, "run", racing)
    sent = send(top, host)
    assert len(lost) == 2
    assert sent.branch == "mngr/one"
    assert git(top, "branch", "--list", "mngr/*") == "+ mngr/one"


@pytest.mark.accept("K10")
def test_an_empty_repository_gives_an_unborn_branch(host: LocalHost, tmp_path: Path) -> None:
    top = str(tmp_path / "source")
    git(str(tmp_path), "init", "-q", "-b", "main", top)
    Path(top, "draft").write_text("not committed\n")
    source = find_source(top, include_dirty=True)
    sent = WorktreeTransfer().send(source, host, f"{host.dir}/work/one", "mngr/one")
    assert there(host, sent, "symbolic-ref", "HEAD") == "refs/heads/mngr/one"
    assert there(host, sent, "status", "--porcelain") == "?? draft"
    there(host, sent, "add", "-A")
    there(host, sent, "commit", "-q", "-m", "first")
    assert git(top, "rev-list", "--count", "mngr/one") == "1"
    notes = discard(host, sent, find_source(top), "worktree")
    assert notes == (f"kept branch mngr/one in {top}: 1 commit not merged anywhere",)


@pytest.mark.accept("K10")
def test_submodules_stay_empty_and_are_noted(host: LocalHost, tmp_path: Path) -> None:
    inner, top = make_repository(tmp_path / "inner"), make_repository(tmp_path / "source")
    git(top, "-c", "protocol.file.allow=always", "submodule", "add", "-q", inner, "sub")
    git(top, "commit", "-q", "-m", "sub")
    sent = send(top, host)
    assert any("submodule" in note for note in sent.notes)
    assert os.listdir(f"{sent.work_dir}/sub") == []


@pytest.mark.accept("K10")
def test_large_file_pointers_do_not_hang(host: LocalHost, tmp_path: Path) -> None:
    top = make_repository(tmp_path / "source")
    pointer = "version https://git-lfs.github.com/spec/v1\noid sha256:0\nsize 1\n"
    Path(top, ".gitattributes").write_text("*.bin filter=lfs\n")
    Path(top, "big.bin").write_text(pointer)
    git(top, "add", "-A")
    git(top, "commit", "-q", "-m", "big")
    # What git-lfs does: with the variable set it passes pointers through, else it goes to the network.
    git(top, "config", "filter.lfs.smudge", 'test "$GIT_LFS_SKIP_SMUDGE" = 1 && cat || sleep 600')
    sent = send(top, host)
    assert Path(sent.work_dir, "big.bin").read_text() == pointer
    assert any("LFS" in note for note in sent.notes)


def test_a_host_elsewhere_is_refused(tmp_path: Path) -> None:
    class Elsewhere(LocalHost):
        shares_files = False

    top = make_repository(tmp_path / "source")
    with pytest.raises(UsageError) as caught:
        send(top, Elsewhere(str(tmp_path / "host")))
    assert "mirror" in caught.value.hint


@pytest.mark.accept("K9")
def test_hooks_do_not_run_and_filters_do(host: LocalHost, tmp_path: Path) -> None:
    top = make_repository(tmp_path / "source")
    git(top, "config", "filter.shout.smudge", "tr a-z A-Z")
    Path(top, ".gitattributes").write_text("shout filter=shout\n")
    Path(top, "shout").write_text("hey\n")
    git(top, "add", "-A")
    git(top, "commit", "-q", "-m", "shout")
    trap = plant_hooks(top, tmp_path / "hook ran")
    sent = send(top, host)
    assert Path(sent.work_dir, "shout").read_text() == "HEY\n"
    discard(host, sent, find_source(top), "worktree")
    assert not trap.exists()


def test_dirty_work_of_a_worktree_gets_a_branch_beside_it(host: LocalHost, tmp_path: Path) -> None:
    top = make_repository(tmp_path / "source")
    sent = send(top, host)
    asked = find_source(top, include_dirty=True)
    for text in ("one\n", "two\n"):
        Path(sent.work_dir, "new").write_text(text)
        brought = WorktreeTransfer().bring_back(host, sent.work_dir, asked, sent.branch)
        assert brought.branch == "mngr/one-uncommitted"
        assert git(top, "show", f"{brought.branch}:new") == text.strip()
    git(top, "branch", "-f", "mngr/one-uncommitted", "main")
    with pytest.raises(RefusedError):
        WorktreeTransfer().bring_back(host, sent.work_dir, asked, sent.branch)
