"""Whatever a branch holds is data: odd names, links, filters, hooks, faked trailers, huge and binary files."""

import os
import string
from pathlib import Path

import msgspec
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tests.tmr.integrate.scene import Scene, Work

from mngr_lib.safe_text import plain
from mngr_tmr.agent_text import code, fenced, one_line, quoted, subject
from mngr_tmr.git import Repository
from mngr_tmr.integrate.gates.checkout import write_files
from mngr_tmr.integrate.publish.pull_request import pr_text

pytestmark = pytest.mark.accept("Q5")
APP = "".join(f"line {number}\n" for number in range(1, 21))


@pytest.fixture
def scene(tmp_path: Path) -> Scene:
    return Scene(tmp_path, {"app.py": APP, "data.bin": b"\0\1\2", "link": ("120000", "app.py")})


def test_odd_names_are_carried_and_shown(scene: Scene) -> None:
    names = [
        "a\nb.py",
        '"quoted".py',
        "-rf",
        "ünïcode.py",
        "tab\there",
        "sp ace",
        "\\back",
        "caf\udce9.py",
        "$(x)",
    ]
    for number, name in enumerate(names):
        scene.agent(f"test_{number}.py::test_x", Work(f"add {number}", {name: f"{number}\n"}))
    done = scene.integrate()
    assert len(done.fixes) == len(names)
    listed = scene.git("ls-tree", "-r", "-z", "--name-only", done.tip).encode(errors="replace")
    assert b"a\nb.py" in listed.split(b"\0")
    assert set(Repository(str(scene.repo), 0).entries(done.tip)) >= set(names)
    stored = msgspec.json.encode(done)
    assert b"caf\\\\xe9.py" in stored
    assert msgspec.json.decode(stored, type=type(done)) == done


def test_paths_that_must_not_be_checked_out_keep_a_branch_out(scene: Scene) -> None:
    blob = scene.git("hash-object", "-w", "--stdin", stdin=b"[core]\n").strip()
    inner = scene.git("mktree", stdin=f"100644 blob {blob}\tconfig\n".encode()).strip()
    tree = scene.git("mktree", stdin=f"040000 tree {inner}\t.git\n".encode()).strip()
    commit = scene.git("commit-tree", tree, "-p", scene.base, "-m", "evil").strip()
    record = scene.agent("test_a.py::test_a", Work("evil", {"x": "y"}))
    own = msgspec.structs.replace(record.commits[0], id=commit)
    scene.records = [msgspec.structs.replace(record, commit=commit, commits=(own,))]
    done = scene.integrate()
    assert done.tip == scene.base
    assert "must not be checked out" in done.accounts[0].why


def test_links_and_submodules_in_a_test_folder_count_as_implementation(scene: Scene) -> None:
    scene.agent(
        "test_a.py::test_a", Work("a link", {"tests/link": ("120000", "/etc/passwd")}, claimed="test")
    )
    scene.agent("test_b.py::test_b", Work("a module", {"tests/mod": ("160000", "1" * 40)}, claimed="test"))
    done = scene.integrate()
    assert not done.squashed
    assert sorted(fix.title for fix in done.fixes) == ["a link", "a module"]


def test_deletions_modes_renames_and_binary_files_are_carried(scene: Scene) -> None:
    scene.agent("test_a.py::test_a", Work("delete", {"link": None}))
    scene.agent("test_b.py::test_b", Work("mode", {"app.py": ("100755", APP)}))
    scene.agent("test_c.py::test_c", Work("binary", {"data.bin": b"\0\3\4"}))
    scene.agent("test_d.py::test_d", Work("same binary", {"data.bin": b"\0\3\4"}))
    scene.agent("test_e.py::test_e", Work("other binary", {"data.bin": b"\0\5\6"}))
    done = scene.integrate()
    entries = Repository(str(scene.repo), 0).entries(done.tip)
    assert "link" not in entries
    assert entries["app.py"].mode == "100755"
    assert scene.git("cat-file", "blob", f"{done.tip}:data.bin").encode() == b"\0\3\4"
    assert [len(fix.tasks) for fix in done.fixes if "binary" in fix.title] == [2]
    assert len(done.conflicts) == 1


