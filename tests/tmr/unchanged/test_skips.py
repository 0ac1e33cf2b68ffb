"""A second run gives no agent to a test that nothing changed for, says so, and finds out where that was wrong."""

from pathlib import Path

import msgspec
import pytest
from msgspec.structs import replace
from tests.tmr.project import Project
from tests.tmr.run.pipeline import KNOBS, UNCHANGED, pipeline
from tests.tmr.run.pipeline import Pipeline as ScriptedPipeline

from mngr_tmr import stages
from mngr_tmr.model.run import RunSpec, Secrets
from mngr_tmr.report.data.rows import ReportRow
from mngr_tmr.run_folder.folder import runs_folder
from mngr_tmr.run_folder.redact import NOTHING_TO_HIDE
from mngr_tmr.stages import Pipeline, PipelineRequest, walk

__all__ = ["pipeline"]

pytestmark = pytest.mark.slow

TESTS = """
    import subprocess

    def test_prints():
        assert subprocess.run(["sh", "program.sh"], stdout=-1, check=True).stdout == b"hello\\n"
"""
OUTSIDE = "def test_outside():\n    assert open({path!r}).read() == 'fine'\n"
FAILING = "def test_fails():\n    assert False\n"


class Runs:
    """Runs of one project, each with an agent that changes nothing."""

    def __init__(self, project: Project, folder: Path) -> None:
        self.project, self.lines = project, list[str]()
        self.runs = runs_folder(str(project.repo))
        (folder / "play.json").write_bytes(msgspec.json.encode([UNCHANGED]))
        self.options = replace(KNOBS, args=(str(folder / "play.json"),))

    def pipeline(self, name: str, *, runs_all: bool = False) -> Pipeline:
        draft = replace(self.project.run("tests", options=self.options), id=name)
        request = PipelineRequest(
            self.project.manager,
            self.runs,
            Secrets(),
            NOTHING_TO_HIDE,
            tell=self.lines.append,
            runs_all=runs_all,
        )
        return Pipeline(request, draft)

    def run(self, name: str) -> dict[str, ReportRow]:
        written = walk(self.pipeline(name)).written
        assert written
        return {row.task.node_id.rpartition("::")[2]: row for row in written.model.rows}

    def plan(self, name: str, *, runs_all: bool = False) -> RunSpec:
        return walk(self.pipeline(name, runs_all=runs_all), last=stages.collect).spec


def skipped(spec: RunSpec) -> set[str]:
    return {task.node_id.rpartition("::")[2] for task in spec.tasks if task.slug in spec.skipped}


@pytest.mark.accept("O11")
def test_a_run_skips_what_nothing_changed_for_and_runs_what_does_not_pass_after_all(
    pipeline: ScriptedPipeline, tmp_path: Path
) -> None:
    project = pipeline.project
    (outside := tmp_path / "outside").write_text("fine")
    runs = Runs(project, tmp_path)
    for name, text in (("program.sh", "cat words.txt\n"), ("words.txt", "hello\n"), ("notes.md", "")):
        (project.repo / name).write_text(text)
    project.commit(
        tests__test_app=TESTS,
        tests__test_outside=OUTSIDE.format(path=str(outside)),
        tests__test_fails=FAILING,
    )
    first = runs.run("first")
    assert [first[name].section for name in ("test_prints", "test_outside")] == ["clean", "clean"]

    project.commit(tests__test_fails=FAILING + "\n\n")
    (project.repo / "notes.md").write_text("more")
    project.commit()
    outside.write_text("broken")
    assert skipped(runs.plan("look", runs_all=True)) == set()
    second = runs.run("second")
    row = second["test_prints"]
    assert (row.section, row.why) == ("skipped", "nothing it reads changed since first")
    assert row.record
    assert (row.record.agent, row.record.attempt, row.record.spans) == ("", 0, ())
    assert [second[name].section for name in ("test_outside", "test_fails")] == ["failing", "failing"]
    *each, total = [line for line in runs.lines if "skipped" in line]
    assert [line.partition(": ")[2] for line in each] == ["skipped: nothing it reads changed since first"] * 2
    assert total.startswith("2 tests skipped: nothing they read changed since the last verified pass")

    third = runs.plan("third")
    assert skipped(third) == {"test_prints"}
    assert {one.since for one in third.skipped.values()} == {"first"}
    (project.repo / "words.txt").write_text("hello\n\n")
    project.commit()
    assert skipped(runs.plan("fourth")) == set()
