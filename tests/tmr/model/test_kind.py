"""Paths as kinds of change."""

import pytest

from mngr_tmr.model.kind import commit_kind, path_kind


@pytest.mark.accept("M5", "M6")
@pytest.mark.parametrize(
    ("path", "kind"),
    [
        ("src/app/main.py", "implementation"),
        ("pyproject.toml", "implementation"),
        (".gitattributes", "implementation"),
        ("requirements.txt", "implementation"),
        ("src/latest_news.py", "implementation"),
        ("src/contest.py", "implementation"),
        ("tests/e2e/test_help.py", "test"),
        ("src/app/test_main.py", "test"),
        ("main_test.go", "test"),
        ("conftest.py", "test"),
        ("tests/data/expected.txt", "test"),
        ("README.md", "docs"),
        ("docs/man/app.1", "docs"),
        ("tutorial.sh", "tutorial"),
    ],
)
def test_a_path_tells_its_kind(path: str, kind: str) -> None:
    assert path_kind(path, tutorial="tutorial.sh") == kind


@pytest.mark.accept("M6")
def test_patterns_of_the_run_come_before_the_rules() -> None:
    assert path_kind("lib/tests/runner.py", ("lib",)) == "implementation"
    assert path_kind("lib/tests/runner.py", ("lib/*",)) == "implementation"
    assert path_kind("library/tests/runner.py", ("lib",)) == "test"


@pytest.mark.accept("M6")
def test_one_implementation_path_makes_a_commit_implementation() -> None:
    assert commit_kind(("tests/test_a.py", "README.md", "app.py")) == "implementation"
    assert commit_kind(("tests/test_a.py", "README.md")) == "test"
    assert commit_kind(("tutorial.sh", "README.md"), tutorial="tutorial.sh") == "tutorial"
    assert commit_kind(("README.md",)) == "docs"
