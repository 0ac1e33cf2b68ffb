"""Tests that an agent's branch adds: what its changed test files hold now and the base did not."""

import os
from collections.abc import Iterable, Sequence

from mngr_e2e.tutorial.citations import read_tests
from mngr_tmr.collect.citations import function_of, sources
from mngr_tmr.copies.copy import Copy, PytestRequest
from mngr_tmr.copies.facts import CollectedTest
from mngr_tmr.git import run_git
from mngr_tmr.model.run import RunSpec

_DEADLINE_S = 120.0
_SHOWN = 1000


def added_tests(copy: Copy, run: RunSpec) -> tuple[tuple[str, ...], str]:
    """Node ids that are new at the copy's commit, and what is wrong with a changed test file, if anything."""
    changed = changed_tests(run, copy.commit)
    if not changed:
        return (), ""
    args = ("--collect-only", "-q", *run.pytest_args, *(_from_folder(run, path) for path in changed))
    ran = copy.pytest(args, PytestRequest(files=changed), run.options.verify_deadline_s)
    names = ", ".join(one.node_id for one in ran.facts.broken)
    problem = f"a changed test file cannot be collected: {names}" if names else ""
    return new_tests(run, changed, ran.facts.tests), problem


def changed_tests(run: RunSpec, commit: str) -> tuple[str, ...]:
    """Python test files that differ from the base and exist at the commit."""
    if commit == run.base:
        return ()
    words = ("diff-tree", "-r", "-z", "--name-only", "--no-renames", "--diff-filter=d", run.base, commit)
    done = run_git(run.repo, *words, timeout_s=_DEADLINE_S).check("cannot compare commits")
    paths = os.fsdecode(done.stdout).split("\0")
    return tuple(path for path in paths if is_test_file(path))


def new_tests(run: RunSpec, changed: Iterable[str], found: Iterable[CollectedTest]) -> tuple[str, ...]:
    """Of the tests found, those in changed files that the base did not have."""
    files = set(changed)
    known = {_place(task.node_id, task.file) for task in run.tasks}
    with_tasks = {function_of(task.node_id, task.file) for task in run.tasks}
    texts = sources(run.repo, run.base, files)
    at_base = {case.node_id for path, text in texts.items() for case in read_tests(text, path).cases}

    def is_new(test: CollectedTest) -> bool:
        function = function_of(test.node_id, test.file)
        is_known = _place(test.node_id, test.file) in known
        return not is_known and (function not in at_base or function in with_tasks)

    return tuple(
        test.node_id for test in found if test.file in files and not test.deselected and is_new(test)
    )


def files_of_added(run: RunSpec, commit: str, node_ids: Sequence[str]) -> tuple[str, ...]:
    """What pytest must be given besides the run's own arguments so that it finds tests which the run did not have."""
    tasks = {task.node_id: task.file for task in run.tasks}
    if all(node_id in tasks for node_id in node_ids):
        return ()
    top = f"{run.folder}/" if run.folder else ""
    files = {tasks.get(node_id, top + node_id.partition("::")[0]) for node_id in node_ids}
    return tuple(_from_folder(run, path) for path in sorted(sources(run.repo, commit, files)))


def _place(node_id: str, file: str) -> str:
    """A test by its file from the top of the repository: pytest's own ids depend on how it was called."""
    return file + "".join(node_id.partition("::")[1:])


def _from_folder(run: RunSpec, path: str) -> str:
    """A path of the repository as pytest is given it: it runs in the run's folder."""
    return os.path.relpath(path, run.folder) if run.folder else path


def is_test_file(path: str) -> bool:
    name = os.path.basename(path)
    return name.endswith(".py") and (name.startswith("test_") or name.endswith("_test.py"))
