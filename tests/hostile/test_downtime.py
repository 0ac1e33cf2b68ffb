"""Time that passes without an orchestrator costs no agent its result: killed, frozen, or with the clock set."""

import os
import signal
import threading
import time
from pathlib import Path

import pytest
from msgspec.structs import replace
from tests.tmr.run.lives import be_down, kill_when, launched, orchestrator, prompts
from tests.tmr.run.pipeline import KNOBS, UNCHANGED, Pipeline, Step, pipeline

from mngr.model.host import HostState
from mngr.process import wait_until
from mngr.store.paths import HostPaths
from mngr.testing.faulty.host import put_state
from mngr.testing.waiting import PATIENCE_S
from mngr_tmr.engine.journal import read_journal
from mngr_tmr.run.polling import agents_of
from mngr_tmr.run_folder.folder import RunFolder

__all__ = ["pipeline"]

pytestmark = pytest.mark.slow

_TIMEOUT_S = 300.0


@pytest.mark.accept("Q12")
def test_agents_that_finished_while_the_orchestrator_was_down_are_not_timed_out(pipeline: Pipeline) -> None:
    """TH-H3."""
    plays = {f"test_{number}": [_wait_for_go(pipeline), UNCHANGED] for number in range(3)}
    folder = pipeline.folder(pipeline.spec(plays, replace(KNOBS, timeout_s=_TIMEOUT_S)))
    kill_when(pipeline, lambda: launched(folder) == 3)
    _go(pipeline, agents=3)
    be_down(folder, 1.5 * _TIMEOUT_S)
    pipeline.go(folder)
    records = pipeline.records(folder)
    assert [record.end for record in records.values()] == ["result"] * 3, records
    assert prompts(pipeline) == [1, 1, 1], "a turn was paid twice"


@pytest.mark.accept("Q12")
def test_an_agent_that_finished_while_the_orchestrator_was_frozen_is_not_timed_out(
    pipeline: Pipeline,
) -> None:
    """TH-H3."""
    timeout_s = 8.0
    plays = {"test_one": [_wait_for_go(pipeline), UNCHANGED]}
    folder = pipeline.folder(pipeline.spec(plays, replace(KNOBS, timeout_s=timeout_s)))
    with orchestrator(pipeline) as child:
        assert wait_until(lambda: launched(folder) == 1, PATIENCE_S)
        os.kill(child.pid, signal.SIGSTOP)
        frozen_at = time.monotonic()
        _go(pipeline, agents=1)
        assert wait_until(lambda: time.monotonic() - frozen_at > timeout_s, PATIENCE_S)
        os.kill(child.pid, signal.SIGCONT)
        assert wait_until(lambda: child.poll() is not None, PATIENCE_S)
    record = pipeline.records(folder)["test_one"]
    assert record.end == "result", record


@pytest.mark.accept("Q12")
def test_results_on_hosts_that_stopped_meanwhile_are_taken(pipeline: Pipeline) -> None:
    """TH-H3: with nobody to renew its lease a host stops, and what its agent finished is still on it."""
    plays = {f"test_{number}": [_wait_for_go(pipeline), UNCHANGED] for number in range(2)}
    folder = pipeline.folder(pipeline.spec(plays, replace(KNOBS, provider="faulty")))
    kill_when(pipeline, lambda: launched(folder) == 2)
    _go(pipeline, agents=2)
    for agent in agents_of("r1", pipeline.manager):
        pipeline.manager.provider("faulty").stop(agent.host.name)
    be_down(folder, 48 * 3600.0)
    pipeline.go(folder)
    records = pipeline.records(folder)
    assert [record.end for record in records.values()] == ["result"] * 2, records


@pytest.mark.accept("Q12", "Q1")
def test_an_agent_on_a_host_that_is_silent_at_first_is_neither_launched_nor_prompted_again(
    pipeline: Pipeline,
) -> None:
    """The orchestrator was killed after it handed the prompt over, before it wrote down that it had."""
    plays = {"test_one": [{"wait_message": True}, _wait_for_go(pipeline), UNCHANGED]}
    folder = pipeline.folder(pipeline.spec(plays, replace(KNOBS, provider="faulty")))
    kill_when(pipeline, lambda: launched(folder) == 1)
    (agent,) = agents_of("r1", pipeline.manager)
    host = f"{pipeline.world.host_dir}/providers/faulty/{agent.host.name}"
    _forget_launches(folder)
    _forget_messages(Path(HostPaths(f"{host}/dir").agent(agent.id).events))
    put_state(host, HostState.UNREACHABLE)
    run = threading.Thread(target=pipeline.go, args=(folder,))
    run.start()
    assert wait_until(lambda: _has(pipeline, "resumed"), PATIENCE_S)
    assert not wait_until(lambda: launched(folder) == 1, 2.0)
    put_state(host, HostState.RUNNING)
    _go(pipeline, agents=1)
    run.join(PATIENCE_S)
    record = pipeline.records(folder)["test_one"]
    assert record.end == "result", record
    assert [each.id for each in agents_of("r1", pipeline.manager)] == [agent.id]
    assert prompts(pipeline) == [1], "a turn was paid twice"


def _forget_launches(folder: RunFolder) -> None:
    """Cuts the journal before the first launch that was done: killed a moment earlier."""
    lines = Path(folder.journal).read_bytes().splitlines(keepends=True)
    entries = read_journal(folder.journal)
    first = next(n for n, entry in enumerate(entries) if (entry.step, entry.kind) == ("launch", "done"))
    Path(folder.journal).write_bytes(b"".join(lines[:first]))


def _forget_messages(log: Path) -> None:
    lines = log.read_bytes().splitlines(keepends=True)
    log.write_bytes(b"".join(line for line in lines if b'"kind":"message"' not in line))


def _has(pipeline: Pipeline, message: str) -> bool:
    return any(entry.message == message for entry in pipeline.seen)


def _wait_for_go(pipeline: Pipeline) -> Step:
    return {"run": f"while [ ! -e '{pipeline.plays}/go' ]; do sleep 0.1; done"}


def _go(pipeline: Pipeline, agents: int) -> None:
    """Lets the agents finish, with nobody watching."""
    (pipeline.plays / "go").touch()
    assert wait_until(
        lambda: sum(agent.result for agent in agents_of("r1", pipeline.manager)) == agents, PATIENCE_S
    )
