"""What a changed path is: implementation, test, docs or tutorial. Whatever fits no rule is implementation."""

from collections.abc import Sequence
from fnmatch import fnmatchcase

from mngr_tmr.model.result import ChangeKind

_TEST_FOLDERS = frozenset(("test", "tests", "e2e", "__tests__"))
_DOCS_FOLDERS = frozenset(("doc", "docs", "man"))
_DOCS_ENDINGS = (".md", ".rst", ".adoc")


def path_kind(path: str, implementation: Sequence[str] = (), tutorial: str = "") -> ChangeKind:
    """The kind of one path of the repository; the patterns of `implementation` come before every rule."""
    if any(
        fnmatchcase(path, pattern) or path.startswith(pattern.rstrip("/") + "/") for pattern in implementation
    ):
        return "implementation"
    if tutorial and path == tutorial:
        return "tutorial"
    *folders, name = path.split("/")
    stem = name.partition(".")[0]
    is_test = name == "conftest.py" or stem.startswith("test_") or stem.endswith("_test")
    if is_test or not _TEST_FOLDERS.isdisjoint(folders):
        return "test"
    if not _DOCS_FOLDERS.isdisjoint(folders) or name.lower().endswith(_DOCS_ENDINGS):
        return "docs"
    return "implementation"


def commit_kind(paths: Sequence[str], implementation: Sequence[str] = (), tutorial: str = "") -> ChangeKind:
    """The kind of a commit: implementation as soon as one path is, else test, tutorial, docs, in this order."""
    kinds = {path_kind(path, implementation, tutorial) for path in paths}
    order: tuple[ChangeKind, ...] = ("implementation", "test", "tutorial")
    return next((kind for kind in order if kind in kinds), "docs")
