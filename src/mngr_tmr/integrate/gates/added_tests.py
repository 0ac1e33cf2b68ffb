"""Tests that agents added: who added each, whether it passes on the branch and cites a block."""

import os
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from msgspec import Struct

from mngr_tmr.git import Repository
from mngr_tmr.integrate.gates.tutorial_check import report_at
from mngr_tmr.integrate.split.change import TaskChange
from mngr_tmr.model.record import TaskRecord
from mngr_tmr.model.run import RunSpec


class AddedTest(Struct, frozen=True):
    """A test that the base does not have.

    `cites` is None where no citation is asked for: without a tutorial, or for one more case of an old test.
    """

    node_id: str
    file: str
    task: str
    cites: bool | None = None

    def as_row(self, outcome: str) -> dict[str, Any]:
        return {
            "node_id": self.node_id,
            "file": self.file,
            "task": self.task,
            "by": f"added by {self.task}",
            "outcome": outcome,
            "cites": self.cites,
        }


def find_added(
    repo: Repository, run: RunSpec, commit: str, collected: Iterable[str], makers: Mapping[str, str]
) -> tuple[AddedTest, ...]:
    """The tests of a commit that were not collected at the base; `makers` tells who added which."""
    known = {task.node_id for task in run.tasks}
    functions = {_function(run, node_id) for node_id in known}
    new = [node_id for node_id in collected if node_id not in known]
    report = report_at(repo, run, commit) if run.tutorial and new else None
    cited = {link.node_id for link in report.links} if report else set[str]()
    return tuple(
        AddedTest(
            node_id,
            file_of(run, node_id),
            makers.get(node_id, ""),
            function in cited if run.tutorial and function not in functions else None,
        )
        for node_id, function in ((node_id, _function(run, node_id)) for node_id in new)
    )


def makers_of(
    run: RunSpec, records: Sequence[TaskRecord], changes: Sequence[TaskChange], node_ids: Iterable[str]
) -> dict[str, str]:
    """The task that added each test: the one whose check saw it, else the one whose change touches its file."""
    seen = {
        node_id: record.task.slug
        for record in reversed(records)
        if record.after
        for node_id in record.after.added
    }
    by_path = {path: change.tasks[0] for change in reversed(changes) for path in change.paths}
    return {node_id: seen.get(node_id) or by_path.get(file_of(run, node_id), "") for node_id in node_ids}


def file_of(run: RunSpec, node_id: str) -> str:
    """The file of a test, from the top of the repository."""
    return os.path.normpath(os.path.join(run.folder, node_id.partition("::")[0]))


def _function(run: RunSpec, node_id: str) -> str:
    return file_of(run, node_id) + "".join(node_id.partition("::")[1:]).partition("[")[0]
