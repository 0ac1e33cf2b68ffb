"""Whether a test has to run again. Pure: unknown means that it does."""

import os
from collections.abc import Mapping, Sequence
from fnmatch import fnmatchcase

from mngr_tmr.model.dependencies import Dependencies, VerifiedPass
from mngr_tmr.unchanged.changes import FileChange
from mngr_tmr.verify.added import is_test_file

HEAD = ".git/HEAD"
"""Among the files of a test it stands for the repository itself: the test runs git, or looks at its commits."""
_CONFIGURATION = (
    *("pyproject.toml", "setup.py", "setup.cfg", "pytest.ini", ".pytest.ini", "tox.ini", "conftest.py"),
    *("requirements*.txt", "*.lock", ".gitmodules", ".gitattributes"),
)
_DOCS = (".md", ".rst", ".adoc")


def why_run(
    known: VerifiedPass,
    changes: Sequence[FileChange] | None,
    named: Mapping[str, frozenset[str]],
    *,
    conditions: str,
    environment: str,
) -> str:
    """Why a test with this pass runs again, in words; empty when nothing that it depends on changed.

    `changes` are those since the commit of its pass, and `named` says by the last part of a changed path which files
    have that name in their text: a test may ask for a file without reading it.
    """
    needs = known.dependencies
    if changes is None:
        return "the commit of its pass is not there any more"
    if known.conditions != conditions:
        return "its prompt, its tutorial block or how it is run changed"
    if needs.environment != environment:
        return "the packages of its Python changed"
    if changes and HEAD in needs.files:
        return "it looks at the repository, and there is another commit"
    reasons = (_why_matters(needs, change, named) for change in changes)
    return next(filter(None, reasons), "")


def _why_matters(needs: Dependencies, change: FileChange, named: Mapping[str, frozenset[str]]) -> str:
    """Why a change matters to a test with these dependencies; empty when it does not."""
    folder, name = os.path.split(change.path)
    is_test, is_docs = is_test_file(change.path), name.lower().endswith(_DOCS)
    if change.path in needs.files:
        return f"{change.path} changed"
    if any(fnmatchcase(name, pattern) for pattern in _CONFIGURATION):
        return f"{change.path} changed, which is configuration"
    if needs.everything and not is_test:
        return f"{change.path} changed, and it is not known what the test reads: {needs.everything}"
    if change.is_other and not (is_test or is_docs):
        return f"{change.path} was added, removed or made something else"
    if change.is_other and (folder in needs.folders or (folder in needs.searched and not is_test)):
        return f"{change.path} was added or removed in a folder that it lists"
    naming = named.get(name, frozenset()) - {change.path}
    is_named = bool(naming) if needs.everything else not naming.isdisjoint(needs.files)
    return f"{change.path} changed, which is named in what it reads" if is_named else ""
