"""Runs with real agents in tmux: what becomes of each task, and what is left when the run is over."""

import os
import threading
from pathlib import Path

import pytest
from msgspec.structs import replace
from tests.tmr.run.pipeline import KNOBS, UNCHANGED, Pipeline

import mngr
from mngr.process import wait_until
from mngr.testing.waiting import PATIENCE_S
from mngr_tmr.engine.journal import read_journal
from mngr_tmr.model.entry import Entry
from mngr_tmr.model.facts import AgentLimited, RunResumed, SlotsChanged, VerifyRequest
from mngr_tmr.model.task import agent_of, branch_of
from mngr_tmr.run.polling import agents_of
from mngr_tmr.run.steps import TaskSteps
from mngr_tmr.run_folder.folder import RunFolder
from mngr_tmr.run_folder.records import Records

pytestmark = pytest.mark.slow


def commit_of(name: str) -> list[dict[str, object]]:
    return [
        {"run": f"echo '# {name}' >>tests/test_it.py"},
        {"run": f"git commit -qam 'Say {name}' -m 'Kind: test'"},
        {"run": f"mngr-result write --outcome improved --summary 'Said {name}.'"},
    ]


@pytest.mark.accept("M1", "M9", "M14", "P2", "P3", "P12", "M15")
@pytest.mark.parametrize("transfer", ["mirror", "worktree"])
def test_every_task_gets_one_agent_and_its_result_comes_home(pipeline: Pipeline, transfer: str) -> None:
    records = pipeline.run(
        {"test_one": commit_of("one"), "test_two": [UNCHANGED]}, replace(KNOBS, transfer=transfer)
    )
    one, two = records["test_one"], records["test_two"]
    assert (one.end, two.end) == ("result", "result")
    assert one.claim is not None
    assert one.claim.result is not None
    assert one.claim.result.outcome == "improved"
    assert one.after is not None
    assert one.after.verdict == "passed"
    assert [commit.kind for commit in one.commits] == ["test"]
    git = pipeline.world.git
    assert git("log", "-1", "--format=%s %P", branch_of("r1", one.task.slug)).split() == [
        "Say",
        "one",
        pipeline.project.head(),
    ]
    assert git("status", "--porcelain", "--", "tests") == ""
    assert two.after == two.before
    agents = agents_of("r1", pipeline.manager)
    assert sorted(agent.name for agent in agents) == sorted(agent_of("r1", r.task.slug) for r in (one, two))
    assert {agent.state for agent in agents} <= {"STOPPED", "DONE"}


@pytest.mark.accept("M15")
def test_agents_with_equal_trees_share_one_copy_and_each_has_its_own_verdict(pipeline: Pipeline) -> None:
    """The third test does not pass in a copy where the first ran: shared it has no verdict, alone it passes."""
    same = [
        {"run": "echo '# same' >>tests/test_it.py"},
        {"run": "git commit -qam 'The same' -m 'Kind: test'"},
        {"run": "mngr-result write --outcome improved --summary 'The same.'"},
    ]
    spec = pipeline.spec({"test_a": same, "test_b": same, "test_c": same})
    body = """
        import os

        def test_a(): open("left", "w").close()
        def test_b(): pass
        def test_c(): assert not os.path.exists("left")
    """
    folder = pipeline.folder(replace(spec, base=pipeline.project.commit("tests", tests__test_it=body)))
    state = pipeline.go(folder)
    records = pipeline.records(folder)
    assert [record.after.verdict for record in records.values() if record.after] == ["passed"] * 3
    a, b, c = (record.task.slug for record in records.values())
    assert len({state.tasks[slug].tree for slug in (a, b, c)}) == 1
    for slug in (a, b, c):
        os.unlink(folder.file(slug, 1, "verified.json"))
    steps = TaskSteps(state, folder, pipeline.manager, {})
    told = steps.verify(Entry(0.0, "verify", "intended", a, 1, fact=VerifyRequest({b: 1, c: 1})))
    assert told.verdicts == {a: "passed", b: "passed"}
    again = pipeline.records(folder)
    assert [record.after is not None for record in again.values()] == [True, True, False]
    assert all(record.after.commit == record.commit for record in again.values() if record.after)
    assert steps.verify(Entry(0.0, "verify", "intended", c, 1)).verdicts == {c: "passed"}
    copies = mngr.list_agents(mngr.Filter(labels=("tmr.copy=r1",)), manager=pipeline.manager).agents
    assert copies == ()


