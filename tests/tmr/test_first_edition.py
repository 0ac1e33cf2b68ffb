"""A run whose folder the first edition wrote is still read, reported and resumed.

`first_edition/` holds the folder of one run twice, when its orchestrator was killed and when it was over, its playbooks
and its repository. `@FOLDER@` stands for the folder that the repository and the playbooks were in.
"""

import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec
import pytest
from tests.cli.command import Mngr
from tests.support.world import World

from mngr import process
from mngr_tmr.engine.journal import read_journal
from mngr_tmr.engine.task_state import TaskPhase
from mngr_tmr.model.facts import RunResumed
from mngr_tmr.model.usage import make_usage
from mngr_tmr.report.out.page.page import agent_status
from mngr_tmr.report.out.page.source import TmrSource
from mngr_tmr.run_folder.folder import RunFolder
from mngr_tmr.run_folder.records import Records

_STORED = Path(__file__).parent / "first_edition"
_CAUSES = {"test_crashes": "ended", "test_out_of_time": "timeout"}


class OldRun:
    """A world with the repository of the run, and the run in one of the two states."""

    def __init__(self, folder: Path, state: str) -> None:
        self.world = World(folder)
        self.path = self.world.repo / ".mngr/tmr/r1"
        history = (_STORED / "repository.fast-export").read_bytes()
        git = ["git", "fast-import", "--quiet", "--force"]
        process.run(git, stdin=history, cwd=str(self.world.repo)).check("the repository is not there")
        self.world.git("reset", "-q", "--hard", "main")
        for source, target in ((_STORED / "plays", folder / "plays"), (_STORED / state, self.path)):
            shutil.copytree(source, target)
            for file in (path for path in target.rglob("*") if path.is_file()):
                file.write_text(file.read_text().replace("@FOLDER@", str(folder)))

    @property
    def records(self) -> Records:
        return Records(RunFolder(str(self.path)))

    def journal(self) -> list[tuple[str, str, str]]:
        return [
            (entry.step, entry.kind, entry.task) for entry in read_journal(str(self.path / "journal.jsonl"))
        ]

    def mngr(self, *words: str, code: int = 0) -> Any:
        done = Mngr(self.world)("tmr", *words)
        assert done.code == code, done
        return msgspec.json.decode(done.stdout) if "--json" in words else done.stdout

    def sections(self) -> dict[str, str]:
        rows = msgspec.json.decode((self.path / "summary.json").read_bytes())["rows"]
        return {row["test"].rpartition("::")[2]: row["section"] for row in rows}


@pytest.fixture
def finished(tmp_path: Path) -> Iterator[OldRun]:
    run = OldRun(tmp_path, "finished")
    yield run
    run.world.end()


@pytest.fixture
def killed(tmp_path: Path) -> Iterator[OldRun]:
    run = OldRun(tmp_path, "killed")
    yield run
    run.world.end()


def test_sentences_and_data_of_a_finished_run_are_read_as_facts(finished: OldRun) -> None:
    records = finished.records
    resumed = [entry.fact for entry in records.entries if entry.message == "resumed"]
    assert resumed == [RunResumed({"integrator": "mechanical"}), RunResumed()]
    assert records.spec.options.slots == 2
    assert (records.state.options.slots, records.state.options.integrator) == (2, "mechanical")
    assert {task.phase for task in records.state.tasks.values()} == {TaskPhase.ENDED}
    assert {name: cause for name, cause in _causes(records).items() if cause} == _CAUSES
    assert len(records.state.addresses) == 6
    assert all(address.endswith("@local.local") for address in records.state.addresses.values())
    assert records.state.base == "done"
    assert records.state.integration.progress == "done"


def test_a_finished_run_has_the_same_rows_counts_and_branch_as_before(finished: OldRun) -> None:
    before = msgspec.json.decode((finished.path / "summary.json").read_bytes())
    assert finished.mngr("report", "r1")
    after = msgspec.json.decode((finished.path / "summary.json").read_bytes())
    usages = [
        (row.pop("usage", {}), old.pop("usage", {}))
        for row, old in zip(after["rows"], before["rows"], strict=True)
    ]
    assert all(make_usage(usage) == make_usage(old) for usage, old in usages)
    assert sum(row.pop("worked_s", 0) for row in after["rows"]) > 0
    assert after["rows"] == before["rows"]
    for cause in after["causes"]:
        cause.pop("likely")
    for key in ("state", "exit_code", "counts", "causes", "branch", "integration"):
        assert after[key] == before[key], key
    rows = TmrSource(RunFolder(str(finished.path))).model().rows
    statuses = {row.task.node_id.rpartition("::")[2]: agent_status(row) for row in rows}
    assert (statuses["test_out_of_time"], statuses["test_crashes"]) == ("timeout", "error")
    (listed,) = finished.mngr("runs", "--json")["runs"]
    assert (listed["exit_code"], listed["counts"]) == (3, before["counts"])
    assert finished.mngr("status", "r1", "--json")["state"] == "finished"


@pytest.mark.slow
def test_a_killed_run_is_resumed_and_keeps_what_was_over(killed: OldRun) -> None:
    assert killed.mngr("status", "r1", "--json")["state"] == "interrupted"
    before = killed.journal()
    killed.mngr("resume", "r1", code=3)
    launched = [
        task for step, kind, task in killed.journal()[len(before) :] if (step, kind) == ("launch", "done")
    ]
    # The agents of the other two are gone with the machine that they were on: each gets a new one.
    names = {task.rpartition("-")[0].removeprefix("tests-test-it-test-") for task in launched}
    assert names == {"last", "also-clean", "out-of-time"}
    assert len(launched) == 3
    assert killed.sections() == {
        "test_changes": "other",
        "test_clean": "clean",
        "test_last": "clean",
        "test_crashes": "infrastructure",
        "test_out_of_time": "infrastructure",
        "test_also_clean": "clean",
    }
    assert _causes(killed.records)["test_out_of_time"] == "timeout"


def _causes(records: Records) -> dict[str, str]:
    return {record.task.node_id.rpartition("::")[2]: record.cause for record in records.tasks()}
