"""What the integrated branch looks like: one squashed commit, then ranked fixes on one line."""

from pathlib import Path

import pytest
from tests.tmr.integrate.scene import Scene, Work

from mngr_tmr.model.integration import Integration

LINES = "".join(f"line {number}\n" for number in range(1, 41))
FILES = {
    "app.py": LINES,
    "other.py": LINES,
    "tests/test_a.py": "def test_a(): pass\n",
    "README.md": "# App\n",
}


@pytest.fixture
def scene(tmp_path: Path) -> Scene:
    return Scene(tmp_path, FILES)


def changed(number: int, text: str, lines: str = LINES) -> str:
    return lines.replace(f"line {number}\n", f"{text}\n")


def log(scene: Scene, done: Integration) -> list[str]:
    return scene.git("log", "--reverse", "--format=%s", f"{scene.base}..{done.branch}").split("\n")[:-1]


def kinds(done: Integration, task: str) -> set[str]:
    return {account.kind for account in done.accounts if account.task == task}


@pytest.mark.accept("R2", "R3", "R4", "R8")
def test_the_branch_is_one_squashed_commit_and_ranked_fixes_on_one_line(scene: Scene) -> None:
    scene.agent("test_a.py::test_a", Work("small fix", {"app.py": changed(3, "three")}), importance=1)
    scene.agent("test_b.py::test_b", Work("big fix", {"other.py": changed(5, "five")}), importance=5)
    scene.agent("test_c.py::test_c", Work("better test", {"tests/test_c.py": "def test_c(): assert 1\n"}))
    scene.agent("test_d.py::test_d", Work("a word", {"README.md": "# The app\n"}))
    done = scene.integrate()
    assert log(scene, done) == ["tests, docs: what 2 tasks changed", "big fix", "small fix"]
    assert scene.git("rev-list", "--merges", f"{scene.base}..{done.branch}") == ""
    assert scene.paths(done.squashed) == {"tests/test_c.py", "README.md"}
    assert [fix.rank for fix in done.fixes] == [1, 2]
    assert scene.git("rev-parse", done.branch).strip() == done.tip == done.fixes[-1].commit
    slugs = [record.task.slug for record in scene.records]
    assert [kinds(done, slug) for slug in slugs] == [{"separate"}, {"separate"}, {"squashed"}, {"squashed"}]


@pytest.mark.accept("R3", "R9", "R19")
def test_trailers_say_rank_reason_and_credit(scene: Scene) -> None:
    fix = {"app.py": changed(3, "three")}
    first = scene.agent("test_a.py::test_a", Work("mend it", fix))
    second = scene.agent("test_b.py::test_b", Work("repair it", fix))
    done = scene.integrate()
    said = scene.git("log", "-1", "--format=%(trailers:only,unfold)", done.tip)
    assert "Tmr-Rank: 1\n" in said
    assert "Tmr-Reason: 2 agents made it, 2 of their tests failed before" in said
    assert f"Tmr-Task: {first.task.slug} {first.task.node_id}\n" in said
    assert f"Tmr-Task: {second.task.slug} {second.task.node_id}\n" in said


@pytest.mark.accept("R9", "R8")
def test_identical_fixes_become_one_commit_that_credits_all(scene: Scene) -> None:
    fix = {"app.py": changed(3, "three")}
    slugs = [scene.agent(f"test_{n}.py::test_{n}", Work(f"fix {n}", fix)).task.slug for n in range(5)]
    done = scene.integrate()
    assert len(done.fixes) == 1
    assert set(done.fixes[0].tasks) == set(slugs)
    assert [kinds(done, slug) for slug in slugs] == [{"separate"}, *[{"merged_into"}] * 4]
    assert {account.into for account in done.accounts} == {done.tip}


@pytest.mark.accept("R2", "R8", "R9")
def test_identical_test_changes_are_all_squashed(scene: Scene) -> None:
    better = {"tests/test_a.py": "def test_a(): assert 1\n"}
    slugs = [scene.agent(f"test_{n}.py::test_{n}", Work(f"better {n}", better)).task.slug for n in range(3)]
    done = scene.integrate()
    assert [kinds(done, slug) for slug in slugs] == [{"squashed"}] * 3
    assert {account.into for account in done.accounts} == {done.squashed}
    said = scene.git("log", "-1", "--format=%(trailers:key=Tmr-Task,valueonly)", done.squashed)
    assert all(slug in said for slug in slugs)


@pytest.mark.accept("R9")
def test_indentation_is_no_whitespace_noise(scene: Scene) -> None:
    scene.agent("test_a.py::test_a", Work("one", {"app.py": changed(3, "if x:\n    a()\n    b()")}))
    scene.agent("test_b.py::test_b", Work("two", {"app.py": changed(3, "if x:\n    a()\nb()")}))
    done = scene.integrate()
    assert len(done.fixes) == 1
    assert done.fixes[0].tasks == (scene.records[0].task.slug,)
    slug = scene.records[1].task.slug
    assert (done.conflicts[0]["unit"], done.conflicts[0]["tasks"]) == (f"{slug}/fix-1", (slug,))


