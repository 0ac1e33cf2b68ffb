"""Whether a test runs again: every sort of change, and what it takes to matter."""

import pytest
from msgspec.structs import replace

from mngr_tmr.model.dependencies import Dependencies, VerifiedPass
from mngr_tmr.unchanged.changes import FileChange
from mngr_tmr.unchanged.decide import why_run

NEEDS = Dependencies(
    ("tests/test_a.py", "src/app.py"), folders=("data",), searched=("", "tests", "docs"), environment="e"
)
PASS = VerifiedPass("nightly-1", "c" * 40, "conditions", NEEDS)


def why(
    *changes: FileChange,
    known: VerifiedPass = PASS,
    named: dict[str, frozenset[str]] | None = None,
    conditions: str = "conditions",
    environment: str = "e",
) -> str:
    return why_run(known, changes, named or {}, conditions=conditions, environment=environment)


def content(path: str) -> FileChange:
    return FileChange(path)


def other(path: str) -> FileChange:
    return FileChange(path, is_other=True)


@pytest.mark.accept("O11")
@pytest.mark.parametrize(
    "change",
    [
        content("src/app.py"),
        content("tests/test_a.py"),
        content("pyproject.toml"),
        content("other/conftest.py"),
        content("requirements-dev.txt"),
        other("src/new.py"),
        other("src/app.py"),
        other("tests/helper.py"),
        other("data/notes.md"),
        other("data/test_x.py"),
        other("docs/new.md"),
    ],
    ids=str,
)
def test_a_change_that_may_matter_makes_it_run(change: FileChange) -> None:
    assert change.path in why(change)
    assert change.path in why(content("src/other.py"), change)


@pytest.mark.accept("O11")
@pytest.mark.parametrize(
    "change",
    [
        content("src/other.py"),
        content("tests/test_b.py"),
        other("tests/test_c.py"),
        content("docs/page.md"),
        other("notes/new.md"),
    ],
    ids=str,
)
def test_a_change_that_it_does_not_read_lets_it_be_skipped(change: FileChange) -> None:
    assert why(change) == ""


def test_a_file_that_is_named_in_what_it_reads_matters_though_it_was_not_read() -> None:
    change = content("docs/page.md")
    assert why(change, named={"page.md": frozenset({"src/other.py"})}) == ""
    assert "page.md" in why(change, named={"page.md": frozenset({"src/app.py"})})


@pytest.mark.accept("O11")
def test_where_reading_was_not_seen_only_other_tests_do_not_matter() -> None:
    known = replace(PASS, dependencies=replace(NEEDS, everything="no access times"))
    assert why(content("tests/test_b.py"), known=known) == ""
    assert (
        why(content("tests/test_b.py"), known=known, named={"test_b.py": frozenset({"tests/test_b.py"})})
        == ""
    )
    assert why(content("tests/test_b.py"), known=known, named={"test_b.py": frozenset({"src/x.py"})})
    assert "no access times" in why(content("docs/page.md"), known=known)
    assert "no access times" in why(content("src/other.py"), known=known)


@pytest.mark.accept("O11")
def test_conditions_environment_and_repository_are_dependencies_too() -> None:
    assert why() == ""
    assert "prompt" in why(conditions="others")
    assert "packages" in why(environment="another")
    assert "not there any more" in why_run(PASS, None, {}, conditions="conditions", environment="e")
    known = replace(PASS, dependencies=replace(NEEDS, files=(".git/HEAD",)))
    assert why(known=known) == ""
    assert "repository" in why(content("docs/page.md"), known=known)
