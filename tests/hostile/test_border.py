"""Each way over the border that was found once, by itself."""

import os
import subprocess
import time
from pathlib import Path

import msgspec
import pytest
from tests.hostile.test_forged_records import bystander
from tests.support.world import World, look

import mngr
from mngr.actions.manager import Manager
from mngr.actions.rows import look_at, rows_from
from mngr.actions.usage import usage
from mngr.errors import MngrError, UnreachableError, UsageError
from mngr.hosts.framed_exec import collect
from mngr.model.agent import Agent, AgentSpec, AgentState
from mngr.model.event import Event, encode_event
from mngr.model.host import HostSpec
from mngr.model.ids import new_agent_id
from mngr.process import Completed, stream, wait_until
from mngr.store.fold import Folded
from mngr.store.paths import HostPaths
from mngr.store.probe import TAIL_LIMIT, Evidence, HostEvidence, long_probe_argv, probe_argv
from mngr.store.state import life
from mngr.store.untrusted import ProcessMark
from mngr.testing.faulty.provider import FaultyProvider
from mngr.testing.waiting import PATIENCE_S

SLEEP = ("sleep", "1000")
NOW = 1_700_000_000.0
SHELLS = [("dash",), ("busybox", "sh"), ("bash",)]


def files_only(paths: HostPaths, name: str, log: bytes = b"", **fields: object) -> str:
    """An agent as files, which has ended."""
    agent_id = new_agent_id()
    own = paths.agent(agent_id)
    os.makedirs(own.outbox)
    os.makedirs(paths.names, exist_ok=True)
    spec = AgentSpec(agent_id, name, "command", ("true",), f"{paths.work}/{name}", NOW)
    Path(own.spec).write_bytes(msgspec.json.encode(msgspec.structs.replace(spec, **fields)))
    Path(own.events).write_bytes(log or line("started") + line("created") + line("exited"))
    return agent_id


def line(kind: str, at: float = NOW, **data: object) -> bytes:
    return encode_event(Event(at, kind, dict(data))) + b"\n"


def row(agent_id: str, manager: Manager) -> Agent:
    (found,) = [agent for agent in mngr.list_agents(manager=manager).agents if agent.id == agent_id]
    return found


@pytest.mark.accept("Q10")
def test_a_fifo_or_a_huge_file_of_one_agent_holds_up_no_look(world: World) -> None:
    """TH-M1."""
    sound = files_only(world.paths, "sound")
    manager = world.manager()
    before = row(sound, manager)
    strange = {
        name: files_only(world.paths, name) for name in ("fifo", "huge", "log-fifo", "linked", "holes")
    }
    own = {name: world.paths.agent(agent_id) for name, agent_id in strange.items()}
    os.mkfifo(own["fifo"].exit)
    os.truncate(own["huge"].spec, 300 << 20)
    os.unlink(own["log-fifo"].events)
    os.mkfifo(own["log-fifo"].events)
    os.rename(own["linked"].spec, f"{world.folder}/spec")
    os.symlink(f"{world.folder}/spec", own["linked"].spec)
    os.truncate(own["holes"].events, 600 << 20)
    rows = {each.agent.id: each.agent for each in look_at(manager.local, manager, deadline_s=PATIENCE_S)}
    assert rows[sound] == before
    assert rows[strange["fifo"]].state == "DONE"  # its log says so
    assert "agent.json: it is too large" in rows[strange["huge"]].why
    assert "agent.json: it is not a regular file" in rows[strange["linked"]].why
    assert "events.jsonl: it is not a regular file" in rows[strange["log-fifo"]].why
    assert "of its log were too much to read" in rows[strange["holes"]].why
    mngr.destroy(list(strange.values()), manager=manager)
    assert os.listdir(world.paths.agents) == [sound]


