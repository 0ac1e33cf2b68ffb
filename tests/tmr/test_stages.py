"""The stages of a run, walked whole and in parts."""

import os

import pytest
from msgspec.structs import replace
from tests.tmr.project import Project

import mngr
from mngr_tmr import stages
from mngr_tmr.model.run import RunOptions, RunSpec, Secrets
from mngr_tmr.run.integration_stage import open_journal
from mngr_tmr.run_folder.folder import runs_folder
from mngr_tmr.run_folder.redact import NOTHING_TO_HIDE
from mngr_tmr.stages import STAGES, Pipeline, PipelineRequest, walk


def begin(project: Project) -> Pipeline:
    project.commit("tests", tests__test_it="def test_one():\n    assert True\n")
    draft: RunSpec = project.run("tests", options=RunOptions(type="scripted", slots=1))
    runs = runs_folder(str(project.repo))
    return Pipeline(PipelineRequest(project.manager, runs, Secrets(), NOTHING_TO_HIDE), draft)


def test_the_order_of_the_stages_is_in_one_place() -> None:
    assert [stage.__name__ for stage in STAGES] == ["collect", "prepare", "map", "integrate", "report"]


def test_a_walk_ends_where_it_was_told_to_and_leaves_nothing_open(project: Project) -> None:
    """The fixture of the project finds a working copy that is left."""
    collected = walk(begin(project), last=stages.collect)
    assert [task.node_id for task in collected.spec.tasks] == ["tests/test_it.py::test_one"]
    assert collected.folder is None
    prepared = walk(collected, stages.prepare, stages.prepare)
    assert os.listdir(prepared.run_folder.path) == ["run.json"]


def test_a_stage_that_fails_is_followed_by_the_report(project: Project) -> None:
    prepared = walk(begin(project), last=stages.prepare)
    journal = open_journal(prepared.run_folder)
    try:
        with pytest.raises(mngr.RefusedError, match="another process is at work"):
            walk(prepared, stages.integrate)
    finally:
        journal.close()
    assert os.path.exists(prepared.run_folder.summary)


@pytest.mark.accept("O21")
def test_a_collector_that_is_away_is_one_line(project: Project) -> None:
    prepared, said = walk(begin(project), last=stages.prepare), list[str]()
    away = mngr.Manager(str(project.repo), project.manager.env, ('telemetry.otlp="http://127.0.0.1:1"',))
    request = replace(prepared.request, manager=away, tell=said.append)
    written = walk(replace(prepared, request=request), stages.report).written
    assert written
    assert written.model.spec == prepared.spec
    assert [line.partition(": ")[0] for line in said] == ["no trace was sent to 127.0.0.1"]
