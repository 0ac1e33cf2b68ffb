"""`mngr tmr run` and `resume` as a user has them: words, interrupts, exit codes."""

import os
import signal
import subprocess
from pathlib import Path
from typing import Any

import msgspec
import pytest
from msgspec.structs import replace
from tests.cli.command import ARGV, Done, Mngr
from tests.tmr.run.pipeline import KNOBS, UNCHANGED, Pipeline, pipeline

from mngr.process import wait_until
from mngr_tmr.run.look import agents_of

__all__ = ["pipeline"]

pytestmark = pytest.mark.slow
_PATIENCE_S = 300.0


class Running:
    """An orchestrator in a process of its own."""

    def __init__(self, pipeline: Pipeline, *words: str) -> None:
        self.journal = Path(pipeline.project.repo, ".mngr/tmr/r1/journal.jsonl")
        self._child = subprocess.Popen(
            [*ARGV, "tmr", *words],
            cwd=pipeline.project.repo,
            env=Mngr(pipeline.world).env,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            start_new_session=True,
        )

    def entries(self) -> list[Any]:
        lines = self.journal.read_bytes().split(b"\n")[:-1] if self.journal.exists() else []
        return [msgspec.json.decode(line) for line in lines]

    def until(self, step: str, kind: str, count: int = 1) -> "Running":
        def there() -> bool:
            return sum((e["step"], e["kind"]) == (step, kind) for e in self.entries()) >= count

        assert wait_until(there, _PATIENCE_S), self._child.poll()
        return self

    def interrupt(self) -> None:
        os.kill(self._child.pid, signal.SIGINT)

    def end(self) -> Done:
        out, err = self._child.communicate(timeout=_PATIENCE_S)
        return Done(self._child.returncode, out, err)


def start(pipeline: Pipeline, plays: dict[str, Any], **knobs: Any) -> Running:
    pipeline.folder(pipeline.spec(plays, replace(KNOBS, **knobs)))
    return Running(pipeline, "resume", "r1")


@pytest.mark.accept("P11", "P10", "P12")
def test_an_interrupt_lets_what_runs_end_and_a_resumed_run_does_the_rest(pipeline: Pipeline) -> None:
    go = pipeline.plays / "go"
    wait = {"run": f"until [ -e '{go}' ]; do sleep 0.1; done"}
    plays = {name: [wait, UNCHANGED] for name in ("test_a", "test_b", "test_c")}
    run = start(pipeline, plays, slots=1).until("launch", "done")
    run.interrupt()
    run.until("run", "noted")
    go.touch()
    done = run.end()
    assert done.code == 130
    assert "nothing more is launched. 1 agents still run: tmr-r1-" in done.stderr
    assert "2 tests were not run: mngr tmr resume r1" in done.stderr
    assert [record.end for record in pipeline.records(pipeline.found()).values()] == [
        "result",
        "queued",
        "queued",
    ]
    again = Running(pipeline, "resume", "r1", "--slots", "2").end()
    assert again.code == 0, again
    assert "slots: 1 → 2" in again.stderr
    assert {record.end for record in pipeline.records(pipeline.found()).values()} == {"result"}


@pytest.mark.accept("P11", "P12")
def test_a_second_interrupt_stops_the_agents(pipeline: Pipeline) -> None:
    run = start(pipeline, {"test_a": [{"hang": True}], "test_b": [UNCHANGED]}, slots=1).until(
        "launch", "done"
    )
    run.interrupt()
    run.until("run", "noted", 1)
    run.interrupt()
    done = run.end()
    assert done.code == 130
    assert "stopping 1 agents; afterwards: mngr tmr resume r1" in done.stderr
    assert {agent.state for agent in agents_of("r1", pipeline.manager)} <= {"STOPPED", "DONE"}
    assert {record.end for record in pipeline.records(pipeline.found()).values()} == {"not_run", "queued"}


@pytest.mark.accept("U2", "J3", "J6")
def test_progress_is_plain_lines_or_json_and_the_page_is_there_while_it_runs(pipeline: Pipeline) -> None:
    run = start(pipeline, {"test_a": [{"sleep": 6.0}, UNCHANGED], "test_b": [UNCHANGED]}, slots=1)
    run.until("stop", "done")
    page = Path(pipeline.found().report)
    assert wait_until(page.exists, _PATIENCE_S)
    assert "::test_" in Mngr(pipeline.world).ok("tmr", "status", "r1").stdout
    done = run.end()
    assert done.code == 0, done
    assert "\x1b" not in done.stderr
    assert "test_b: done, nothing to verify" in done.stderr
    assert "slots 1/1" in done.stderr
    assert str(page) in done.stdout
    again = Running(pipeline, "resume", "r1", "--format", "jsonl").end()
    lines = [msgspec.json.decode(line) for line in again.stdout.splitlines()]
    assert lines[0]["message"] == "resumed"
    assert lines[-1]["collected"] == 2


@pytest.mark.accept("C2", "C1")
def test_a_suite_that_cannot_be_collected_starts_no_agent(pipeline: Pipeline) -> None:
    pipeline.project.commit("broken", tests__test_it="import nowhere\n")
    done = Mngr(pipeline.world)("tmr", "run", "tests", "--type", "scripted")
    assert done.code == 1
    assert "No module named 'nowhere'" in done.stderr
    assert agents_of("", pipeline.manager) == ()


@pytest.mark.accept("M17")
def test_other_code_under_test_stops_the_run_before_any_agent(pipeline: Pipeline) -> None:
    body = "import shop\n\n\ndef test_it():\n    assert shop\n"
    pipeline.project.commit("shop", shop="VALUE = 1\n", tests__test_it=body)
    elsewhere = pipeline.world.folder / "elsewhere"
    elsewhere.mkdir()
    (elsewhere / "shop.py").write_text("VALUE = 2\n")
    words = ("-S", "tmr.pytest=pytest", "tmr", "run", "tests", "--type", "scripted", "--env", "PYTHONPATH")
    done = Mngr(pipeline.world)(*words, PYTHONPATH=str(elsewhere))
    assert done.code == 6, done
    assert "wrong code under test" in done.stderr
    assert "--setup" in done.stderr