@pytest.mark.accept("Q10")
def test_of_a_log_that_grew_too_large_its_end_is_read_and_once(world: World) -> None:
    """TH-M1: the last events count, and a fold lets the next look begin behind them."""
    agent_id = files_only(world.paths, "foo")
    own, manager = world.paths.agent(agent_id), world.manager()
    with open(own.events, "ab") as log:
        filler = line("message", why="x" * 10_000)
        log.write(filler * (2 * TAIL_LIMIT // len(filler)))
        log.write(line("labelled", labels={"last": "one"}))
    first = look_at(manager.local, manager)[0]
    assert first.evidence.tail_bytes <= TAIL_LIMIT
    assert first.agent.labels == {"last": "one"}
    again = look_at(manager.local, manager)[0]
    assert (again.evidence.tail_bytes, again.agent.labels) == (0, {"last": "one"})
    assert "too much to read" in again.agent.why


@pytest.mark.accept("Q10")
def test_a_fold_that_cannot_be_used_is_replaced(world: World) -> None:
    """TH-H2."""
    agent_id = files_only(world.paths, "foo", line("labelled", labels={"k": "v" * 9000}))
    own, manager = world.paths.agent(agent_id), world.manager()
    Path(own.fold).write_text('{"offset":20,"labels":{"k":"forged"},"last_at":1e300}\n')
    look_at(manager.local, manager)
    assert look_at(manager.local, manager)[0].agent.labels == {"k": "v" * 9000}


@pytest.mark.accept("Q10")
@pytest.mark.parametrize("shell", SHELLS, ids="-".join)
@pytest.mark.parametrize("way", ["short", "long"])
def test_a_look_that_nobody_waits_for_ends_with_all_it_started(
    world: World, shell: tuple[str, ...], way: str
) -> None:
    """TH-M1: here tmux never answers, as it does when its server was paused."""
    os.makedirs(world.paths.agents)
    os.makedirs(world.paths.tmux)
    tmux = world.folder / "bin" / "tmux"
    tmux.parent.mkdir()
    tmux.write_text("#!/bin/sh\nsleep 1000\n")
    tmux.chmod(0o700)
    env = {"PATH": f"{tmux.parent}:{os.environ['PATH']}", "LOOK": str(world.folder)}
    if way == "short":
        argv = probe_argv(world.paths, ends_after_s=1)
    else:
        argv = long_probe_argv(world.paths, "", 0.2, ends_after_s=1)
    child = subprocess.Popen([*shell, *argv[1:]], env=env, stdout=subprocess.DEVNULL, start_new_session=True)
    assert child.wait(PATIENCE_S) != 0
    assert wait_until(lambda: not _with(env["LOOK"]), PATIENCE_S), _with(env["LOOK"])


@pytest.mark.accept("Q10")
@pytest.mark.parametrize("shell", SHELLS, ids="-".join)
def test_what_watches_over_a_look_ends_with_it(world: World, shell: tuple[str, ...]) -> None:
    """TH-M1."""
    files_only(world.paths, "foo")
    env = {"PATH": os.environ["PATH"], "LOOK": str(world.folder)}
    argv = probe_argv(world.paths, ends_after_s=500)
    done = subprocess.run([*shell, *argv[1:]], env=env, capture_output=True, timeout=PATIENCE_S, check=True)
    assert b'"name":"foo"' in done.stdout
    assert wait_until(lambda: not _with(env["LOOK"]), PATIENCE_S), _with(env["LOOK"])


def _with(folder: str) -> list[int]:
    """Processes of a look: they were told this folder in a variable."""
    mark = f"LOOK={folder}".encode()
    seen = {pid: look(pid) for pid in map(int, filter(str.isdigit, os.listdir("/proc")))}
    return [pid for pid, one in seen.items() if one and mark in one.environ]


@pytest.mark.accept("Q10")
def test_a_host_that_never_stops_talking_is_cut_off(world: World) -> None:
    """TH-M1: whatever it prints, a command there takes a bounded part of our memory."""
    flood = stream(["yes"])
    try:
        with pytest.raises(MngrError, match="printed more than"):
            collect(flood, "never", b"", PATIENCE_S)
    finally:
        flood.kill()
    manager = world.manager()
    with pytest.raises(UnreachableError, match="answered a look with 65 MB"):
        rows_from(Completed((), 0, b"x" * (65 << 20), b""), manager.local, manager)


@pytest.mark.accept("Q10")
@pytest.mark.parametrize(
    "name", ["../.git/hooks", "a\nerror: b", "", "-x", "x" * 64, "\x1b]0;t\x07", 5, None, ["a"]]
)
def test_a_name_in_a_log_that_no_agent_can_have_is_ignored(world: World, name: object) -> None:
    """TH-C1: it never becomes the name of a row, so never a part of a path."""
    log = line("created") + line("renamed", name="bar") + line("renamed", name=name) + line("exited")
    agent_id = files_only(world.paths, "foo", log)
    assert row(agent_id, world.manager()).name == "bar"


@pytest.mark.accept("Q10")
def test_an_event_that_a_full_disk_cut_off_spoils_neither_the_log_nor_the_next_label(world: World) -> None:
    """TH-H2: a torn character, then one `mngr label`, broke every verb."""
    whole = line("labelled", labels={"k": "é"})
    agent_id = files_only(world.paths, "foo", line("created") + whole[: whole.index("é".encode()) + 1])
    manager = world.manager()
    assert mngr.label(agent_id, {"l": "v"}, manager=manager).agent.labels == {"l": "v"}
    assert mngr.rename(agent_id, "bar", manager=manager).agent.name == "bar"
    assert row(agent_id, manager).name == "bar"


@pytest.mark.accept("Q10")
def test_a_start_ahead_of_the_clock_does_not_make_a_dead_agent_young() -> None:
    """Clock set back: it was RUNNING, "starting", for as long as the clock had gone back."""
    spec = AgentSpec(new_agent_id(), "foo", "command", ("true",), "/", NOW)
    folded = Folded(created=True, started_at=NOW + 3600, last_at=NOW + 3600)
    dead = Evidence(spec.id, spec=spec, folded=folded, mark=ProcessMark(4_000_001, "-", ""))
    assert life(dead, HostEvidence("b", NOW, "running", ()), creator_alive=False).state == AgentState.UNKNOWN
    just_now = msgspec.structs.replace(dead, folded=Folded(created=True, started_at=NOW + 1))
    assert life(just_now, HostEvidence("b", NOW, "running", ()), creator_alive=False).why == "starting"


@pytest.mark.accept("Q10")
def test_a_forged_process_number_lets_stop_end_no_process_but_the_agents_own(world: World) -> None:
    """A forged pid: its start time is right, its boot too, but nothing says that it is this agent's."""
    manager = world.manager()
    agent = mngr.create("foo", args=SLEEP, manager=manager).agent
    own = world.paths.agent(agent.id)
    with bystander() as pid:
        boot = Path("/proc/sys/kernel/random/boot_id").read_text().strip()
        Path(own.pid).write_text(f"{pid} {boot} {Path(f'/proc/{pid}/stat').read_text()}")
        mngr.stop(agent.id, grace_s=5, manager=manager)
        assert not _of(agent, world)
    mngr.destroy(agent.id, manager=manager)


@pytest.mark.accept("K5")
def test_an_agent_that_cleared_its_environment_is_ended_by_its_pane(world: World) -> None:
    """Its process has no mark of ours, but tmux says in whose pane it runs."""
    manager = world.manager()
    agent = mngr.create("foo", args=("env", "-i", *SLEEP), manager=manager).agent
    pid = int(Path(world.paths.agent(agent.id).pid).read_text().split()[0])
    assert wait_until(lambda: (one := look(pid)) and one.environ == [b""], PATIENCE_S)
    mngr.stop(agent.id, grace_s=5, manager=manager)
    assert look(pid) is None


def _of(agent: Agent, world: World) -> list[int]:
    mark = f"MNGR_AGENT_ID={agent.id}".encode()
    return [pid for pid, one in world.processes().items() if mark in one.environ]


@pytest.mark.accept("Q10")
def test_a_host_that_claims_the_id_of_another_hosts_agent_changes_nothing_for_it(world: World) -> None:
    """Neither hides the other, and a word that means both acts on neither."""
    manager = world.manager(faulty=FaultyProvider(str(world.host_dir)))
    agent_id = files_only(world.paths, "foo")
    before = row(agent_id, manager)
    far = manager.provider("faulty").create(HostSpec(name="far"))
    there = HostPaths(far.dir)
    forged = files_only(there, "bar")
    os.rename(there.agent(forged).dir, there.agent(agent_id).dir)
    spec = AgentSpec(agent_id, "bar", "command", ("true",), f"{there.work}/bar", NOW)
    Path(there.agent(agent_id).spec).write_bytes(msgspec.json.encode(spec))
    agents = {agent.host.name: agent for agent in mngr.list_agents(manager=manager).agents}
    assert (agents["local"], agents["far"].name) == (before, "bar")
    with pytest.raises(UsageError, match="could be any of"):
        mngr.destroy(agent_id, manager=manager)
    mngr.destroy(f"{agent_id}@far.faulty", manager=manager)
    assert row(agent_id, manager) == before


@pytest.mark.accept("Q10")
def test_usage_counts_all_but_the_agent_whose_record_cannot_be_read(world: World) -> None:
    """TH-H2: it is a warning, and the others of its host are counted."""
    paid = files_only(world.paths, "paid", type="scripted")
    Path(world.paths.agent(paid).dir, "usage.json").write_text('{"output_tokens":7}')
    unreadable, unknown = files_only(world.paths, "a"), files_only(world.paths, "b", type="nothing-here")
    Path(world.paths.agent(unreadable).spec).write_bytes(b"\xff")
    odd = files_only(world.paths, "c", type="scripted")
    Path(world.paths.agent(odd).dir, "usage.json").write_text('{"output_tokens":-7}')
    report = usage(manager=world.manager())
    assert (report.total.output_tokens, report.total.agents) == (7, 1)
    assert [unreadable in warning or "nothing-here" in warning for warning in report.warnings] == [True, True]
    assert unknown


@pytest.mark.accept("Q10")
def test_reading_a_fifo_in_a_files_place_is_an_error_at_once(world: World) -> None:
    """TH-M1."""
    path = f"{world.folder}/fifo"
    os.mkfifo(path)
    began = time.monotonic()
    with pytest.raises(MngrError, match="not a regular file"):
        world.manager().local.read(path)
    assert time.monotonic() - began < PATIENCE_S
