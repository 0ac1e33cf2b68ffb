"""How long tests took in past runs, so that the longest can start first."""

import os

from msgspec.structs import replace

import mngr
from mngr_tmr.engine.journal import JournalError, read_journal
from mngr_tmr.model.task import Task
from mngr_tmr.run_folder.folder import RunFolder, read_spec, run_names
from mngr_tmr.run_folder.records import spans

_RUNS = 3


def with_expected(runs: str, tasks: tuple[Task, ...]) -> tuple[Task, ...]:
    """The tasks, each with the longest work it took in the last few runs; one that cannot be read is left out."""
    known: dict[str, float] = {}
    for name in run_names(runs)[-_RUNS:]:
        folder = RunFolder(os.path.join(runs, name))
        try:
            lives = spans(read_spec(folder), read_journal(folder.journal))
        except (OSError, JournalError, mngr.MngrError, KeyError):
            continue
        for slug, life in lives.items():
            seconds = sum(span.end - span.start for span in life if span.kind == "work")
            known[slug] = max(seconds, known.get(slug, 0.0))
    return tuple(replace(task, expected_s=known.get(task.slug, 0.0)) for task in tasks)
