"""Runs whose agents are on hosts of their own: what the pipeline asks of which host, and how many there are."""

import subprocess
import threading
from collections.abc import Iterator
from functools import partial
from pathlib import Path

import pytest
from msgspec.structs import replace
from tests.cli.command import ARGV, Mngr
from tests.tmr.run.lives import launched
from tests.tmr.run.pipeline import KNOBS, UNCHANGED, Pipeline, Step
from tests.tmr.run.test_run import commit_of

import mngr
from mngr.model.host import HostSpec, HostState
from mngr.process import wait_until
from mngr.testing.faulty.provider import FaultyProvider
from mngr.testing.waiting import PATIENCE_S
from mngr_tmr.copies.copies import Copies
from mngr_tmr.engine.journal import read_journal
from mngr_tmr.engine.state import RunState
from mngr_tmr.model.entry import Entry
from mngr_tmr.model.facts import AgentLaunched, AgentStopped
from mngr_tmr.run.polling import AgentPoller
from mngr_tmr.run.steps import TaskSteps
from mngr_tmr.run_folder.folder import read_spec

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
    poll = AgentPoller({name: address for address, name in names.items()}, manager, screen_every_s=0.0)
    assert wait_until(lambda: poll(1.0).agents["done"].has_result, PATIENCE_S)
    reading = [thread.name for thread in threading.enumerate() if thread.name.startswith("tmr-screen-")]
    assert sorted(reading) == ["tmr-screen-busy", "tmr-screen-done"], "one look waited for a screen"
    assert poll(2.0).agents["busy"].activity == "working"


@pytest.mark.accept("S6")
def test_a_step_asks_no_host_but_its_own(pipeline: Pipeline, hosts: FaultyProvider) -> None:
    """Launched by name, then by the address that the launch told; a copy for a verdict has a host of its own."""
    play: list[Step] = [{"wait_message": True}, *commit_of("one")]
    folder = pipeline.folder(pipeline.spec({"test_one": play}, ON_HOSTS))
    state = RunState(read_spec(folder))
    (slug,) = state.tasks
    steps = TaskSteps(state, folder, pipeline.manager, {})
    hosts.create(HostSpec(name="bystander"))
    calls = pipeline.world.host_dir / "providers/faulty/bystander/calls"
    launched = steps.launch(Entry(1.0, "launch", "intended", slug, 1))
    state.apply(Entry(2.0, "launch", "done", slug, 1, fact=launched))
    address = state.addresses[state.tasks[slug].agent]
    assert wait_until(lambda: mngr.find(address, manager=pipeline.manager).agent.result, PATIENCE_S)
    for step in (steps.nudge, steps.pull, steps.verify, steps.stop):
        told = step(Entry(3.0, "pull", "intended", slug, 1))
    assert told == AgentStopped(True)
    assert not calls.exists(), "the steps asked a host that is not theirs"


@pytest.mark.accept("E2")
def test_hosts_are_bounded_and_end_when_their_work_is_home(pipeline: Pipeline, hosts: FaultyProvider) -> None:
    """The provider refuses a third host, so that one too many would cost a task."""
    names = [f"test_{letter}" for letter in "abc"]
    plays: dict[str, list[Step]] = {name: commit_of(name) for name in names[:2]}
    plays |= {name: [{"wait_message": True}, UNCHANGED] for name in names[2:]}
    hosts.configure({"max_hosts": 2})
    records = pipeline.run(plays, replace(ON_HOSTS, max_hosts=2, slots=3, verifiers=2))
    assert [records[name].end for name in names] == ["result"] * 3, records
    assert [one.after.verdict for one in records.values() if one.after] == ["passed"] * 3
    assert list(hosts.hosts()) == [], "hosts were left"
    for name in names:
        brought = Path(records[name].folder)
        for file in ("screen.txt", "conversation.jsonl", "outbox/result.json"):
            assert (brought / file).read_text(), file
    git = pipeline.world.git
    for name in names[:2]:
        assert git("log", "-1", "--format=%s", records[name].branch).strip() == f"Say {name}"


