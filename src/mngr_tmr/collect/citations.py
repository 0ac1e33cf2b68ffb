"""The tutorial blocks that tests cite, read from the base commit without a checkout."""

import os
from collections.abc import Iterable

from mngr_e2e.tutorial.citations import read_tests
from mngr_tmr.git import run_git
from mngr_tmr.model.run import RunSpec
from mngr_tmr.model.task import Task

_DEADLINE_S = 120.0


def cited_blocks(run: RunSpec, tasks: Iterable[Task]) -> dict[str, tuple[str, ...]]:
    """The texts of the blocks that each test cites, by node id."""
    all_tasks = tuple(tasks)
    texts: dict[str, tuple[str, ...]] = {}
    for path, source in sources(run.repo, run.base, {task.file for task in all_tasks}).items():
        for case in read_tests(source, path).cases:
            texts[case.node_id] = tuple(citation.text for citation in case.citations)
    return {task.node_id: texts.get(function_of(task.node_id, task.file), ()) for task in all_tasks}


def function_of(node_id: str, file: str) -> str:
    """A node id without its parameters, with the file named from the top of the repository."""
    return file + "".join(node_id.partition("::")[1:]).partition("[")[0]


def sources(repo: str, commit: str, paths: Iterable[str]) -> dict[str, bytes]:
    """The contents of files at a commit; what is not there is left out."""
    names = sorted(path for path in paths if "\n" not in path)
    asked = b"".join(os.fsencode(f"{commit}:{name}\n") for name in names)
    done = run_git(repo, "cat-file", "--batch", stdin=asked, timeout_s=_DEADLINE_S)
    output = done.check("cannot read the tests").stdout
    found, at = {}, 0
    for name in names:
        end = output.index(b"\n", at)
        words = output[at:end].split()
        at = end + 1
        if words[-1] != b"missing":
            size = int(words[-1])
            found[name] = output[at : at + size]
            at += size + 1
    return found
