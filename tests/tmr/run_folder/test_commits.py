"""What an agent's commits claim, and what their paths show."""

import pytest
from tests.tmr.project import Project

from mngr_tmr.model.result import Change, Claim, Result
from mngr_tmr.run_folder.commits import read_commits


@pytest.mark.accept("M5", "M6")
def test_kinds_come_from_trailers_and_are_checked_against_paths(project: Project) -> None:
    base = project.head()
    project.commit("fix it\n\nKind: implementation", app="x = 1\n")
    project.commit("test it\n\nKind: test", tests__test_a="def test_one(): pass\n")
    project.commit("only tests, it says\n\nKind: test", app="x = 2\n", tests__test_a="")
    project.commit("no word")
    (project.repo / "README.md").write_text("read me\n")
    project.commit("words\n\nKind: docs")
    commits = read_commits(str(project.repo), base, "HEAD")
    assert [(c.subject, c.claimed, c.kind, c.is_mislabelled) for c in commits] == [
        ("fix it", "implementation", "implementation", False),
        ("test it", "test", "test", False),
        ("only tests, it says", "test", "implementation", True),
        ("no word", None, "docs", False),
        ("words", "docs", "docs", False),
    ]
    assert commits[2].paths == ("app.py", "tests/test_a.py")
    assert commits[-1].id == project.head()


@pytest.mark.accept("M5")
def test_without_a_trailer_the_result_tells_the_kind(project: Project) -> None:
    base = project.head()
    tip = project.commit("quiet\n\nKind: feature", tests__test_a="")
    change = Change("tutorial", (tip[:10],), "s")
    claim = Claim(Result("t", "fixed", None, None, "s", changes=(change,)))
    (commit,) = read_commits(str(project.repo), base, tip, claim)
    assert (commit.claimed, commit.kind) == ("tutorial", "tutorial")


@pytest.mark.accept("M6")
def test_a_projects_own_patterns_say_what_is_implementation(project: Project) -> None:
    base = project.head()
    project.commit("kit\n\nKind: test", tests__kit="x = 1\n")
    assert read_commits(str(project.repo), base, "HEAD", None, ("tests/kit.py",))[0].is_mislabelled


@pytest.mark.accept("M6", "Q5")
def test_links_odd_names_and_merges_do_not_slip_through(project: Project) -> None:
    base = project.head()
    (project.repo / "tests").mkdir()
    (project.repo / "tests/link").symlink_to("../app.py")
    project.commit("link\n\nKind: test")
    (project.repo / "tests/a\nb\t'c.py").write_text("")
    project.commit("odd\n\nKind: test")
    project.world.git("checkout", "-q", "-b", "side", base)
    project.commit("beside", app="x = 1\n")
    project.world.git("checkout", "-q", "main")
    project.world.git("merge", "-q", "--no-ff", "-m", "merge\n\nKind: test", "side")
    project.world.git("branch", "-q", "-D", "side")
    commits = read_commits(str(project.repo), base, "HEAD")
    assert [(c.kind, c.is_mislabelled) for c in commits] == [
        ("implementation", True),
        ("test", False),
        ("implementation", True),
    ]
    assert commits[1].paths == ("tests/a\nb\t'c.py",)
    assert read_commits(str(project.repo), base, base) == ()