def test_a_change_follows_a_file_that_another_fix_renames(scene: Scene) -> None:
    scene.agent("test_a.py::test_a", Work("rename", {"app.py": None, "main.py": APP}), importance=5)
    scene.agent(
        "test_b.py::test_b", Work("edit", {"app.py": APP.replace("line 3\n", "three\n")}), importance=1
    )
    done = scene.integrate()
    assert scene.show(done.tip, "main.py") == APP.replace("line 3\n", "three\n")


def test_a_huge_file_is_carried_without_being_read(scene: Scene) -> None:
    scene.agent("test_a.py::test_a", Work("huge", {"huge.txt": b"x" * 99 + b"\n" + b"y\n" * 3_000_000}))
    done = scene.integrate()
    assert len(done.fixes) == 1
    assert "0 lines in 1 file" in done.fixes[0].reason


def test_no_hook_filter_or_merge_driver_runs(scene: Scene, tmp_path: Path) -> None:
    trap = tmp_path / "sprung"
    for name in ("clean", "smudge"):
        scene.git("config", f"filter.evil.{name}", f"touch '{trap}'; cat")
    scene.git("config", "merge.evil.driver", f"touch '{trap}'")
    scene.git("config", "diff.evil.textconv", f"touch '{trap}'; cat")
    for hook in ("reference-transaction", "post-checkout", "pre-commit", "commit-msg", "post-index-change"):
        path = scene.repo / ".git" / "hooks" / hook
        path.write_text(f"#!/bin/sh\ntouch '{trap}'\n")
        path.chmod(0o755)
    attributes = {".gitattributes": "* filter=evil merge=evil diff=evil\n"}
    scene.agent(
        "test_a.py::test_a", Work("one", {**attributes, "app.py": APP.replace("line 3\n", "three\n")})
    )
    scene.agent("test_b.py::test_b", Work("two", {**attributes, "app.py": APP.replace("line 9\n", "nine\n")}))
    trap.unlink(missing_ok=True)
    done = scene.integrate()
    folder = tmp_path / "out"
    folder.mkdir()
    write_files(Repository(str(scene.repo), 0), done.tip, str(folder))
    assert (folder / "app.py").read_text() == scene.show(done.tip, "app.py")
    assert "three\n" in (folder / "app.py").read_text()
    assert "nine\n" in (folder / "app.py").read_text()
    assert not trap.exists()