@pytest.mark.accept("R9")
def test_a_fix_that_holds_another_one_keeps_only_the_rest(scene: Scene) -> None:
    both = changed(30, "thirty", changed(3, "three"))
    large = scene.agent("test_a.py::test_a", Work("both", {"app.py": both}), importance=5)
    small = scene.agent("test_b.py::test_b", Work("one", {"app.py": changed(3, "three")}), importance=1)
    done = scene.integrate()
    assert [fix.title for fix in done.fixes] == ["one", "both"]
    assert done.fixes[0].tasks == (small.task.slug, large.task.slug)
    rest = scene.git("show", "--format=", done.tip)
    assert "+thirty" in rest
    assert "+three" not in rest
    assert done.fixes[1].depends_on == (done.fixes[0].commit,)


@pytest.mark.accept("R2", "M6")
def test_a_commit_of_both_kinds_is_cut_by_path(scene: Scene) -> None:
    record = scene.agent(
        "test_a.py::test_a",
        Work("fix and test", {"app.py": changed(3, "three"), "tests/test_a.py": "def test_a(): assert 3\n"}),
    )
    done = scene.integrate()
    assert scene.paths(done.squashed) == {"tests/test_a.py"}
    assert scene.paths(done.fixes[0].commit) == {"app.py"}
    assert kinds(done, record.task.slug) == {"squashed", "separate"}


@pytest.mark.accept("M6")
def test_a_mislabelled_commit_counts_as_implementation_and_is_flagged(scene: Scene) -> None:
    scene.agent("test_a.py::test_a", Work("only a test", {"app.py": changed(3, "three")}, claimed="test"))
    scene.agent("test_b.py::test_b", Work("honest", {"other.py": changed(3, "three")}))
    done = scene.integrate()
    assert not done.squashed
    flags = {fix.title: fix.is_mislabelled for fix in done.fixes}
    assert flags == {"only a test": True, "honest": False}


@pytest.mark.accept("M5", "R3")
def test_commits_of_one_change_become_one_fix_and_others_their_own(scene: Scene) -> None:
    scene.agent(
        "test_a.py::test_a",
        Work("begin", {"app.py": changed(3, "thre")}, change=1),
        Work("unrelated", {"other.py": changed(7, "seven")}, change=2),
        Work("spelling", {"app.py": changed(3, "three")}, change=1),
    )
    done = scene.integrate()
    assert sorted(fix.title for fix in done.fixes) == ["begin", "unrelated"]
    assert scene.show(done.tip, "app.py") == changed(3, "three")


@pytest.mark.accept("R19", "R6")
def test_a_fix_on_top_of_another_says_so_and_the_rest_reverts_cleanly(scene: Scene) -> None:
    scene.agent(
        "test_a.py::test_a",
        Work("first", {"app.py": changed(3, "three")}, change=1),
        Work("second", {"app.py": changed(3, "three and more")}, change=2),
        Work("third", {"app.py": changed(30, "thirty", changed(3, "three and more"))}, change=3),
    )
    done = scene.integrate()
    by_title = {fix.title: fix for fix in done.fixes}
    assert by_title["second"].depends_on == (by_title["first"].commit,)
    assert by_title["third"].depends_on == ()
    said = scene.git("log", "-1", "--format=%(trailers:only)", by_title["second"].commit)
    assert f"Depends-on: {by_title['first'].commit}" in said
    depended_on = {commit for fix in done.fixes for commit in fix.depends_on}
    scene.git("checkout", "-q", "--detach", done.tip)
    for fix in done.fixes:
        if fix.commit not in depended_on:
            scene.git("revert", "--no-edit", fix.commit)
            scene.git("reset", "-q", "--hard", done.tip)
    with pytest.raises(Exception, match="could not revert"):
        scene.git("revert", "--no-edit", by_title["first"].commit)


@pytest.mark.accept("R5", "R8")
def test_a_conflict_is_named_and_the_rest_goes_on(scene: Scene) -> None:
    one = scene.agent("test_a.py::test_a", Work("mine", {"app.py": changed(3, "mine")}), importance=5)
    two = scene.agent("test_b.py::test_b", Work("yours", {"app.py": changed(3, "yours")}), importance=1)
    scene.agent("test_c.py::test_c", Work("another", {"other.py": changed(9, "nine")}))
    done = scene.integrate()
    assert sorted(fix.title for fix in done.fixes) == ["another", "mine"]
    conflict = done.conflicts[0]
    assert conflict["tasks"] == (two.task.slug,)
    assert conflict["others"] == (one.task.slug,)
    assert conflict["files"] == ("app.py",)
    assert "mine" in conflict["hunks"][0]["text"]
    assert "yours" in conflict["hunks"][0]["text"]
    why = next(account.why for account in done.accounts if account.task == two.task.slug)
    assert one.task.slug in why
    assert kinds(done, two.task.slug) == {"excluded"}


