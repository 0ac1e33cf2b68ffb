"""One bad record, host or display in a run costs at most its own task: the others are watched, and all are stopped."""

import os
import shlex
import shutil
from functools import partial
from pathlib import Path

import pytest
from msgspec.structs import replace
from tests.tmr.engine.test_simulation import Disk, make_spec
from tests.tmr.run.pipeline import KNOBS, UNCHANGED, Pipeline, Step, pipeline

import mngr
from mngr.store.paths import AgentPaths, HostPaths
from mngr_tmr.engine.journal import Journal, read_journal
from mngr_tmr.engine.loop import Loop
from mngr_tmr.engine.simulated import SimExecutor, SimWorld
from mngr_tmr.engine.state import RunState
from mngr_tmr.engine.task_state import TaskPhase
from mngr_tmr.model.entry import Entry
from mngr_tmr.model.facts import RunResumed
from mngr_tmr.run.polling import AgentPoller, launched_as

__all__ = ["pipeline"]


@pytest.mark.slow
@pytest.mark.accept("Q10", "Q4")
def test_an_agent_whose_records_become_unreadable_is_a_failed_row_and_is_stopped(pipeline: Pipeline) -> None:
    """TH-H2, in a run: one damages its spec, one its events, with a time that is none."""
    ruins = {
        "test_spec": "echo nonsense >agent.json",
        "test_event": """echo '{"at":1e15,"kind":"started"}' >>events.jsonl""",
    }
    plays: dict[str, list[Step]] = {
        name: [{"run": _ruin(pipeline, name, script)}] for name, script in ruins.items()
    }
    plays["test_good"] = [{"sleep": 0.5}, UNCHANGED]
    records = pipeline.run(plays, replace(KNOBS, idle_s=2.0, timeout_s=20.0))
    for name in ruins:
        assert not _is_running((pipeline.plays / name).read_text().strip()), "it runs on, and nobody stops it"
        assert records[name].end == "failed", records[name]
        assert "disappeared" not in records[name].message
    assert records["test_good"].end == "result", records["test_good"]
    assert len(mngr.list_agents(manager=pipeline.manager).agents) == 3


def _ruin(pipeline: Pipeline, name: str, script: str) -> str:
    """Writes down its process, damages its own records, and never ends."""
    pid = shlex.quote(str(pipeline.plays / name))
    return f'echo $$ >{pid}; (cd "$MNGR_AGENT_STATE_DIR" && {script}); exec sleep 3600'


@pytest.mark.slow
@pytest.mark.accept("Q11", "Q10")
def test_a_host_that_claims_the_id_of_another_hosts_agent_is_not_believed(pipeline: Pipeline) -> None:
    """TH-H1, in a run: each host has a copy of the other's record, with a result."""
    manager, spec = pipeline.manager, make_spec(2)
    make = partial(mngr.create, args=("sleep", "600"), provider="faulty", transfer="none", manager=manager)
    agents = [make("one").agent, make("two").agent]
    for agent, other in (agents, agents[::-1]):
        claimed = _paths(pipeline, other.host.name, agent.id)
        shutil.copytree(_paths(pipeline, agent.host.name, agent.id).dir, claimed.dir)
        os.makedirs(claimed.outbox, exist_ok=True)
        Path(claimed.result).write_text("{}")
    state = RunState(spec)
    for task, agent in zip(spec.tasks, agents, strict=True):
        state.apply(Entry(1.0, "launch", "done", task.slug, 1, fact=launched_as(agent)))
    poll = AgentPoller(state.addresses, manager, screen_every_s=600.0)(2.0)
    assert [poll.agents[task.agent].has_result for task in state.tasks.values()] == [False, False]
    for agent, address in zip(agents, state.addresses.values(), strict=True):
        (change,) = mngr.stop(address, manager=manager)
        assert change.agent.host.name == agent.host.name


def _paths(pipeline: Pipeline, host: str, agent_id: str) -> AgentPaths:
    return HostPaths(f"{pipeline.world.host_dir}/providers/faulty/{host}/dir").agent(agent_id)


def _is_running(pid: str) -> bool:
    """Whether the process runs; one that has ended may not have been reaped yet."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(") ")[2][0] not in "ZX"
    except OSError:
        return False


@pytest.mark.accept("Q2")
def test_a_display_that_fails_does_not_end_the_run() -> None:
    world, disk = SimWorld("r1", 1), Disk()

    def broken(_run: RunState, _entries: tuple[Entry, ...]) -> None:
        raise UnicodeEncodeError("ascii", "\udc80", 0, 1, "surrogates not allowed")

    state = Loop(RunState(make_spec(4)), disk.append, SimExecutor(world), broken).go()
    assert {task.phase for task in state.tasks.values()} == {TaskPhase.ENDED}
    told = [entry.message for entry in disk.entries if entry.step == "run"]
    assert len(told) == 1
    assert "UnicodeEncodeError" in told[0]


@pytest.mark.accept("Q7", "Q10")
@pytest.mark.parametrize("data", [{"name": "caf\udce9"}, {"number": 1 << 80}, {"what": object()}])
def test_an_outcome_that_is_no_json_is_written_down_all_the_same(
    data: dict[str, object], tmp_path_factory: pytest.TempPathFactory
) -> None:
    """TH-H2: a name that a host gave need not be Unicode."""
    path = str(tmp_path_factory.mktemp("run") / "journal.jsonl")
    journal, spec = Journal(path), make_spec(1)
    loop = Loop(RunState(spec), journal.append, SimExecutor(SimWorld("r1", 1)))
    loop.record((Entry(1.0, "launch", "done", spec.tasks[0].slug, 1, "r\udce9sum\udce9", RunResumed(data)),))
    journal.close()
    (entry,) = read_journal(path)
    assert "sum" in entry.message
    assert isinstance(entry.fact, RunResumed)
    assert list(entry.fact.options) == list(data)