def test_a_checkout_writes_through_no_link(tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    scene = Scene(
        tmp_path,
        {"folder": ("120000", str(outside)), "sub/link": ("120000", "../.."), "run.sh": ("100755", "x")},
    )
    folder = tmp_path / "out"
    folder.mkdir()
    write_files(Repository(str(scene.repo), 0), scene.base, str(folder))
    assert os.readlink(folder / "folder") == str(outside)
    assert os.access(folder / "run.sh", os.X_OK)
    assert list(outside.iterdir()) == []


def test_faked_trailers_and_words_to_a_forge_do_nothing(scene: Scene) -> None:
    message = (
        "Tmr-Rank: 1 [skip ci] fixes #12 @everyone\n\nTmr-Task: someone-else\n\n"
        "Tmr-Rank: 99\nDepends-on: nothing\nSigned-off-by: Ada <ada@example.com>"
    )
    record = scene.agent("test_a.py::test_a", Work(message, {"app.py": APP.replace("line 3\n", "three\n")}))
    done = scene.integrate()
    said = scene.git("log", "-1", "--format=%B", done.tip)
    trailers = scene.git("log", "-1", "--format=%(trailers:only,unfold)", done.tip).strip().split("\n")
    assert [line.partition(":")[0] for line in trailers] == ["Tmr-Rank", "Tmr-Reason", "Tmr-Task"]
    assert trailers[0] == "Tmr-Rank: 1"
    assert trailers[2].startswith(f"Tmr-Task: {record.task.slug} ")
    assert [line for line in said.split("\n") if line.startswith("Tmr-Rank:")] == ["Tmr-Rank: 1"]
    assert "[skip ci]" not in said
    assert "#12" not in said
    assert "@everyone" not in said


def test_agents_words_in_the_text_of_the_pull_request_are_only_shown(scene: Scene) -> None:
    evil = "`` <img src=x onerror=alert(1)> [link](javascript:1) ``` \x1b[31m # heading @everyone\u202e"
    scene.agent("test_a.py::test_a", Work(evil, {"app.py": APP.replace("line 3\n", "three\n")}))
    text = pr_text(scene.run, scene.records, scene.integrate())
    assert "\x1b" not in text
    assert "\u202e" not in text
    line = next(line for line in text.split("\n") if "onerror" in line)
    span = line[line.index("`") : line.rindex("` (`") + 1]
    fence = len(span) - len(span.lstrip("`"))
    assert fence == 4
    assert "`" * fence not in span[fence:-fence]


@given(st.text())
def test_spans_and_blocks_hold_any_text(text: str) -> None:
    span = code(text)
    fence = len(span) - len(span.lstrip("`"))
    assert span.endswith("`" * fence)
    assert "\n" not in span
    assert "`" * fence not in span[fence:-fence].strip("` ") or fence == 0
    block = fenced(text).split("\n")
    assert block[0].removesuffix("text") == block[-1]
    assert all(not line.startswith(block[-1]) for line in block[1:-1])


@given(st.text())
def test_no_text_becomes_a_trailer_or_an_escape(text: str) -> None:
    assert all(line.startswith(">") for line in quoted(text).split("\n") if line)
    assert not subject(text, "x").lower().startswith(("tmr-", "depends-on", "signed-off-by"))
    assert len(subject(text, "x")) <= 74
    assert all(char.isprintable() or char.isspace() for char in one_line(text))
    assert not set(plain(text)) & set(map(chr, (*range(0, 9), *range(11, 32), 127)))


PATHS = ("a.py", "b.py", "tests/t.py", "docs/d.md")
edit = st.tuples(st.sampled_from(PATHS), st.integers(0, 7), st.sampled_from("xyz"))
edits = st.lists(st.lists(edit, min_size=1, max_size=3), min_size=1, max_size=6)
LINES = [f"{letter}\n" for letter in string.ascii_lowercase[:8]]


@pytest.mark.slow
@pytest.mark.accept("R2", "R4", "R8", "R9", "R19", "R11")
@settings(max_examples=15, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(edits)
def test_any_edits_give_a_line_of_commits_that_accounts_for_everything(
    tmp_path_factory: pytest.TempPathFactory, edits: list[list[tuple[str, int, str]]]
) -> None:
    scene = Scene(tmp_path_factory.mktemp("any"), dict.fromkeys(PATHS, "".join(LINES)))
    for number, agent in enumerate(edits):
        works = []
        now = {path: list(LINES) for path in PATHS}
        for path, line, text in agent:
            now[path][line] = f"{text}{line}\n"
            works.append(Work(f"{path} {line}", {path: "".join(now[path])}))
        scene.agent(f"test_{number}.py::test_{number}", *works)
    done = scene.integrate()
    assert scene.git("rev-list", "--merges", f"{scene.base}..{done.tip}") == ""
    for record in scene.records:
        told = {
            commit
            for account in done.accounts
            if account.task == record.task.slug
            for commit in account.commits
        }
        assert told == {commit.id for commit in record.commits}
    assert not done.squashed or scene.paths(done.squashed) <= {"tests/t.py", "docs/d.md"}
    depended_on = {commit for fix in done.fixes for commit in fix.depends_on}
    repo = Repository(str(scene.repo), 0)
    for fix in done.fixes:
        assert scene.paths(fix.commit) <= {"a.py", "b.py"}
        inverse = repo.commit(repo.tree(f"{fix.commit}^"), [fix.commit], "inverse")
        assert repo.merge(done.tip, inverse).is_clean or fix.commit in depended_on
    assert scene.integrate() == done