@pytest.mark.accept("P4", "P5", "M12")
def test_each_way_to_fail_is_a_row_with_its_stage_and_words(pipeline: Pipeline) -> None:
    records = pipeline.run(
        {
            "test_crash": [
                {"edit": "tests/test_it.py", "append": "# half\n"},
                {"wait_message": True},
                {"crash": 9},
            ],
            "test_exit": [{"wait_message": True}, {"exit": 3}],
            "test_hang": [{"edit": "new.txt", "text": "half\n"}, {"run": "git add new.txt"}, {"hang": True}],
            "test_garbage": [{"write_outbox": "result.json", "text": '{"outcome": "great"}'}],
        },
        replace(KNOBS, timeout_s=25.0),
    )
    crash, code, hang, garbage = (records[f"test_{n}"] for n in ("crash", "exit", "hang", "garbage"))
    assert (crash.end, crash.stage) == ("failed", "watch")
    assert crash.message == "the agent ended without a result: killed by SIGKILL"
    assert code.message == "the agent ended without a result: exit code 3"
    assert hang.message == "timed out after 25 s"
    assert "new.txt" in pipeline.world.git("show", "--stat", "--format=", hang.branch)
    assert garbage.end == "result"
    assert garbage.claim is not None
    assert "great" in garbage.claim.raw
    assert garbage.claim.problem
    assert {agent.state for agent in agents_of("r1", pipeline.manager)} <= {"STOPPED", "DONE"}


@pytest.mark.accept("M8")
def test_an_agent_that_waits_is_nudged_once_and_may_still_answer(pipeline: Pipeline) -> None:
    records = pipeline.run(
        {
            "test_shy": [{"wait_message": True}, {"ask": "Shall I?"}, UNCHANGED],
            "test_stuck": [{"wait_message": True}, {"ask": "Shall I?"}, {"ask": "Really?"}],
        },
        replace(KNOBS, idle_s=5.0),
    )
    assert records["test_shy"].end == "result"
    stuck = records["test_stuck"]
    assert stuck.message == "idle without a result, also after a nudge: it asks a question and got no answer"
    nudges = [entry.task for entry in pipeline.seen if entry.step == "nudge" and entry.kind == "intended"]
    assert sorted(nudges) == sorted({r.task.slug for r in records.values()})


@pytest.mark.accept("P4", "K4")
def test_a_setup_that_fails_is_a_failed_launch_that_leaves_nothing(pipeline: Pipeline) -> None:
    records = pipeline.run({"test_one": [UNCHANGED]}, replace(KNOBS, setup="echo no compiler >&2; exit 9"))
    one = records["test_one"]
    assert (one.end, one.stage) == ("failed", "launch")
    assert "no compiler" in one.message
    assert agents_of("r1", pipeline.manager) == ()


@pytest.mark.accept("P7")
def test_no_more_agents_live_at_once_than_there_are_slots(pipeline: Pipeline) -> None:
    plays = {f"test_{number}": [{"sleep": 0.4}, UNCHANGED] for number in range(5)}
    folder = pipeline.folder(pipeline.spec(plays, replace(KNOBS, slots=2)))
    pipeline.go(folder)
    alive = most = 0
    for entry in read_journal(folder.journal):
        if entry.step == "launch" and entry.kind == "intended":
            alive += 1
        elif entry.step == "stop" and entry.kind == "done":
            alive -= 1
        most = max(most, alive)
    assert most == 2


@pytest.mark.accept("P8")
def test_finished_agents_are_processed_while_others_are_launched(pipeline: Pipeline) -> None:
    plays = {f"test_{number}": [UNCHANGED] for number in range(4)}
    folder = pipeline.folder(pipeline.spec(plays, replace(KNOBS, slots=2, launchers=1)))
    pipeline.go(folder)
    order = [(e.step, e.kind) for e in read_journal(folder.journal) if e.task]
    first_pull = order.index(("pull", "done"))
    assert ("launch", "intended") in order[first_pull:]