@pytest.mark.accept("E2", "P5")
def test_a_host_whose_work_could_not_be_pulled_is_stopped_with_its_files(
    pipeline: Pipeline, hosts: FaultyProvider
) -> None:
    play: list[Step] = [
        {"run": "echo half >new.txt; mv .git gone"},
        {"write_outbox": "result.json", "text": "{}"},
    ]
    record = pipeline.run({"test_one": play}, replace(ON_HOSTS, max_hosts=2))["test_one"]
    assert (record.end, record.stage) == ("failed", "pull"), record
    (ref,) = hosts.hosts()
    assert ref.state == HostState.STOPPED
    assert list(Path(pipeline.world.host_dir, "providers/faulty", ref.name).rglob("new.txt"))


@pytest.mark.accept("E3")
def test_a_provider_that_refuses_more_hosts_is_waited_for(pipeline: Pipeline, hosts: FaultyProvider) -> None:
    """Four at once are asked for, and the provider has room for one."""
    plays: dict[str, list[Step]] = {f"test_{n}": [UNCHANGED] for n in range(2)}
    plays["test_2"] = commit_of("two")
    hosts.configure({"max_hosts": 1})
    records = pipeline.run(plays, replace(ON_HOSTS, max_hosts=6, slots=3, verifiers=3))
    assert [(record.end, record.attempt) for record in records.values()] == [("result", 1)] * 3, records
    refused = [entry for entry in pipeline.seen if entry.kind == "later"]
    assert {entry.step for entry in refused} >= {"launch"}
    assert records["test_2"].after is not None
    assert records["test_2"].after.verdict == "passed"
    assert list(hosts.hosts()) == []


@pytest.mark.accept("E3")
def test_a_copy_outside_the_tasks_waits_for_room_and_says_so_once(
    pipeline: Pipeline, hosts: FaultyProvider
) -> None:
    spec, told = pipeline.spec({"test_one": [UNCHANGED]}, ON_HOSTS), list[str]()
    hosts.configure({"max_hosts": 1})
    hosts.create(HostSpec(name="other"))

    def tell(line: str) -> None:
        told.append(line)
        threading.Timer(3.0, hosts.destroy, ("other",)).start()

    with Copies(spec, {}, pipeline.manager, tell) as copies:
        assert copies.at(spec.base).command("true", PATIENCE_S).code == 0
    assert len(told) == 1
    assert told[0].startswith("waiting for capacity: host ")


@pytest.mark.accept("O12")
def test_tests_whose_hosts_are_destroyed_or_stopped_get_new_attempts_on_other_hosts(
    pipeline: Pipeline, hosts: FaultyProvider
) -> None:
    names = ("test_a", "test_b")
    folder = pipeline.folder(pipeline.spec({name: [{"hang": True}] for name in names}, ON_HOSTS))
    run = threading.Thread(target=pipeline.go, args=(folder,))
    run.start()
    assert wait_until(lambda: launched(folder) == 2, PATIENCE_S)
    for name in names:
        (pipeline.plays / f"{name}.json").write_text(f'[{{"run": "{UNCHANGED["run"]}"}}]')
    first, second = (
        entry.fact.host.partition(".")[0] for entry in pipeline.seen if isinstance(entry.fact, AgentLaunched)
    )
    hosts.destroy(first)
    hosts.stop(second)
    run.join(PATIENCE_S)
    assert not run.is_alive()
    records = pipeline.records(folder)
    assert [(records[name].end, records[name].attempt) for name in names] == [("result", 2)] * 2, records
    notes = sorted(note for record in records.values() for note in record.notes if note.startswith("attempt"))
    assert notes == [
        "attempt 1: watch failed: its host ended: STOPPED",
        "attempt 1: watch failed: the agent disappeared",
    ]
    for record in records.values():
        assert Path(folder.file(record.task.slug, 1, "prompt.md")).exists()
    places = [entry.fact.host for entry in pipeline.seen if isinstance(entry.fact, AgentLaunched)]
    assert len(set(places)) == 4
