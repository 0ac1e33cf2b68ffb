"""The tasks of a new run that need no agent."""

import os

from msgspec import Struct

from mngr_tmr.model.dependencies import SkippedTask
from mngr_tmr.model.run import RunSpec
from mngr_tmr.unchanged.changes import changes_between, files_that_name
from mngr_tmr.unchanged.decide import why_run
from mngr_tmr.unchanged.passes import conditions_of, last_passes

_MOST_NAMES = 500


class UnchangedTests(Struct, frozen=True):
    """By slug: the tasks without an agent, why others with a pass run again, and how each is run now."""

    skipped: dict[str, SkippedTask]
    again: dict[str, str]
    conditions: dict[str, str]


def find_unchanged(runs: str, spec: RunSpec, environment: str) -> UnchangedTests:
    """Looks for the last verified pass of every task in the runs of this folder."""
    conditions = {task.slug: conditions_of(spec, task) for task in spec.tasks}
    passes = last_passes(runs, (task.node_id for task in spec.tasks))
    changes = {
        commit: changes_between(spec.repo, commit, spec.base)
        for commit in {one.commit for one in passes.values()}
    }
    named = {}
    for commit, found in changes.items():
        names = {os.path.basename(change.path) for change in found or ()}
        is_few = len(names) <= _MOST_NAMES
        named[commit] = files_that_name(spec.repo, commit, names) if is_few else None
    skipped, again = {}, {}
    for task in spec.tasks:
        if (known := passes.get(task.node_id)) is None:
            continue
        names_at = named[known.commit]
        why = (
            "very many files changed"
            if names_at is None
            else why_run(
                known,
                changes[known.commit],
                names_at,
                conditions=conditions[task.slug],
                environment=environment,
            )
        )
        if why:
            again[task.slug] = why
        else:
            skipped[task.slug] = SkippedTask(known.run, known.usage, known.worked_s)
    return UnchangedTests(skipped, again, conditions)
