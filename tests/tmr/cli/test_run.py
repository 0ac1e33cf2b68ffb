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

import mngr
from mngr.process import wait_until
from mngr.testing.waiting import PATIENCE_S
from mngr_tmr.engine.journal import read_journal
from mngr_tmr.report.out.page.page import make_run
from mngr_tmr.report.out.page.source import TmrSource
from mngr_tmr.run.polling import agents_of

__all__ = ["pipeline"]

pytestmark = pytest.mark.slow


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

        assert wait_until(there, PATIENCE_S), self._child.poll()
        return self

    def until_says(self, message: str) -> None:
        said = lambda: any(message in entry.get("message", "") for entry in self.entries())  # noqa: E731
        assert wait_until(said, PATIENCE_S), self._child.poll()

    def kill(self) -> None:
        self._child.kill()
        self._child.communicate()

    def interrupt(self) -> None:
        os.kill(self._child.pid, signal.SIGINT)

    def end(self) -> Done:
        out, err = self._child.communicate(timeout=PATIENCE_S)
        return Done(self._child.returncode, out, err)


def start(pipeline: Pipeline, plays: dict[str, Any], **options: Any) -> Running:
    pipeline.folder(pipeline.spec(plays, replace(KNOBS, **options)))
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
    assert "nothing more is launched. 1 agent still runs: tmr-r1-" in done.stderr
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
    assert "stopping 1 agent; afterwards: mngr tmr resume r1" in done.stderr
    assert {agent.state for agent in agents_of("r1", pipeline.manager)} <= {"STOPPED", "DONE"}
    assert {record.end for record in pipeline.records(pipeline.found()).values()} == {"not_run", "queued"}


@pytest.mark.accept("P11", "P12", "K4")
def test_two_interrupts_while_a_test_is_verified_leave_no_copy_and_no_error(pipeline: Pipeline) -> None:
    """They come when the verification has just begun: its copy is being made, and nothing lists it yet."""
    work = [
        {"run": "echo '# more' >>tests/test_it.py"},
        {"run": "git commit -qam 'Say more' -m 'Kind: test'"},
        {"run": "mngr-result write --outcome improved --summary 'Said more.'"},
    ]
    run = start(pipeline, {"test_a": work})
    run.until("verify", "intended")
    run.interrupt()
    run.until("run", "noted")
    run.interrupt()
    done = run.end()
    assert done.code == 130, done
    assert "stopping 0 agents and 1 verification; afterwards: mngr tmr resume r1" in done.stderr
    assert "rror" not in done.stderr
    assert [entry for entry in run.entries() if entry["step"] == "verify"][1:] == []
    everyone = mngr.list_agents(manager=pipeline.manager).agents
    assert {agent.labels.get("tmr.run") for agent in everyone} == {"r1"}, everyone
    assert mngr.find_garbage(manager=pipeline.manager) == []
    assert "copy" not in pipeline.world.git("branch", "--list", "tmr/*")
    assert "not verified: mngr tmr resume r1" in done.stderr


@pytest.mark.accept("U2", "P10", "J3")
def test_a_run_killed_while_it_integrates_says_so_and_integrates_when_it_is_resumed(
    pipeline: Pipeline,
) -> None:
    go, command = pipeline.plays / "go", Mngr(pipeline.world)
    work = [
        {"run": "echo '# more' >>tests/test_it.py"},
        {"run": "git commit -qam 'Say more' -m 'Kind: test'"},
        {"run": "mngr-result write --outcome improved --summary 'Said more.'"},
    ]
    lint = f"until [ -e '{go}' ]; do sleep 0.1; done"
    run = start(pipeline, {"test_a": work}, lint=lint)
    run.until_says("gate lint")
    assert "run r1: integrating, " in command.ok("tmr", "status").stdout
    refused = command("tmr", "integrate", "r1")
    assert "another process is at work on this run" in refused.stderr
    run.kill()
    assert "run r1: interrupted, " in command.ok("tmr", "status").stdout
    go.touch()
    done = Running(pipeline, "resume", "r1").end()
    assert done.code == 8, done
    assert "integrating: gate lint" in done.stderr
    assert pipeline.world.git("log", "-1", "--format=%s", "tmr/r1/integrated")
    assert (run.entries()[-1]["step"], run.entries()[-1]["kind"]) == ("integrate", "done")
    assert "run r1: finished, " in command.ok("tmr", "status").stdout


@pytest.mark.accept("U2", "M8", "M13")
def test_an_agent_that_asks_needs_you_everywhere_until_it_is_answered(pipeline: Pipeline) -> None:
    command, question = Mngr(pipeline.world), "May I run rm -rf build?"
    run = start(pipeline, {"test_a": [{"wait_message": True}, {"permission": question}, UNCHANGED]})
    run.until_says(question)
    text, record = command.ok("tmr", "status").stdout, command.ok("tmr", "status", "--json").json
    source = TmrSource(pipeline.found())
    page = make_run(source.model(), {}, "r1")
    (agent,) = agents_of("r1", pipeline.manager)
    answer = f"mngr message {agent.name} -m yes"
    command.ok("message", agent.name, "-m", "yes")
    done = run.end()
    assert done.code == 0, done
    assert (
        f"test_a needs you: {question} (answer: {answer}; see it: mngr connect {agent.name})" in done.stderr
    )
    assert "1 tests: 1 needs you" in text.replace("1 test:", "1 tests:")
    for words in ("needs you: permission", question, answer, f"mngr connect {agent.name}"):
        assert words in text
    assert "working" not in text
    assert [(live["asks"], live["answer"]) for live in record["live"]] == [("permission", answer)]
    (row,) = page.tests
    assert (row.section, row.reason) == ("needs_you", f"it asks for permission: {question}")
    assert row.work is not None
    assert answer in [recipe.command for recipe in row.work.recipes]
    assert [section.title for section in page.sections] == ["Needs you"]


