"""What past runs say of the next one, and how good estimates were."""

from pathlib import Path
from typing import Any

import msgspec
import pytest
from msgspec.structs import replace
from tests.support.world import World

import mngr
from mngr_tmr.history.estimates import calibrate, estimate_spec, read_past
from mngr_tmr.model.estimate import Calibration, Estimate, Range, total_of
from mngr_tmr.model.run import RunOptions, RunSpec
from mngr_tmr.model.task import make_task
from mngr_tmr.model.usage import AgentUsage
from mngr_tmr.report.out.estimate_lines import (
    calibration_line,
    first_lines,
    task_words,
    total_lines,
    used_line,
)

OLD, NEW = "tests/test_a.py::test_old", "tests/test_a.py::test_new"
OPTIONS = RunOptions(type="claude", args=("--model", "claude-opus-4-8"), slots=2)
HIGH = Estimate("prior", Range(20_000, 50_000), Range(0.1, 0.25))


@pytest.fixture
def manager(tmp_path: Path) -> mngr.Manager:
    return World(tmp_path).manager()


def spec(options: RunOptions = OPTIONS) -> RunSpec:
    tasks = tuple(map(make_task, (OLD, NEW)))
    return RunSpec("next", "/repo", "c0ffee", 0.0, tasks, ("pytest",), options=options)


def row(tokens: int, usd: float | None, estimate: Estimate | None = None, **about: Any) -> dict[str, Any]:
    usage = {"cache_read_tokens": tokens, "cost_usd": usd, **about}
    own = {"estimate": estimate} if estimate else {}
    return {"test": OLD, "section": "clean", "attempt": 1, "worked_s": 60.0, "usage": usage, **own}


def past_run(runs: Path, name: str, *rows: dict[str, Any], state: str = "finished", **about: Any) -> None:
    """A run as its summary tells it."""
    summary = {
        **{"run": name, "base": "b", "created_at": 1.0, "state": state, "collected": len(rows), "rows": rows},
        **{"agent_type": "claude", "model": "claude-opus-4-8", **about},
    }
    (runs / name).mkdir(parents=True)
    (runs / name / "run.json").write_text("{}")
    (runs / name / "summary.json").write_bytes(msgspec.json.encode(summary))


@pytest.mark.accept("O2")
def test_without_a_past_the_prior_has_the_price_of_the_model_that_was_asked_for(
    tmp_path: Path, manager: mngr.Manager
) -> None:
    made = replace(spec(), estimate=estimate_spec(spec(), str(tmp_path / "runs"), manager))
    assert made.estimate
    assert set(made.estimate.tasks.values()) == {HIGH}
    assert list(first_lines(made)) == [
        f"  {OLD}: 20k to 50k tokens, $0.10 to $0.25 (no past run)",
        f"  {NEW}: 20k to 50k tokens, $0.10 to $0.25 (no past run)",
        "estimate: 40k to 100k tokens, $0.20 to $0.50 at 2 slots",
        "  from 2 tests without a past run: 20k to 50k tokens an agent; input price of claude-opus-4-8",
    ]


@pytest.mark.accept("O2")
def test_past_runs_of_the_same_type_and_model_tell_and_others_do_not(
    tmp_path: Path, manager: mngr.Manager
) -> None:
    runs = tmp_path / "runs"
    for number in range(5):
        idle = {**row(0, None), "worked_s": 0.0}  # it was not run
        past_run(runs, f"r{number}", row(1000 * (number + 1), 0.1 * (number + 1)), idle)
    past_run(runs, "codex", row(10**9, 500.0), agent_type="codex")
    past_run(runs, "other", row(10**9, 500.0), model="claude-haiku-4-5")
    past_run(runs, "alive", row(10**9, 500.0), state="running")
    (runs / "torn").mkdir()
    (runs / "torn/run.json").write_text("{}")
    (runs / "torn/summary.json").write_text('{"run": "to')
    made = replace(spec(), estimate=estimate_spec(spec(), str(runs), manager))
    assert made.estimate
    old, new = (made.estimate.tasks[task.slug] for task in made.tasks)
    assert old == Estimate("test", Range(3000, 5000), Range(pytest.approx(0.3), 0.5), Range(60, 60), 5)  # type: ignore[arg-type]
    assert (new.source, new.tokens, new.samples) == ("suite", old.tokens, 5)
    assert task_words(old) == "3k to 5k tokens, $0.30 to $0.50, 1:00 (5 past tasks of this test)"
    assert list(total_lines(made, made.estimate)) == [
        "estimate: 6k to 10k tokens, $0.60 to $1.00, 1:00 at 2 slots",
        "  from 1 test by 5 past tasks of their own, 1 test by 5 past tasks of other tests "
        "(median to 95th percentile)",
    ]


@pytest.mark.accept("O2")
@pytest.mark.parametrize(
    ("options", "words"),
    [
        (RunOptions(type="scripted", slots=1), "; no model is named, so there are no dollars"),
        (
            replace(OPTIONS, args=("--model", "mystery-1")),
            '; the price of "mystery-1" is not known, so there are no dollars',
        ),
        (replace(OPTIONS, args=()), "; from the cheapest to the dearest of "),
        (
            replace(OPTIONS, args=("--model", "haiku")),
            "; input price of claude-3-5-haiku, claude-haiku-4-5",
        ),
    ],
)
def test_what_the_price_rests_on_is_named(
    tmp_path: Path, manager: mngr.Manager, options: RunOptions, words: str
) -> None:
    made = spec(options)
    estimate = estimate_spec(made, str(tmp_path), manager)
    assert words in list(total_lines(made, estimate))[-1]
    assert (estimate.total.usd is None) == ("no dollars" in words)


@pytest.mark.accept("O2")
def test_estimate_and_actual_stand_side_by_side_and_past_runs_tell_how_good_they_were(
    tmp_path: Path,
) -> None:
    runs = tmp_path / "runs"
    past_run(runs, "r1", row(30_000, 0.2, HIGH), row(90_000, 0.1, HIGH), row(10, 0.3, HIGH))
    past_run(runs, "r2", row(60_000, 0.1, HIGH, unpriced=["x"]), row(10, 0.1), row(0, None, HIGH))
    assert calibrate(read_past(str(runs))) == Calibration(inside=2, tasks=4, runs=2)
    assert calibrate(()) is None
    words = calibration_line(Calibration(47, 50, 6))
    assert words == "estimates so far: 47 of 50 tasks of 6 runs used no more than the upper end"
    both = total_of((HIGH, HIGH), slots=1)
    assert used_line(both, AgentUsage(input_tokens=60_000, cost_usd=0.3), 75) == (
        "used 60k tokens, $0.30, 1:15; the estimate was 40k to 100k tokens, $0.20 to $0.50: within it"
    )
    assert used_line(both, AgentUsage(input_tokens=60_000, cost_usd=0.6), 75).endswith(": more than that")
