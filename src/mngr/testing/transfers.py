"""What every `Transfer` must do, as tests that a plugin author runs on theirs.

    pytest.register_assert_rewrite("mngr.testing")  # in conftest.py, for readable failures

    class TestMyTransfer(CopyingConformance):
        @pytest.fixture
        def transfer(self): ...

        @pytest.fixture
        def host(self): ...  # with a host dir that may be thrown away

A transfer that works in place passes `TransferConformance` alone.
"""

import os
from pathlib import Path

from mngr import process
from mngr.errors import MngrError, UsageError
from mngr.hosts.protocol import Host
from mngr.transfer.discard import discard
from mngr.transfer.protocol import Sent, Transfer
from mngr.transfer.source import find_source

ODD_NAME = "a b'c\"d $(e) ü \n f"
_IDENTITY = ("-c", "user.name=Ann", "-c", "user.email=ann@example.com")
_HOOK = "#!/bin/sh\ntouch '{}'\nexit 1\n"


class TransferConformance:
    """All that a transfer must do."""

    def test_the_work_dir_is_a_folder_on_the_host(
        self, transfer: Transfer, host: Host, tmp_path: Path
    ) -> None:
        sent = send(transfer, host, make_repository(tmp_path / "source"))
        assert host.run(("test", "-d", sent.work_dir)).code == 0

    def test_names_that_a_shell_would_chew(self, transfer: Transfer, host: Host, tmp_path: Path) -> None:
        top = make_repository(tmp_path / ODD_NAME)
        sent = transfer.send(find_source(top), host, f"{host.dir}/work/{ODD_NAME}", "mngr/odd")
        assert host.run(("test", "-d", sent.work_dir)).code == 0

    def test_a_repository_without_commits(self, transfer: Transfer, host: Host, tmp_path: Path) -> None:
        top = make_folder(tmp_path / "source")
        git(top, "init", "-q", "-b", "main")
        sent = send(transfer, host, top)
        assert sent.base_commit == ""
        assert host.run(("git", "-C", sent.work_dir, "status")).code in (0, 128)

    def test_a_folder_without_git_works_or_is_refused(
        self, transfer: Transfer, host: Host, tmp_path: Path
    ) -> None:
        top = make_folder(tmp_path / "plain")
        refusal = hint = ""
        try:
            sent = send(transfer, host, top)
        except UsageError as error:
            refusal, hint = error.message, error.hint
        if refusal:
            assert hint
        else:
            assert host.run(("test", "-d", sent.work_dir)).code == 0

    def test_the_source_stays_as_it_was(self, transfer: Transfer, host: Host, tmp_path: Path) -> None:
        top = make_repository(tmp_path / "source")
        trap = plant_hooks(top, tmp_path / "hook ran")
        Path(top, "README").write_text("changed\n")
        before = portrait(top)
        sent = send(transfer, host, top)
        assert portrait(top, without=sent.branch if sent.owns_branch else "") == before
        assert not trap.exists()

    def test_discarding_leaves_nothing(self, transfer: Transfer, host: Host, tmp_path: Path) -> None:
        top = make_repository(tmp_path / "source")
        before = portrait(top)
        sent = send(transfer, host, top)
        assert discard(host, sent, find_source(top), transfer.name) == ()
        assert discard(host, sent, find_source(top), transfer.name) == ()
        assert portrait(top) == before
        gone = host.run(("test", "-e", sent.work_dir)).code != 0
        assert gone == sent.owns_work_dir


