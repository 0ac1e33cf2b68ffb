"""Which runs are meant: by name, by folder, all, or the newest."""

import os
from collections.abc import Sequence

from mngr_e2e.view.attempts import TestRunFolder
from mngr_e2e.view.runs import find_runs, is_run
from mngr_lib.safe_text import one_line


class NoSuchRunError(LookupError):
    """A word that names no run; `known` are the names that would have done."""

    def __init__(self, word: str, known: Sequence[str]) -> None:
        super().__init__(word)
        self.word, self.known = word, tuple(known)


def all_runs(artifacts: Sequence[str]) -> list[TestRunFolder]:
    """Every run in folders of runs, the oldest first."""
    found = {run.path: run for folder in artifacts for run in find_runs(folder)}
    return sorted(found.values(), key=lambda run: (run.changed_ns, run.id))


def chosen_runs(words: Sequence[str], artifacts: Sequence[str]) -> list[TestRunFolder]:
    """The runs that words mean, each a run's name, a run's folder or a folder of runs."""
    known = all_runs(artifacts)
    found: dict[str, TestRunFolder] = {}
    for word in words:
        folder = os.path.realpath(word)
        meant = [run for run in known if run.id == word]
        if not meant and is_run(folder):
            name = one_line(os.path.basename(folder))
            meant = [TestRunFolder(name, folder, os.stat(folder).st_mtime_ns)]
        elif not meant and os.path.isdir(folder):
            meant = find_runs(folder)
        if not meant:
            raise NoSuchRunError(word, [run.id for run in reversed(known)])
        found |= {run.path: run for run in meant}
    return list(found.values())