@pytest.mark.accept("P4")
def test_a_killed_tmux_server_ends_its_tasks_and_the_rest_goes_on(pipeline: Pipeline) -> None:
    plays = {"test_a": [{"hang": True}], "test_b": [{"hang": True}], "test_c": [{"sleep": 0.2}, UNCHANGED]}
    folder = pipeline.folder(pipeline.spec(plays, replace(KNOBS, slots=2, idle_s=2.0)))
    run = threading.Thread(target=pipeline.go, args=(folder,))
    run.start()
    assert wait_until(lambda: _launched(folder) == 2, PATIENCE_S)
    pipeline.world.tmux("kill-server")
    run.join(120)
    assert not run.is_alive()
    records = pipeline.records(folder)
    assert [records[f"test_{name}"].end for name in "abc"] == ["failed", "failed", "result"]
    assert (
        records["test_a"].message
        == "the agent's state cannot be read: process gone, no exit record: the tmux server ended first"
    )


@pytest.mark.accept("P10", "Q1")
def test_a_second_orchestrator_of_the_same_run_is_refused(pipeline: Pipeline) -> None:
    folder = pipeline.folder(pipeline.spec({"test_a": [{"hang": True}]}, replace(KNOBS, timeout_s=12.0)))
    run = threading.Thread(target=pipeline.go, args=(folder,))
    run.start()
    assert wait_until(lambda: _launched(folder) == 1, PATIENCE_S)
    with pytest.raises(mngr.RefusedError, match="another process"):
        pipeline.go(folder)
    run.join(PATIENCE_S)


@pytest.mark.accept("M11", "P10")
def test_a_task_that_was_lost_can_be_tried_again_and_keeps_both_attempts(pipeline: Pipeline) -> None:
    folder = pipeline.folder(pipeline.spec({"test_a": [{"exit": 4}]}))
    pipeline.go(folder)
    first = pipeline.records(folder)["test_a"]
    assert first.end == "failed"
    (pipeline.plays / "test_a.json").write_text(f'[{{"run": "{UNCHANGED["run"]}"}}]')
    pipeline.go(folder, resume=RunResumed(again=(first.task.slug,)))
    second = pipeline.records(folder)["test_a"]
    assert (second.end, second.attempt) == ("result", 2)
    assert os.path.isfile(folder.file(first.task.slug, 1, "prompt.md"))
    assert os.path.isfile(folder.file(first.task.slug, 2, "pulled.json"))


@pytest.mark.accept("Q6", "R12", "K9")
def test_secrets_of_the_environment_are_in_no_file_of_the_run(pipeline: Pipeline, tmp_path: Path) -> None:
    folder = pipeline.folder(pipeline.spec({"test_a": [{"run": "test ${#TOKEN} = 11"}, UNCHANGED]}))
    pipeline.go(folder, env={"TOKEN": "canary-7c1f"})
    assert pipeline.records(folder)["test_a"].end == "result"
    found = [
        path
        for root in (Path(folder.path), pipeline.world.host_dir)
        for path in root.rglob("*")
        if path.is_file() and not path.is_symlink() and b"canary-7c1f" in path.read_bytes()
    ]
    assert {path.name for path in found} <= {"run.sh"}
    assert all(path.stat().st_mode & 0o077 == 0 for path in found)


def _launched(folder: RunFolder) -> int:
    if not os.path.exists(folder.journal):
        return 0
    return sum(e.step == "launch" and e.kind == "done" for e in read_journal(folder.journal))


@pytest.mark.accept("O5", "O6")
def test_an_agent_that_meets_a_rate_limit_is_asked_to_go_on_and_has_its_result(pipeline: Pipeline) -> None:
    limit = {"api_error": "rate_limit", "message": "API Error: 429 Please try again in 1s."}
    records = pipeline.run({"test_a": [{"wait_message": True}, limit, UNCHANGED]}, replace(KNOBS, slots=2))
    assert (records["test_a"].end, records["test_a"].attempt) == ("result", 1)
    facts = [entry.fact for entry in pipeline.seen]
    assert [fact.slots for fact in facts if isinstance(fact, SlotsChanged)][:1] == [1]
    (met,) = (fact for fact in facts if isinstance(fact, AgentLimited))
    assert met.until
    assert not met.is_window
    spans = Records(pipeline.found()).slot_spans(1e10)
    assert spans[1].step == "1 slots: agents met a limit of the model's provider"
