"""Tests that fail alike, with real agents: one agent, and its fix is tried on the others."""

import pytest
from msgspec.structs import replace
from tests.tmr.run.pipeline import UNCHANGED, Pipeline

from mngr_tmr.engine.journal import read_journal
from mngr_tmr.failures.alike import alike_failures
from mngr_tmr.model.estimate import estimate_run, prior_estimate
from mngr_tmr.report.data.read_run import read_run
from mngr_tmr.report.data.report_model import make_report_model
from mngr_tmr.report.out.summary import make_summary
from mngr_tmr.report.out.terminal import report_lines
from mngr_tmr.run_folder.records import read_base

SHELF = "def find(name):\n    raise KeyError(f'no shelf at {id(name)}')\n"
TESTS = ("oats", "beans", "flour", "rice")
FIX = [
    {"run": "printf 'def find(name):\\n    return name\\n' >shelf.py"},
    {"run": "git commit -qam 'Find what is asked for' -m 'Kind: implementation'"},
    {"run": "mngr-result write --outcome improved --summary 'It finds the shelf.'"},
]


@pytest.mark.slow
@pytest.mark.accept("O19", "O7")
def test_one_agent_fixes_what_four_tests_fail_of(pipeline: Pipeline) -> None:
    plays = {**{f"test_{name}": FIX for name in TESTS}, "test_none": [UNCHANGED]}
    spec = pipeline.spec(plays)
    body = "".join(f"def test_{name}():\n    assert find('{name}') == '{name}'\n\n" for name in TESTS)
    head = pipeline.project.commit(
        "a shelf",
        shelf=SHELF,
        conftest="",
        tests__test_it=f"from shelf import find\n\n{body}def test_none():\n    pass\n",
    )
    prior = prior_estimate((20_000, 50_000), [3.0])
    spec = replace(spec, base=head, estimate=estimate_run([task.slug for task in spec.tasks], {}, prior, 4))
    folder = pipeline.folder(spec)
    pipeline.go(folder)

    records = pipeline.records(folder)
    (group,) = alike_failures(spec, read_base(folder))
    first = next(record for record in records.values() if record.task.slug == group.tasks[0])
    assert first.after
    assert first.after.verdict == "passed"
    for name in TESTS:
        record = records[f"test_{name}"]
        assert record.before
        assert record.before.verdict == "failed"
        if record is first:
            continue
        assert (record.end, record.fixed_by, record.commit) == ("result", first.task.slug, "")
        assert record.after
        assert (record.after.verdict, record.after.commit) == ("passed", first.commit)
    launched = {entry.task for entry in read_journal(folder.journal) if entry.step == "launch"}
    assert launched == {first.task.slug, records["test_none"].task.slug}

    model = make_report_model(read_run(folder))
    assert {row.section for row in model.rows if row.record and row.record.fixed_by} == {"fixed_by_others"}
    assert model.exit_code in (0, 8)
    saved = make_summary(model, folder).saved
    assert saved
    assert saved.agents == 3
    words = (
        "3 tests fixed by the work for another test: 3 agents not launched, "
        "60k to 150k tokens ($0.18 to $0.45) saved by estimate"
    )
    assert words in report_lines(model, folder, "")