@pytest.mark.accept("M19", "P4")
def test_errors_that_no_retry_changes_end_their_tasks_and_the_launching(pipeline: Pipeline) -> None:
    """The words are the model's, nobody is nudged, work is saved, the rest is not run, and a resume takes it up."""
    error = {"api_error": "billing_error", "message": "Credit balance is too low"}
    half = {"edit": "half.txt", "text": "half\n"}
    plays = {f"test_{name}": [{"wait_message": True}, half, error] for name in "abc"}
    plays |= {"test_d": [UNCHANGED], "test_e": [UNCHANGED]}
    done = start(pipeline, plays, slots=1).end()
    assert done.code == 1, done
    words = "billing: Credit balance is too low"
    assert (
        done.stderr.count(
            f"nothing more is launched: 3 agents ended with the same error of the model: {words}"
        )
        == 1
    )
    assert "2 tests were not run: mngr tmr resume r1" in done.stderr
    assert f"3 failures, 1 cause:\n    3 x watch: {words}\n" in done.stdout
    records = pipeline.records(pipeline.found())
    assert [record.end for record in records.values()] == ["failed"] * 3 + ["not_run"] * 2
    assert {record.message for record in records.values() if record.end == "failed"} == {words}
    assert all(words in record.message for record in records.values())
    assert "half.txt" in pipeline.world.git("show", "--stat", "--format=", records["test_a"].branch)
    assert "nudge" not in {entry.step for entry in read_journal(pipeline.found().journal)}
    again = Running(pipeline, "resume", "r1").end()
    assert again.code == 3, again
    assert pipeline.records(pipeline.found())["test_e"].end == "result"


@pytest.mark.accept("U2", "J3", "J6")
def test_progress_is_plain_lines_or_json_and_the_page_is_there_while_it_runs(pipeline: Pipeline) -> None:
    run = start(pipeline, {"test_a": [{"sleep": 6.0}, UNCHANGED], "test_b": [UNCHANGED]}, slots=1)
    run.until("stop", "done")
    page = Path(pipeline.found().report)
    assert wait_until(page.exists, PATIENCE_S)
    assert "::test_" in Mngr(pipeline.world).ok("tmr", "status", "r1").stdout
    done = run.end()
    assert done.code == 0, done
    assert "\x1b" not in done.stderr
    assert "test_b: done, nothing to verify" in done.stderr
    assert "slots 0/1" in done.stderr
    assert str(page) in done.stdout
    again = Running(pipeline, "resume", "r1", "--format", "jsonl").end()
    lines = [msgspec.json.decode(line) for line in again.stdout.splitlines()]
    assert lines[0]["message"] == "resumed"
    assert lines[-1]["collected"] == 2


@pytest.mark.accept("M20", "R10")
def test_gates_that_a_resumed_run_announces_are_run(pipeline: Pipeline) -> None:
    """Each gate leaves a line for every time it runs; the lint command fails with and without the change."""
    play = [
        {"run": "echo '# more' >>tests/test_it.py"},
        {"run": "git commit -qam 'Say more' -m 'Kind: test'"},
        {"run": "mngr-result write --outcome improved --summary 'Said more.'"},
    ]
    first = start(pipeline, {"test_a": play, "test_b": [UNCHANGED]}).end()
    assert first.code == 8, first
    ran = pipeline.world.folder / "ran"
    gates = ("--lint", f"echo lint >>'{ran}'; exit 7", "--suite", f"echo suite >>'{ran}'")
    done = Running(pipeline, "resume", "r1", *gates).end()
    assert done.code == 8, done
    assert "lint: none →" in done.stderr
    assert set(ran.read_text().split()) == {"lint", "suite"}
    branch = msgspec.json.decode(Path(pipeline.found().summary).read_bytes())["branch"]
    told = {gate["name"]: (gate["passed"], gate["detail"]) for gate in branch["gates"]}
    assert told["lint"] == (False, "exit code 7:")
    assert told["suite"] == (True, f"exit code 0: {gates[3]}")


@pytest.mark.accept("C2", "C1")
def test_a_suite_that_cannot_be_collected_starts_no_agent(pipeline: Pipeline) -> None:
    pipeline.project.commit("broken", tests__test_it="import nowhere\n")
    done = Mngr(pipeline.world)("tmr", "run", "tests", "--type", "scripted")
    assert done.code == 1
    assert "No module named 'nowhere'" in done.stderr
    assert agents_of("", pipeline.manager) == ()


@pytest.mark.accept("J5")
def test_a_setup_that_fails_shows_its_own_command_and_its_output_alone(pipeline: Pipeline) -> None:
    pipeline.project.commit("tests", tests__test_it="def test_it():\n    assert True\n")
    setup = "echo there is no index >&2; exit 3"
    done = Mngr(pipeline.world)("tmr", "run", "tests", "--type", "scripted", "--setup", setup)
    assert done.code == 1
    assert "failed with exit code 3: there is no index\n" in done.stderr
    assert f"hint: try it by hand: {setup}\n" in done.stderr
    assert "base64" not in done.stderr


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