class CopyingConformance(TransferConformance):
    """What a transfer must do that gives an agent a copy of its own."""

    def test_the_files_are_there_on_a_new_branch(
        self, transfer: Transfer, host: Host, tmp_path: Path
    ) -> None:
        top = make_repository(tmp_path / "source")
        sent = send(transfer, host, top)
        assert (sent.branch, sent.base_commit) == ("mngr/one", git(top, "rev-parse", "HEAD"))
        assert there(host, sent, "symbolic-ref", "--short", "HEAD") == "mngr/one"
        assert there(host, sent, "status", "--porcelain") == ""
        assert host.read(f"{sent.work_dir}/README") == b"hello\n"
        assert host.run((f"{sent.work_dir}/bin/tool",)).text == "tool\n"
        assert host.run(("readlink", f"{sent.work_dir}/link")).text == "README\n"

    def test_a_taken_branch_name_gets_a_number_and_a_note(
        self, transfer: Transfer, host: Host, tmp_path: Path
    ) -> None:
        top = make_repository(tmp_path / "source")
        git(top, "branch", "mngr/one")
        sent = send(transfer, host, top)
        assert sent.branch == "mngr/one-2"
        assert any("mngr/one-2" in note for note in sent.notes)

    def test_an_occupied_work_dir_is_refused_and_kept(
        self, transfer: Transfer, host: Host, tmp_path: Path
    ) -> None:
        top = make_repository(tmp_path / "source")
        before = portrait(top)
        host.write(f"{host.dir}/work/one/mine", b"mine")
        hint = ""
        try:
            send(transfer, host, top)
        except MngrError as error:
            hint = error.hint
        assert hint, "an occupied work dir was used, or refused without a hint"
        assert host.read(f"{host.dir}/work/one/mine") == b"mine"
        assert portrait(top) == before

    def test_commits_come_home(self, transfer: Transfer, host: Host, tmp_path: Path) -> None:
        top = make_repository(tmp_path / "source")
        sent = send(transfer, host, top)
        for text in ("one", "two"):
            commit = commit_there(host, sent, f"{text} {ODD_NAME}", text)
            brought = transfer.bring_back(host, sent.work_dir, find_source(top), sent.branch)
            assert (brought.branch, brought.after) == (sent.branch, commit)
            assert git(top, "rev-parse", f"refs/heads/{sent.branch}") == commit
        again = transfer.bring_back(host, sent.work_dir, find_source(top), sent.branch)
        assert again.before == again.after == commit
        assert git(top, "status", "--porcelain") == ""
        assert not os.path.exists(os.path.join(top, ".git", "FETCH_HEAD"))

    def test_unmerged_commits_survive_discarding(
        self, transfer: Transfer, host: Host, tmp_path: Path
    ) -> None:
        top = make_repository(tmp_path / "source")
        sent = send(transfer, host, top)
        commit = commit_there(host, sent, "file", "work")
        notes = discard(host, sent, find_source(top), transfer.name)
        assert any("1 commit not merged anywhere" in note and sent.branch in note for note in notes)
        assert git(top, "rev-parse", f"refs/heads/{sent.branch}") == commit
        assert host.run(("test", "-e", sent.work_dir)).code != 0

    def test_the_copy_of_a_dirty_tree_looks_the_same(
        self, transfer: Transfer, host: Host, tmp_path: Path
    ) -> None:
        top = make_repository(tmp_path / "source")
        make_dirty(top)
        before = portrait(top)
        source = find_source(top, include_dirty=True)
        sent = transfer.send(source, host, f"{host.dir}/work/one", "mngr/one")
        assert portrait(top, without=sent.branch if sent.owns_branch else "") == before
        assert tree_there(host, sent.work_dir) == tree_here(top)
        assert there(host, sent, "rev-parse", "HEAD") == source.head

    def test_uncommitted_work_comes_home_as_a_commit(
        self, transfer: Transfer, host: Host, tmp_path: Path
    ) -> None:
        top = make_repository(tmp_path / "source")
        sent = send(transfer, host, top)
        host.write(f"{sent.work_dir}/new", b"uncommitted\n")
        host.run(("rm", f"{sent.work_dir}/README"))
        status = there(host, sent, "status", "--porcelain")
        brought = transfer.bring_back(host, sent.work_dir, find_source(top, include_dirty=True), sent.branch)
        names = git(top, "ls-tree", "-r", "--name-only", f"refs/heads/{brought.branch}").split("\n")
        assert "new" in names
        assert "README" not in names
        assert there(host, sent, "status", "--porcelain") == status


def send(transfer: Transfer, host: Host, top: str) -> Sent:
    return transfer.send(find_source(top), host, f"{host.dir}/work/one", "mngr/one")


