"""Verified passes in the folder of a run (`passes.json`), for the runs that follow."""

import hashlib
import os
from collections.abc import Iterable, Mapping
from contextlib import suppress

import msgspec
from msgspec import Struct
from msgspec.structs import replace

import mngr
from mngr_tmr.model.dependencies import Dependencies, DependencyTable, VerifiedPass, packed
from mngr_tmr.model.record import TaskRecord
from mngr_tmr.model.run import RunSpec
from mngr_tmr.model.task import Task
from mngr_tmr.prompts.render import render_prompt
from mngr_tmr.run_folder.folder import RunFolder, read_json, read_spec, run_names
from mngr_tmr.run_folder.records import read_base_dependencies

_RUNS = 30
_GOOD = ("fixed", "improved", "unchanged")
_NO_PASSES = Dependencies()
_HOW = (
    *("type", "args", "provider", "transfer", "own_venv", "setup", "programs", "env_names", "verify_runs"),
    "implementation",
)


class PassFile(Struct, frozen=True):
    """The passes by node id, their dependencies in a table."""

    passes: dict[str, VerifiedPass] = {}
    dependencies: DependencyTable = DependencyTable()


def conditions_of(spec: RunSpec, task: Task) -> str:
    """A digest of the agent's prompt and of how its test is run, whatever the base commit is."""
    how = {name: getattr(spec.options, name) for name in _HOW}
    prompt = render_prompt(replace(spec, base=""), task)
    counted = (how, spec.pytest_in_copy, spec.pytest_args, spec.folder, spec.tutorial, task.blocks, prompt)
    return hashlib.sha256(msgspec.json.encode(counted)).hexdigest()[:16]


def write_passes(folder: RunFolder, spec: RunSpec, records: Iterable[TaskRecord]) -> None:
    """Writes which of these tests passed as their agents left them, and what they depend on. Others have no entry.

    A skipped test that passed at the base keeps its entry, which now stands for the base of this run.
    """
    at_base = read_base_dependencies(folder)
    passes = {
        record.task.node_id: one for record in records if (one := _pass_of(spec, record, at_base)) is not None
    }
    table = packed({test: one.dependencies for test, one in passes.items()})
    bare = {test: replace(one, dependencies=_NO_PASSES) for test, one in passes.items()}
    folder.writer.write_json(folder.passes, PassFile(bare, table))


def last_passes(runs: str, tests: Iterable[str]) -> dict[str, VerifiedPass]:
    """The pass of each test in the newest run that had it; none where it failed there, or the run does not tell."""
    left, found = set(tests), dict[str, VerifiedPass]()
    for name in reversed(run_names(runs)[-_RUNS:]):
        if not left:
            break
        folder = RunFolder(os.path.join(runs, name))
        try:
            had = {task.node_id for task in read_spec(folder).tasks}
        except (OSError, mngr.MngrError):
            continue
        with suppress(OSError, mngr.MngrError, LookupError):
            read = read_json(folder.passes, PassFile)
            known = read.dependencies.unpacked()
            passes = {test: replace(one, dependencies=known[test]) for test, one in read.passes.items()}
            found |= {test: one for test, one in passes.items() if test in left}
        left -= had
    return found


def _pass_of(spec: RunSpec, record: TaskRecord, at_base: Mapping[str, Dependencies]) -> VerifiedPass | None:
    test, slug = record.task.node_id, record.task.slug
    verified = record.before if record.end == "skipped" else record.after
    if verified is None or verified.verdict != "passed":
        return None
    needs = verified.dependencies or (at_base.get(test) if verified.commit == spec.base else None)
    conditions = spec.conditions.get(slug, "")
    if needs is None or not conditions or conditions != conditions_of(spec, record.task):
        return None
    if record.end == "skipped":
        since = spec.skipped[slug]
        return VerifiedPass(since.since, verified.commit, conditions, needs, since.usage, since.worked_s)
    result = record.claim.result if record.claim and not record.claim.problem else None
    if (
        record.end != "result"
        or result is None
        or result.outcome not in _GOOD
        or result.passed_after is False
    ):
        return None
    return VerifiedPass(spec.id, verified.commit, conditions, needs, record.usage, record.worked_s)
