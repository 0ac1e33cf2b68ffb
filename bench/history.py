"""The index of past runs: its size, how long it takes to make, and to answer. Alone: `python bench/history.py`."""

import os
import random
import shutil
import sys
import tempfile
import time

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))

from bench.results import Indexed

from mngr_tmr.history.compare import compare_runs
from mngr_tmr.history.facts import CauseFacts, RowFacts, RunFacts, read_facts
from mngr_tmr.history.index import NAME, Question, ask_index
from mngr_tmr.history.one_test import find_test_history
from mngr_tmr.history.overview import find_overview
from mngr_tmr.model.run import RunSpec
from mngr_tmr.model.usage import AgentUsage
from mngr_tmr.run_folder.folder import make_folder

SIZE = (1000, 500)
_DAY, _BEGAN = 86_400.0, 1_700_000_000.0
_OUTCOMES, _WEIGHTS = ("passed", "failed", "flaky", "error"), (90, 7, 2, 1)
_CAUSES = 10


def measure(root: str, tests: int, runs: int) -> Indexed:
    """From the summaries of so many runs; the longest answer is that of the slowest question, index up to date."""
    folder, draw = os.path.join(root, "history"), random.Random(7)
    try:
        for number in range(runs):
            _make_run(folder, number, tests, draw)
        began = time.perf_counter()
        _ask(folder, lambda _: None)
        built_s = time.perf_counter() - began
        _make_run(folder, runs, tests, draw)
        added_s = _seconds(folder, lambda _: None)
        answer_s = max(
            _seconds(folder, find_overview),
            _seconds(folder, lambda index: find_test_history(index, _name(tests // 2))),
            _seconds(folder, lambda index: compare_runs(index, "r0", f"r{runs - 1}")),
        )
        size = os.path.getsize(os.path.join(folder, NAME))
        return Indexed(tests, runs, size, built_s, added_s, answer_s)
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _seconds(folder: str, question: Question[object]) -> float:
    began = time.perf_counter()
    _ask(folder, question)
    return time.perf_counter() - began


def _ask(folder: str, question: Question[object]) -> None:
    problems: list[str] = []
    ask_index(folder, question, read_facts, problems.append)
    assert problems == []


def _name(test: int) -> str:
    return f"tests/e2e/test_room_{test // 20}.py::test_something_useful_{test}"


def _make_run(folder: str, number: int, tests: int, draw: random.Random) -> None:
    found = draw.choices(_OUTCOMES, _WEIGHTS, k=tests)
    rows = tuple(_row(_name(test), found[test], draw) for test in range(tests))
    failed = [row.test for row in rows if row.after != "passed"]
    causes = tuple(
        CauseFacts(
            "test",
            f"AssertionError: no {chr(97 + number % 26)} {chr(97 + each)}",
            "AssertionError",
            "",
            tuple(failed[each::_CAUSES]),
        )
        for each in range(_CAUSES)
    )
    total = AgentUsage(input_tokens=400_000 * tests, cost_usd=1.5 * tests)
    facts = RunFacts(
        run=f"r{number}",
        base="b" * 40,
        created_at=_BEGAN + number * _DAY,
        state="finished",
        collected=tests,
        rows=rows,
        causes=causes,
        failures=len(failed),
        usage=total,
        took_s=3600.0,
        agent_type="claude",
        model="opus",
        slots=20,
    )
    run = make_folder(folder, RunSpec(facts.run, folder, facts.base, facts.created_at, (), ("pytest",)))
    run.writer.write_json(run.summary, facts)


def _row(test: str, outcome: str, draw: random.Random) -> RowFacts:
    usage = AgentUsage(input_tokens=draw.randrange(10_000, 900_000), cost_usd=draw.random() * 3)
    return RowFacts(
        test, "clean", before=outcome, after=outcome, attempt=1, usage=usage, worked_s=draw.random() * 1800
    )


if __name__ == "__main__":
    with tempfile.TemporaryDirectory(prefix="mngr-bench-") as place:
        one = measure(place, *SIZE)
        print(
            f"{one.tests:,} tests x {one.runs:,} runs: {one.file_bytes / 1e6:.1f} MB, made in {one.built_s:.1f} s, "
            f"a run added in {one.added_s:.2f} s, the longest answer {one.answer_s:.2f} s"
        )