def git(top: str, *args: str) -> str:
    return process.run(("git", *_IDENTITY, "-C", top, *args)).check(f"git {args[0]}").text.strip()


def there(host: Host, sent: Sent, *args: str) -> str:
    return host.run(("git", *_IDENTITY, "-C", sent.work_dir, *args)).check(f"git {args[0]}").text.strip()


def commit_there(host: Host, sent: Sent, name: str, text: str) -> str:
    """What an agent does: a file, a commit; returns its id."""
    host.write(f"{sent.work_dir}/{name}", text.encode())
    there(host, sent, "add", "-A")
    there(host, sent, "commit", "-q", "-m", text)
    return there(host, sent, "rev-parse", "HEAD")


def make_folder(path: Path) -> str:
    """Some files: a plain one, a program, a link, one with an odd name."""
    (path / "bin").mkdir(parents=True)
    (path / "README").write_text("hello\n")
    (path / "bin" / "tool").write_text("#!/bin/sh\necho tool\n")
    (path / "bin" / "tool").chmod(0o755)
    (path / "link").symlink_to("README")
    (path / ODD_NAME).write_text("odd\n")
    return str(path)


def make_repository(path: Path) -> str:
    top = make_folder(path)
    git(top, "init", "-q", "-b", "main")
    (path / ".gitignore").write_text("ignored\n")
    git(top, "config", "user.name", "Bob")
    git(top, "config", "user.email", "bob@example.com")
    git(top, "add", "-A")
    git(top, "commit", "-q", "-m", "first")
    return top


def make_dirty(top: str) -> None:
    """Every kind of uncommitted change, staged and not."""
    path = Path(top)
    (path / "README").write_text("changed\n")
    git(top, "mv", "bin/tool", "bin/renamed")
    (path / "bin" / "renamed").chmod(0o644)
    (path / ODD_NAME).unlink()
    (path / "new dir").mkdir()
    (path / "new dir" / "script").write_text("#!/bin/sh\n")
    (path / "new dir" / "script").chmod(0o755)
    (path / "dangling").symlink_to("nowhere")
    (path / "staged").write_text("staged\n")
    git(top, "add", "staged")


def plant_hooks(top: str, trap: Path) -> Path:
    """Hooks that would be seen to run, and would fail."""
    for name in ("post-checkout", "reference-transaction", "pre-push", "post-index-change", "post-merge"):
        hook = Path(top, ".git", "hooks", name)
        hook.parent.mkdir(exist_ok=True)
        hook.write_text(_HOOK.format(trap))
        hook.chmod(0o755)
    return trap


def portrait(top: str, without: str = "") -> tuple[str, ...]:
    """What must not change: refs with the stash, HEAD, index, config, status, worktrees."""
    refs = [
        ref for ref in git(top, "for-each-ref").split("\n") if not ref.endswith(f"\trefs/heads/{without}")
    ]
    worktrees = git(top, "worktree", "list").split("\n")
    files = (Path(top, ".git", name) for name in ("HEAD", "index", "config"))
    return (
        "\n".join(refs),
        *(repr(file.read_bytes()) if file.exists() else "" for file in files),
        git(top, "--no-optional-locks", "status", "--porcelain"),
        *(" ".join(line.split()) for line in worktrees if not line.endswith(f"[{without}]")),
    )


def tree_here(top: str) -> list[str]:
    return _tree(process.run(("sh", "-c", _LIST), cwd=top).check("list files").stdout)


def tree_there(host: Host, work_dir: str) -> list[str]:
    return _tree(host.run(("sh", "-c", _LIST), cwd=work_dir).check("list files").stdout)


# Names with their kind, and the sum of every file; git's own and ignored files are no part of it.
_LIST = r"""find . -name .git -prune -o \( -type l -o -perm -100 -o -type f \) -exec ls -ld {} + | cut -c1-4
find . -name .git -prune -o -type f -print0 | sort -z | xargs -0 cksum
find . -name .git -prune -o -type l -exec readlink {} \;"""


def _tree(listed: bytes) -> list[str]:
    return sorted(listed.decode(errors="replace").split("\n"))
