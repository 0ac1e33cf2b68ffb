"""Runs whose agents are on hosts of their own: what the pipeline asks of which host, and how many there are."""

import subprocess
import threading
from collections.abc import Iterator
from functools import partial
from pathlib import Path

import pytest
from msgspec.structs import replace
from tests.cli.command import ARGV, Mngr
from tests.support.world import PATIENCE_S
from tests.tmr.run.pipeline import KNOBS, UNCHANGED, Pipeline, Step
from tests.tmr.run.test_run import commit_of

import mngr
from mngr.hosts.faulty import FaultyProvider
from mngr.model.host import HostSpec
from mngr.process import wait_until
from mngr_tmr.engine.journal import read_journal
from mngr_tmr.engine.state import RunState
from mngr_tmr.model.entry import Entry
from mngr_tmr.run.folder import read_spec
from mngr_tmr.run.look import LookAround
from mngr_tmr.run.steps import Steps

pytestmark = pytest.mark.slow

LIFE_S = 300.0
ON_HOSTS = replace(KNOBS, provider="faulty")


@pytest.fixture
def hosts(pipeline: Pipeline) -> Iterator[FaultyProvider]:
    """The provider of the hosts, which are gone afterwards."""
    provider = pipeline.manager.provider("faulty")
    assert isinstance(provider, FaultyProvider)
    yield provider
    provider.configure({})
    for ref in provider.hosts():
        provider.destroy(ref.name)


@pytest.mark.accept("Q2")
def test_a_run_with_many_hosts_and_few_descriptors_goes_on_looking(
    pipeline: Pipeline, hosts: FaultyProvider
) -> None:
    """Each look has three pipes to each of twenty hosts, more than the soft limit allows."""
    for number in range(20):
        hosts.create(HostSpec(name=f"other-{number}"))
    folder = pipeline.folder(pipeline.spec({"test_one": [UNCHANGED]}, ON_HOSTS))
    few = ("sh", "-c", 'ulimit -S -n 48; exec "$@"', "sh")
    done = subprocess.run(
        [*few, *ARGV, "tmr", "resume", "r1", "--integrator", "mechanical"],
        cwd=pipeline.project.repo,
        env=Mngr(pipeline.world).env,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=LIFE_S,
        check=False,
    )
    assert done.returncode == 0, done
    assert pipeline.records(folder)["test_one"].end == "result"
    notes = [entry.message for entry in read_journal(folder.journal) if entry.step == "run"]
    assert not [note for note in notes if "failed" in note], notes
    assert "open files" not in Path(folder.journal).read_text() + done.stderr


@pytest.mark.accept("Q2", "S6")
def test_a_screen_that_cannot_be_read_delays_no_look(pipeline: Pipeline, hosts: FaultyProvider) -> None:
    """The command that reads screens hangs: a result on another host is seen while it does."""
    manager = pipeline.manager
    make = partial(mngr.create, provider="faulty", transfer="none", manager=manager)
    busy = make("busy", args=("sleep", "600")).agent
    done = make("done", args=("sh", "-c", 'touch "$MNGR_OUTBOX/result.json"; sleep 600')).agent
    hosts.configure({"hang": "mngr-capture"})
    names = {f"{agent.id}@{agent.host.name}.faulty": agent.name for agent in (busy, done)}
    look = LookAround({name: address for address, name in names.items()}, manager, screen_every_s=0.0)
    assert wait_until(lambda: look(1.0).seen["done"].has_result, PATIENCE_S)
    reading = [thread.name for thread in threading.enumerate() if thread.name.startswith("tmr-screen-")]
    assert sorted(reading) == ["tmr-screen-busy", "tmr-screen-done"], "one look waited for a screen"
    assert look(2.0).seen["busy"].mood == "working"


@pytest.mark.accept("S6")
def test_a_step_asks_no_host_but_its_own(pipeline: Pipeline, hosts: FaultyProvider) -> None:
    """Launched by name, then by the address that the launch told; a copy for a verdict has a host of its own."""
    play: list[Step] = [{"wait_message": True}, *commit_of("one")]
    folder = pipeline.folder(pipeline.spec({"test_one": play}, ON_HOSTS))
    state = RunState(read_spec(folder))
    (slug,) = state.tasks
    steps = Steps(state, folder, pipeline.manager, {})
    hosts.create(HostSpec(name="bystander"))
    calls = pipeline.world.host_dir / "providers/faulty/bystander/calls"
    data = steps.launch(Entry(1.0, "launch", "intended", slug, 1))
    state.apply(Entry(2.0, "launch", "done", slug, 1, data=data))
    address = state.addresses[state.tasks[slug].agent]
    assert wait_until(lambda: mngr.find(address, manager=pipeline.manager).agent.result, PATIENCE_S)
    for step in (steps.nudge, steps.pull, steps.verify, steps.stop):
        told = step(Entry(3.0, "pull", "intended", slug, 1))
    assert told == {"changed": True}
    assert not calls.exists(), "the steps asked a host that is not theirs"
