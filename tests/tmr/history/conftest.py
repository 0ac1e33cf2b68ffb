"""Runs that have ended, in a folder of runs."""

import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import msgspec
import pytest
from tests.tmr.report.desk import T0, node

from mngr_tmr.history.facts import CauseFacts, RowFacts, RunFacts, read_facts
from mngr_tmr.history.index import Question, T, add_to_index, ask_index
from mngr_tmr.model.run import RunSpec
from mngr_tmr.model.usage import AgentUsage
from mngr_tmr.run_folder.folder import RunFolder, make_folder

DAY = 86400.0


class Past:
    """A folder of runs, each with nothing but its spec and its summary."""

    def __init__(self, folder: Path) -> None:
        self.runs, self.lines = folder / "runs", list[str]()
        self.file = self.runs / "history.sqlite3"

    def run(
        self,
        name: str,
        at: float = T0,
        causes: Sequence[CauseFacts] = (),
        tests: Mapping[str, str] | None = None,
        **outcomes: str,
    ) -> RunFolder:
        """A run in which tests ended so; each took a minute and a dollar."""
        rows = tuple(row(test, outcome) for test, outcome in (tests or outcomes).items())
        total = AgentUsage(input_tokens=1000 * len(rows), cost_usd=float(len(rows)))
        failures = sum(len(cause.tests) for cause in causes)
        return self.write(
            RunFacts(
                name,
                "b" * 40,
                at,
                "finished",
                len(rows),
                rows,
                tuple(causes),
                0,
                failures,
                total,
                60.0,
                "scripted",
            )
        )

    def write(self, facts: RunFacts) -> RunFolder:
        path = self.runs / facts.run
        if path.exists():
            folder = RunFolder(str(path))
        else:
            spec = RunSpec(facts.run, str(self.runs), "b" * 40, facts.created_at, (), ("pytest",))
            folder = make_folder(str(self.runs), spec)
        folder.writer.write(folder.summary, msgspec.json.encode(facts))
        return folder

    def ask(self, question: Question[T]) -> T:
        return ask_index(str(self.runs), question, read_facts, self.lines.append)

    def add(self, run: str) -> None:
        add_to_index(str(self.runs), run, read_facts, self.lines.append)

    @property
    def names(self) -> list[str]:
        """The runs that the index knows, the oldest first."""
        return self.ask(
            lambda index: [
                name for (name,) in index.execute("SELECT name FROM runs ORDER BY created_at, name")
            ]
        )

    def replace(self, data: bytes) -> None:
        self.file.unlink(missing_ok=True)
        self.file.write_bytes(data)


def many(outcome: str, count: int) -> dict[str, str]:
    return {f"t{number}": outcome for number in range(count)}


def row(test: str, outcome: str = "passed", **about: Any) -> RowFacts:
    about = {"attempt": 1, "usage": AgentUsage(input_tokens=1000, cost_usd=1.0), "worked_s": 60.0, **about}
    return RowFacts(node(test), "clean", before=outcome, after=outcome, **about)


def cause(title: str, *tests: str, fixed: Sequence[str] = ()) -> CauseFacts:
    return CauseFacts("test", title, "AssertionError", "", tuple(map(node, tests)), tuple(map(node, fixed)))


@pytest.fixture
def past(tmp_path: Path) -> Past:
    os.makedirs(tmp_path / "runs")
    return Past(tmp_path)