@pytest.mark.accept("R5")
def test_tests_added_at_the_same_place_are_both_kept(scene: Scene) -> None:
    old = str(FILES["tests/test_a.py"])
    for name in ("x", "y", "z"):
        added = f"{old}\n\ndef test_{name}():\n    assert '{name}'\n"
        scene.agent(f"test_a.py::test_{name}", Work(f"add {name}", {"tests/test_a.py": added}))
    done = scene.integrate()
    assert done.conflicts == ()
    text = scene.show(done.tip, "tests/test_a.py")
    assert [line for line in text.split("\n") if line.startswith("def")] == [
        "def test_a(): pass",
        "def test_x():",
        "def test_y():",
        "def test_z():",
    ]


@pytest.mark.accept("R5")
def test_two_tests_of_one_name_are_a_conflict(scene: Scene) -> None:
    old = str(FILES["tests/test_a.py"])
    for name in ("x", "y"):
        added = f"{old}\n\ndef test_new():\n    assert '{name}'\n"
        scene.agent(f"test_a.py::test_{name}", Work(f"add {name}", {"tests/test_a.py": added}))
    done = scene.integrate()
    assert len(done.conflicts) == 1
    assert scene.show(done.tip, "tests/test_a.py").count("def test_new") == 1


@pytest.mark.accept("R5")
def test_a_merge_that_git_likes_and_python_does_not_is_a_conflict(scene: Scene) -> None:
    scene.agent(
        "test_a.py::test_a", Work("top", {"tests/test_a.py": "def test_n(): pass\n\n\ndef test_a(): pass\n"})
    )
    scene.agent(
        "test_b.py::test_b", Work("end", {"tests/test_a.py": "def test_a(): pass\n\n\ndef test_n(): pass\n"})
    )
    done = scene.integrate()
    assert done.conflicts[0]["messages"] == ("merged line by line, a file can no longer be read",)


@pytest.mark.accept("R5")
def test_whoever_settles_a_conflict_may_not_touch_anything_else(scene: Scene) -> None:
    scene.agent("test_a.py::test_a", Work("mine", {"app.py": changed(3, "mine")}), importance=5)
    scene.agent("test_b.py::test_b", Work("yours", {"app.py": changed(3, "yours")}), importance=1)
    good = scene.commits("good", scene.base, [Work("both", {"app.py": changed(3, "ours")})])[0]
    bad = scene.commits("bad", scene.base, [Work("both", {"app.py": changed(3, "ours"), "other.py": "x\n"})])[
        0
    ]
    tree = {
        name: scene.git("rev-parse", f"{commit}^{{tree}}").strip()
        for name, commit in (("g", good), ("b", bad))
    }
    done = scene.integrate(lambda conflict: tree["g"])
    assert scene.show(done.tip, "app.py") == changed(3, "ours")
    assert [fix.title for fix in done.fixes] == ["mine", "yours"]
    refused = scene.integrate(lambda conflict: tree["b"])
    assert [fix.title for fix in refused.fixes] == ["mine"]
    assert "also changes 'other.py'" in refused.conflicts[0]["messages"][-1]


@pytest.mark.accept("R11", "P9")
def test_integrating_again_gives_the_same_commits_and_touches_no_checkout(scene: Scene) -> None:
    scene.agent("test_a.py::test_a", Work("fix", {"app.py": changed(3, "three")}))
    scene.agent("test_b.py::test_b", Work("test", {"tests/test_b.py": "def test_b(): pass\n"}))
    (scene.repo / "app.py").write_text("unsaved work\n")
    (scene.repo / ".git/hooks/reference-transaction").write_text("#!/bin/sh\nexit 1\n")
    (scene.repo / ".git/hooks/reference-transaction").chmod(0o755)
    before = scene.git("status", "--porcelain=v2", "--branch")
    done = scene.integrate()
    assert scene.integrate() == done
    assert scene.git("status", "--porcelain=v2", "--branch") == before
    assert (scene.repo / "app.py").read_text() == "unsaved work\n"
    assert scene.git("log", "-1", "--format=%an %ae", done.tip) == "Ada ada@example.com\n"


@pytest.mark.accept("R14")
def test_nothing_to_integrate_is_an_integration_too(scene: Scene) -> None:
    scene.agent("test_a.py::test_a", before="passed")
    scene.agent(
        "test_b.py::test_b", Work("bad", {"app.py": changed(3, "x")}), before="passed", after="failed"
    )
    done = scene.integrate()
    assert done.tip == done.base == scene.base
    assert [account.kind for account in done.accounts] == ["nothing", "excluded"]
