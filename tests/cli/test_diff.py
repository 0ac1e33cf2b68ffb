"""`mngr diff` as a person and as a program sees it."""

import subprocess
from pathlib import Path

import pytest
from tests.cli.command import Mngr

from mngr.actions.diff import diff

pytestmark = pytest.mark.accept("N5")
SLEEP = ("--", "sleep", "1000")


@pytest.fixture
def foo(mngr: Mngr) -> Mngr:
    mngr.ok("create", "foo", *SLEEP)
    return mngr


def change(mngr: Mngr, script: str) -> None:
    mngr.ok("exec", "foo", "--", "sh", "-c", script)


def test_a_pipe_gets_what_git_apply_takes(foo: Mngr, tmp_path: Path) -> None:
    change(foo, "printf 'a\\r\\n\\377\\n' >odd; printf 'x\\0y' >binary; git rm -q file.txt")
    for form in ("json", "jsonl", "{text}"):
        assert "+\ufffd" in foo.ok("diff", "foo", "--format", form).stdout
    patch = tmp_path / "patch"
    text = diff("foo", manager=foo.world.manager()).text
    patch.write_bytes(text.encode("utf-8", "surrogateescape"))
    # What is binary is only named, as git does.
    lines = ["Binary files /dev/null and b/binary differ"]
    assert [line for line in text.splitlines() if line.startswith("Binary")] == lines
    shown = foo("diff", "foo", "--", "odd", "file.txt")
    assert "\ufffd" in shown.stdout
    patch.write_bytes(
        diff("foo", paths=["odd", "file.txt"], manager=foo.world.manager()).text.encode(
            "utf-8", "surrogateescape"
        )
    )
    subprocess.run(["git", "apply", str(patch)], cwd=foo.world.repo, check=True)
    assert (foo.world.repo / "odd").read_bytes() == b"a\r\n\xff\n"
    assert not (foo.world.repo / "file.txt").exists()


def test_forms_paths_and_exit_code_are_those_of_git(foo: Mngr) -> None:
    assert foo("diff", "foo", "--exit-code").code == 0
    change(foo, "echo two >>file.txt; echo new >other.txt; git add -A; git commit -qm second")
    assert foo.ok("diff", "--name-only").stdout == "file.txt\nother.txt\n", "the only agent"
    assert " 2 files changed, 2 insertions(+)" in foo.ok("diff", "foo", "--stat").stdout
    assert foo("diff", "foo", "--exit-code").code == 1
    assert foo("diff", "foo", "--exit-code", "--", "nothing").code == 0
    record = foo.ok("diff", "foo", "--json").json
    assert record["base"] == record["base_commit"]
    assert "+two" in record["text"]
    assert foo("diff", "foo", "--stat", "--name-only").code == 2
    assert foo("diff", "nobody").code == 4


def test_more_than_is_wanted_is_not_read(foo: Mngr) -> None:
    change(foo, "seq 200000 >numbers")
    found = diff("foo", most_bytes=1000, manager=foo.world.manager())
    assert (len(found.text), found.truncated) == (1000, True)
    assert diff("foo", manager=foo.world.manager()).truncated is False


def test_on_a_terminal_it_is_coloured_paged_and_safe(foo: Mngr) -> None:
    change(foo, "echo two >>file.txt; printf 'red \\033[31m\\n' >escape")
    shown = foo.terminal("diff", "foo", PAGER="sed s/^/paged:/")
    assert shown.end() == 0
    assert "paged:\x1b[32m+two\x1b[0m" in shown.shown
    assert "+red \\x1b[31m" in shown.shown
    plain = foo.terminal("diff", "foo", PAGER="cat", NO_COLOR="1")
    assert plain.end() == 0
    assert "\r\n+two\r\n" in plain.shown
    missing = foo.terminal("diff", "foo", PAGER="/no/such/pager")
    assert missing.end() == 0
    assert "+two" in missing.shown
    change(foo, "git checkout -q file.txt; rm escape")
    nothing = foo.terminal("diff", "foo")
    assert nothing.end() == 0
    assert "No changes" in nothing.shown


def test_a_work_dir_without_a_repository_says_so(mngr: Mngr, tmp_path: Path) -> None:
    (tmp_path / "plain").mkdir()
    mngr.ok("create", "foo", "--from", str(tmp_path / "plain"), "--transfer", "copy", *SLEEP)
    done = mngr("diff", "foo")
    assert done.code == 1
    assert "it has no .git" in done.stderr
