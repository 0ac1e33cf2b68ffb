"""Tests that exist only in the user's work tree: agents would never see them, so they stop a run."""

import os
import shlex

import mngr
from mngr_e2e.tutorial.citations import is_test_file
from mngr_tmr.git import run_git
from mngr_tmr.model.run import RunSpec

_DEADLINE_S = 120.0


def refuse_uncommitted(run: RunSpec) -> None:
    """Raises when a selected test file is untracked or changed in the user's checkout."""
    found = uncommitted_tests(run)
    if found:
        words = shlex.join(found)
        raise mngr.RefusedError(
            f"selected tests are not committed: {', '.join(found)}",
            hint=f'commit them, agents start from a commit: git add -- {words} && git commit -m "tests" -- {words}',
        )


def uncommitted_tests(run: RunSpec) -> tuple[str, ...]:
    """Paths, from the top of the repository, of selected test files that no commit holds as they are."""
    words = ("status", "--porcelain", "-z", "--untracked-files=all", "--no-renames")
    done = run_git(run.repo, *words, timeout_s=_DEADLINE_S).check("cannot see what is uncommitted")
    records = os.fsdecode(done.stdout).split("\0")
    changed = [record[3:] for record in records if record and "D" not in record[:2]]
    # The words of the selection that are paths of the checkout, from its top; empty: the whole folder.
    top = os.path.realpath(run.repo)
    here = os.path.join(top, run.folder)
    paths = [os.path.join(here, word.partition("::")[0]) for word in run.pytest_args if word[:1] != "-"]
    inside = [os.path.relpath(os.path.realpath(path), top) for path in paths if os.path.lexists(path)]
    places = tuple(inside) or (run.folder or ".",)
    return tuple(
        path
        for path in changed
        if is_test_file(path)
        and any(place == "." or path == place or path.startswith(place + "/") for place in places)
    )
