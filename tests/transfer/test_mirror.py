"""A repository of its own: identity, history, failure."""

import os
from collections.abc import Mapping, Sequence
from pathlib import Path

import pytest

from mngr.errors import MngrError, RefusedError
from mngr.hosts.local import LocalHost
from mngr.process import LocalStream, wait_until
from mngr.testing.transfers import commit_there, git, make_repository, plant_hooks, there
from mngr.testing.waiting import PATIENCE_S
from mngr.transfer.mirror import MirrorTransfer
from mngr.transfer.protocol import Sent
from mngr.transfer.source import find_source


def send(top: str, host: LocalHost) -> Sent:
    return MirrorTransfer().send(find_source(top), host, f"{host.dir}/work/one", "mngr/one")


@pytest.mark.accept("L4")
def test_only_the_history_of_the_base_travels(host: LocalHost, tmp_path: Path) -> None:
    top = make_repository(tmp_path / "source")
    git(top, "tag", "-a", "v1", "-m", "annotated tags follow a push")
    git(top, "branch", "other")
    git(top, "config", "push.followTags", "true")
    git(top, "config", "push.pushOption", "x")
    sent = send(top, host)
    assert there(host, sent, "for-each-ref", "--format=%(refname)") == "refs/heads/mngr/one"


def test_the_agent_commits_as_the_user(host: LocalHost, tmp_path: Path) -> None:
    top = make_repository(tmp_path / "source")
    Path(os.environ["HOME"], ".gitconfig").write_text("[user]\n\tname = Global\n\temail = g@example.com\n")
    git(top, "config", "user.name", "Önly 'Here'")
    sent = send(top, host)
    assert there(host, sent, "config", "--local", "user.name") == "Önly 'Here'"
    assert there(host, sent, "config", "--local", "user.email") == "bob@example.com"


@pytest.mark.accept("K9")
def test_hooks_run_on_neither_side(host: LocalHost, tmp_path: Path) -> None:
    top = make_repository(tmp_path / "source")
    trap = plant_hooks(top, tmp_path / "hook ran")
    templates = tmp_path / "templates"
    git(str(tmp_path), "init", "-q", str(templates / "x"))
    (templates / "hooks").mkdir()
    (templates / "hooks" / "pre-receive").write_text(f"#!/bin/sh\ntouch '{trap}'\n")
    Path(os.environ["HOME"], ".gitconfig").write_text(f"[init]\n\ttemplateDir = {templates}\n")
    sent = send(top, host)
    assert not os.path.exists(f"{sent.work_dir}/.git/hooks/pre-receive")
    there(host, sent, "commit", "-q", "--allow-empty", "-m", "x")
    plant_hooks(sent.work_dir, trap)
    MirrorTransfer().bring_back(host, sent.work_dir, find_source(top), sent.branch)
    assert not trap.exists()


def test_a_shallow_source_travels_and_comes_home(host: LocalHost, tmp_path: Path) -> None:
    origin = make_repository(tmp_path / "origin")
    for number in range(3):
        git(origin, "commit", "-q", "--allow-empty", "-m", str(number))
    top = str(tmp_path / "shallow")
    git(str(tmp_path), "clone", "-q", "--depth=1", f"file://{origin}", top)
    sent = send(top, host)
    commit = commit_there(host, sent, "file", "work")
    brought = MirrorTransfer().bring_back(host, sent.work_dir, find_source(top), sent.branch)
    assert brought.after == commit
    assert git(top, "rev-list", "--count", "mngr/one") == "2"


def test_old_flaws_in_the_users_own_history_do_not_stop_it(host: LocalHost, tmp_path: Path) -> None:
    top = make_repository(tmp_path / "source")
    tree, parent = git(top, "rev-parse", "HEAD^{tree}", "HEAD").split("\n")
    text = f"tree {tree}\nparent {parent}\nauthor Bob <b@x> 1 +051800\ncommitter Bob<b@x> 1 +0000\n\nflawed\n"
    Path(top, "flawed").write_text(text)
    flawed = git(top, "hash-object", "--literally", "-t", "commit", "-w", "flawed")
    os.unlink(Path(top, "flawed"))
    git(top, "update-ref", "refs/heads/main", flawed)
    assert send(top, host).base_commit == flawed


@pytest.mark.accept("K4")
def test_an_interrupt_while_commits_travel_leaves_nothing(tmp_path: Path) -> None:
    class Interrupted(LocalHost):
        def stream(
            self, argv: Sequence[str], *, env: Mapping[str, str] | None = None, cwd: str | None = None
        ) -> LocalStream:
            started = super().stream(argv, env=env, cwd=cwd)
            assert wait_until(lambda: os.path.exists(f"{self.dir}/work/one/.git/HEAD"), PATIENCE_S)
            started.kill()
            raise KeyboardInterrupt

    top = make_repository(tmp_path / "source")
    host = Interrupted(str(tmp_path / "host"))
    with pytest.raises(KeyboardInterrupt):
        send(top, host)
    assert not os.path.exists(f"{host.dir}/work/one")
    assert os.listdir(f"{host.dir}/made") == []


@pytest.mark.accept("K19")
def test_a_host_without_git_is_named_with_the_fix(tmp_path: Path) -> None:
    class Bare(LocalHost):
        name = "bare-box"

        def run(self, argv, **options):  # type: ignore[no-untyped-def]
            return super().run(argv, **{**options, "env": {"PATH": str(tools)}})

        def stream(self, argv, **options):  # type: ignore[no-untyped-def]
            return super().stream(argv, **{**options, "env": {"PATH": str(tools)}})

    tools = tmp_path / "tools"
    tools.mkdir()
    for name in ("sh", "cat", "mkdir", "ls", "rm"):
        (tools / name).symlink_to(f"/bin/{name}")
    top = make_repository(tmp_path / "source")
    with pytest.raises(MngrError, match='host "bare-box" has no git') as caught:
        send(top, Bare(str(tmp_path / "host")))
    assert "apt install git" in caught.value.hint


@pytest.mark.accept("K4")
def test_a_receiver_that_dies_is_an_error_that_says_so(tmp_path: Path) -> None:
    class Dying(LocalHost):
        def stream(
            self, argv: Sequence[str], *, env: Mapping[str, str] | None = None, cwd: str | None = None
        ) -> LocalStream:
            return super().stream(["sh", "-c", "echo the disk is full >&2; exit 1"])

    host = Dying(str(tmp_path / "host"))
    with pytest.raises(MngrError, match="the disk is full"):
        send(make_repository(tmp_path / "source"), host)
    assert not os.path.exists(f"{host.dir}/work/one")


class Counting(LocalHost):
    """Counts how many times somebody came."""

    visits = 0

    def run(self, argv, **options):  # type: ignore[no-untyped-def]
        self.visits += 1
        return super().run(argv, **options)

    def stream(self, argv, **options):  # type: ignore[no-untyped-def]
        self.visits += 1
        return super().stream(argv, **options)


_SEE = """cat .gitignore; echo heard >&2; tr '\\0' ' ' </proc/$$/cmdline >>cmdline; [ -z "${GIT_EDITOR-}" ] || exit 9
git rev-parse --abbrev-ref HEAD; : secret word; exit 75
"""


@pytest.mark.accept("K9")
def test_what_follows_a_transfer_runs_in_the_same_visit_and_is_judged_by_itself(
    host: LocalHost, tmp_path: Path
) -> None:
    top = make_repository(tmp_path / "source")
    counting = Counting(host.dir)
    sent, send_and_run = MirrorTransfer().plan_send(
        find_source(top), counting, f"{host.dir}/work/one", "mngr/one"
    )
    done = send_and_run(f"cd {sent.work_dir}\n{_SEE}")
    assert counting.visits == 1
    assert (done.code, done.stdout, done.stderr) == (75, b"ignored\nmngr/one", b"heard\n")
    assert there(host, sent, "status", "--porcelain") == "?? cmdline"
    assert "secret" not in Path(sent.work_dir, "cmdline").read_text(), "everybody may read a command line"


@pytest.mark.parametrize("length", [10, 200_000])
@pytest.mark.parametrize("has_commits", [True, False])
def test_what_follows_a_transfer_runs_whatever_its_length_and_source(
    host: LocalHost, tmp_path: Path, has_commits: bool, length: int
) -> None:
    top = make_repository(tmp_path / "source")
    if not has_commits:
        top = str(tmp_path / "empty")
        git(str(tmp_path), "init", "-q", top)
    lines = f"text={'x' * length}; echo ${{#text}}"
    sent, send_and_run = MirrorTransfer().plan_send(
        find_source(top), host, f"{host.dir}/work/one", "mngr/one"
    )
    done = send_and_run(lines)
    assert (done.code, done.stdout.strip()) == (0, b"%d" % length)
    assert there(host, sent, "symbolic-ref", "--short", "HEAD") == "mngr/one"


def test_nothing_follows_a_transfer_that_failed(host: LocalHost, tmp_path: Path) -> None:
    top, taken = make_repository(tmp_path / "source"), tmp_path / "taken"
    taken.mkdir()
    (taken / "theirs").touch()
    _, send_and_run = MirrorTransfer().plan_send(find_source(top), host, str(taken), "mngr/one")
    with pytest.raises(RefusedError, match="is there already and not empty"):
        send_and_run(f"touch {tmp_path}/followed")
    assert os.listdir(taken) == ["theirs"]
    assert not (tmp_path / "followed").exists()
