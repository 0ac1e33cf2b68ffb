"""Agents on several machines: what is silent is said, what is cut off in the middle leaves nothing for long."""

import os
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import msgspec
import pytest
from tests.support.sshd import Machine, Machines, machines
from tests.support.world import World

import mngr
from mngr.actions.gc.gc import find_garbage, remove_garbage
from mngr.actions.host_notes import note_creation, noted_creations
from mngr.actions.manager import Manager
from mngr.actions.rows import this_process
from mngr.errors import MngrError, RefusedError, UnreachableError, UsageError
from mngr.model.agent import Agent
from mngr.model.host import HostRef, HostState
from mngr.process import CommandFailedError, wait_until
from mngr.testing.waiting import PATIENCE_S

__all__ = ["machines"]

pytestmark = pytest.mark.slow

SLEEP = ("sleep", "1000")


class Far:
    """A world here and machines elsewhere."""

    def __init__(self, folder: Path, machines: Machines) -> None:
        self.world, self.machines = World(folder), machines

    def manager(self) -> Manager:
        """A new one each time, as every command has."""
        return self.world.manager(ssh=self.machines.provider(self.world.host_dir))

    def create(self, address: str, *argv: str, **fields: object) -> Agent:
        return mngr.create(address, args=argv or SLEEP, manager=self.manager(), **fields).agent  # type: ignore[arg-type]

    def states(self) -> dict[str, str]:
        return {agent.name: agent.state for agent in mngr.list_agents(manager=self.manager()).agents}


@pytest.fixture
def far(tmp_path: Path, machines: Machines, monkeypatch: pytest.MonkeyPatch) -> Iterator[Far]:
    monkeypatch.setenv("GIT_CONFIG_NOSYSTEM", "1")
    made = Far(tmp_path, machines)
    yield made
    made.world.end()


def left_on(machine: Machine) -> list[str]:
    """What a creation could have left there: directories, names, work dirs, sessions."""
    script = """cd /root/.mngr 2>/dev/null || exit 0
ls -d agents/* names/* work/* 2>/dev/null
tmux -N -S tmux/socket list-sessions -F '#{session_name}' 2>/dev/null
exit 0"""
    return machine.run(script).text.split()


@pytest.mark.accept("K11")
def test_a_silent_machine_costs_list_its_deadline_and_a_warning(far: Far) -> None:
    for name in ("one", "two"):
        far.machines.add(name)
        far.create(f"on-{name}@{name}.ssh")
    far.create("here", transfer="mirror")
    mngr.stop("on-two", manager=far.manager())
    there = {"on-one": "RUNNING", "on-two": "STOPPED", "here": "RUNNING"}
    assert wait_until(lambda: far.states() == there, PATIENCE_S), far.states()
    for machine in far.machines.machines.values():
        machine.cut_off()
    began = time.monotonic()
    listing = mngr.list_agents(manager=far.manager())
    took = time.monotonic() - began
    rows = {agent.name: agent for agent in listing.agents}
    assert {name: row.state for name, row in rows.items()} == {
        "here": "RUNNING",
        "on-one": "UNKNOWN",
        "on-two": "STOPPED",
    }
    assert "was RUNNING" in rows["on-one"].why
    assert " s ago" in rows["on-one"].why
    assert rows["on-one"].host.state == HostState.UNREACHABLE
    assert len(listing.warnings) == 2
    assert (
        took < 30
    )  # three seconds, on a machine that does other things too; without a deadline it is a minute
    with pytest.raises(UnreachableError, match="its host is unreachable"):
        mngr.stop("on-one", manager=far.manager())
    assert mngr.stop("here", manager=far.manager())[0].agent.state == "STOPPED"
    for machine in far.machines.machines.values():
        machine.join()
    assert wait_until(lambda: far.states().get("on-one") == "RUNNING", PATIENCE_S)


@pytest.mark.accept("K11")
def test_an_agent_is_known_from_its_creation_to_its_end_though_nobody_listed_it(far: Far) -> None:
    machine = far.machines.add("one")
    far.create("gone@one.ssh")
    mngr.destroy("gone", manager=far.manager())
    far.create("kept@one.ssh")
    machine.cut_off()
    rows = mngr.list_agents(manager=far.manager()).agents
    assert [(row.name, row.state) for row in rows] == [("kept", "UNKNOWN")]
    assert "was RUNNING" in rows[0].why


@pytest.mark.accept("K4")
def test_a_machine_cut_off_in_the_middle_of_a_creation_keeps_nothing_after_gc(far: Far) -> None:
    machine = far.machines.add("one")
    failed: list[MngrError] = []

    def create() -> None:
        try:
            far.create("foo@one.ssh", setup="echo begun >/root/begun; sleep 300")
        except MngrError as error:
            failed.append(error)

    thread = threading.Thread(target=create)
    thread.start()
    assert wait_until(lambda: "begun" in machine.run("cat /root/begun 2>/dev/null; exit 0").text, PATIENCE_S)
    machine.cut_off()
    thread.join(PATIENCE_S)
    assert isinstance(failed[0], UnreachableError)
    assert "left behind" in failed[0].hint
    assert "mngr gc" in failed[0].hint
    machine.join()
    assert left_on(machine)
    assert wait_until(lambda: not mngr.list_agents(manager=far.manager()).warnings, PATIENCE_S)
    # The creator lives (it is this process), so that the time its work may take is what counts.
    assert find_garbage(manager=far.manager()) == []
    _make_creator_a_dead_process(machine)
    garbage = wait_until(lambda: find_garbage(manager=far.manager()), PATIENCE_S) or []
    assert [item.kind for item in garbage] == ["creation"]
    remove_garbage(garbage, manager=far.manager())
    assert left_on(machine) == []
    lines = "cat /proc/[0-9]*/cmdline 2>/dev/null | tr '\\0' ' '"
    assert wait_until(lambda: "sleep 300" not in machine.run(lines).text, PATIENCE_S)


def _make_creator_a_dead_process(machine: Machine) -> None:
    path = machine.run("ls /root/.mngr/agents/*/agent.json").text.strip()
    spec = msgspec.json.decode(machine.box.read(path))
    spec["creator"]["start"] = "1"
    machine.box.write(path, msgspec.json.encode(spec))


def test_a_machine_cut_off_in_the_middle_of_a_pull_changes_nothing_here(far: Far) -> None:
    machine = far.machines.add("one")
    far.create("foo@one.ssh")
    script = "head -c 4000000 /dev/urandom >big && git add big && git commit -qm big && git rev-parse HEAD"
    heard: list[bytes] = []
    mngr.exec_in(
        "foo", ["sh", "-c", script], on_output=lambda _, data: heard.append(data), manager=far.manager()
    )
    before = far.world.git("for-each-ref")
    machine.slow_down("2mbit")
    failed: list[MngrError] = []

    def pull() -> None:
        try:
            mngr.pull("foo", manager=far.manager())
        except MngrError as error:
            failed.append(error)

    thread = threading.Thread(target=pull)
    thread.start()
    assert wait_until(
        lambda: "upload-pack" in machine.run("cat /proc/[0-9]*/cmdline 2>/dev/null; exit 0").text, PATIENCE_S
    )
    machine.cut_off()
    thread.join(2 * PATIENCE_S)
    assert [type(error) for error in failed] == [UnreachableError]
    assert far.world.git("for-each-ref") == before
    machine.join()
    machine.net("tc", "qdisc", "del", "dev", "eth0", "root")
    assert wait_until(lambda: far.states().get("foo") == "RUNNING", PATIENCE_S)
    assert mngr.pull("foo", manager=far.manager()).changed
    assert far.world.git("rev-parse", "mngr/foo") == heard[-1].decode()


@pytest.mark.accept("P6")
def test_waiting_goes_on_while_a_machine_is_away_and_tells_of_the_others(far: Far) -> None:
    one, _ = far.machines.add("one"), far.machines.add("two")
    far.create("a@one.ssh", "sh", "-c", "while [ ! -e /root/go ]; do sleep 0.2; done")
    far.create("b@two.ssh", "sh", "-c", "sleep 3")
    one.cut_off()
    waited = mngr.wait(
        [agent for agent in mngr.list_agents(manager=far.manager()).agents if agent.name == "b"],
        until="done",
        timeout_s=PATIENCE_S,
        manager=far.manager(),
    )
    assert [(each.agent.name, each.reached) for each in waited] == [("b", True)]
    one.join()
    assert wait_until(lambda: far.states().get("a") == "RUNNING", PATIENCE_S)
    answers = mngr.wait("a", until="done", timeout_s=2 * PATIENCE_S, manager=far.manager())
    thread = threading.Thread(target=lambda: seen.extend(answers))
    seen: list[mngr.Waited] = []
    thread.start()
    one.cut_off()
    one.run(": >/root/go")
    one.join()
    thread.join(2 * PATIENCE_S)
    assert [(each.agent.state, each.reached) for each in seen] == [("DONE", True)]


def test_a_wrong_clock_there_confuses_nobody(far: Far) -> None:
    """The machine lives two hours in the past, the shell's clock and the agent's alike."""
    machine = far.machines.add("one", PATH="/root/bin:/usr/bin:/bin")
    machine.box.write("/root/bin/date", b"#!/bin/sh\n/bin/date -d '2 hours ago' \"$@\"\n", 0o755)
    late = b"import time\nreal = time.time\ntime.time = lambda: real() - 7200\n"
    machine.box.write("/root/skew/sitecustomize.py", late)
    agent = mngr.create(
        "foo@one.ssh",
        type="scripted",
        env={"PYTHONPATH": "/root/skew"},
        message="hello",
        manager=far.manager(),
    ).agent
    assert agent.state in ("RUNNING", "WAITING")
    waited = list(mngr.wait("foo", until="idle", timeout_s=PATIENCE_S, manager=far.manager()))
    assert [(each.agent.state, each.reached) for each in waited] == [("WAITING", True)]
    assert mngr.message("foo", "again", manager=far.manager()).receipt.status == "delivered"
    waited = list(mngr.wait("foo", until="idle", timeout_s=PATIENCE_S, manager=far.manager()))
    assert [each.reached for each in waited] == [True]
    assert len(mngr.transcript("foo", roles=("user",), manager=far.manager())) == 2
    assert find_garbage(manager=far.manager()) == []
    assert mngr.stop("foo", manager=far.manager())[0].agent.state == "STOPPED"


@pytest.mark.accept("K4")
def test_a_full_disk_there_is_named_and_leaves_nothing(far: Far) -> None:
    machine = far.machines.add("one")
    machine.run("mkdir -p /root/.mngr && mount -t tmpfs -o size=1m tmpfs /root/.mngr")
    (far.world.repo / "big").write_bytes(os.urandom(3_000_000))
    far.world.git("add", ".")
    far.world.git("commit", "-qm", "big")
    with pytest.raises(MngrError, match=r"(?i)no space left|disk"):
        far.create("foo@one.ssh")
    assert left_on(machine) == []
    assert far.states() == {}


def test_a_hostile_repository_there_is_pulled_without_running_anything_of_it(
    far: Far, tmp_path: Path
) -> None:
    far.machines.add("one")
    far.create("foo@one.ssh")
    trap = tmp_path / "sprung"
    script = f"""cd . && mkdir -p .git/hooks
for hook in post-checkout post-merge reference-transaction pre-push update post-update fsmonitor-watchman; do
  printf '#!/bin/sh\\necho x >{trap}' >.git/hooks/$hook
  chmod +x .git/hooks/$hook
done
git config uploadpack.packObjectsHook 'touch {trap}; exec'
git config core.fsmonitor 'touch {trap}'
git config core.sshCommand 'touch {trap}'
git config filter.evil.smudge 'touch {trap}; cat'
git config filter.evil.clean cat
echo '* filter=evil' >.gitattributes
ln -s {tmp_path}/stolen link; ln -s ../../../../../../etc/passwd up
git -c core.fsmonitor= -c core.hooksPath=/dev/null add -A
git -c core.fsmonitor= -c core.hooksPath=/dev/null commit -qm evil"""
    code = mngr.exec_in("foo", ["sh", "-c", script], on_output=lambda *_: None, manager=far.manager())
    assert code == 0
    assert mngr.pull("foo", manager=far.manager()).changed
    mngr.pull("foo", mode="ff-only", manager=far.manager())
    assert far.world.git("log", "-1", "--format=%s").strip() == "evil"
    assert not trap.exists()
    assert (far.world.repo / "link").is_symlink()
    assert not (tmp_path / "stolen").exists()
    assert not far.world.git("config", "--get-regexp", "^user").count("evil")


@pytest.mark.accept("Q8")
def test_two_managers_on_two_machines_share_the_same_hosts(tmp_path: Path, machines: Machines) -> None:
    machines.add("one")
    worlds = []
    for name in ("ada", "bob"):
        (tmp_path / name).mkdir()
        worlds.append(World(tmp_path / name))
    managers = [world.manager(ssh=machines.provider(world.host_dir)) for world in worlds]
    outcomes: list[str] = []

    def work(number: int) -> None:
        for name in (f"own-{number}", "contested"):
            try:
                made = mngr.create(f"{name}@one.ssh", args=SLEEP, manager=managers[number])
                outcomes.append(made.agent.name)
            except RefusedError:
                outcomes.append("refused")

    threads = [threading.Thread(target=work, args=(number,)) for number in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(outcomes) == ["contested", "own-0", "own-1", "refused"]
    views = [mngr.list_agents(manager=manager).agents for manager in managers]
    assert [(a.id, a.state) for a in views[0]] == [(a.id, a.state) for a in views[1]]
    assert {agent.state for agent in views[0]} == {"RUNNING"}
    assert find_garbage(manager=managers[1]) == []
    mngr.destroy("own-0", manager=managers[1])
    assert mngr.label("own-1", {"by": "ada"}, manager=managers[0]).agent.labels == {"by": "ada"}
    assert {agent.name for agent in mngr.list_agents(manager=managers[0]).agents} == {"own-1", "contested"}
    for world in worlds:
        world.end()


def test_gc_leaves_a_machine_alone_that_does_not_answer(far: Far) -> None:
    machine = far.machines.add("one")
    far.create("foo@one.ssh")
    machine.run("mkdir /root/.mngr/work/stray")
    machine.cut_off()
    manager = far.manager()
    assert find_garbage(manager=manager) == []
    assert "left alone" in " ".join(manager.warnings)
    machine.join()
    assert wait_until(lambda: far.states().get("foo") == "RUNNING", PATIENCE_S)
    assert [item.what for item in find_garbage(manager=far.manager())] == ["/root/.mngr/work/stray"]


@pytest.mark.accept("K19")
def test_a_host_without_tmux_or_git_is_named_with_the_fix(far: Far) -> None:
    programs = "sh cat mkdir chmod ln mv rm wc date env find tar"
    for name, more in (("no-git", "tmux"), ("no-tmux", "git git-receive-pack")):
        machine = far.machines.add(name, PATH="/root/bin")
        machine.run(
            f"mkdir /root/bin; for p in {programs} {more}; do ln -s $(command -v $p) /root/bin/$p; done"
        )
    with pytest.raises(MngrError, match='"no-git" has no git') as caught:
        far.create("foo@no-git.ssh")
    assert "apt" in caught.value.hint
    with pytest.raises(MngrError, match='"no-tmux" has no tmux') as caught:
        far.create("foo@no-tmux.ssh")
    assert "bootstrap" in caught.value.hint
    assert [left_on(machine) for machine in far.machines.machines.values()] == [[], []]


@pytest.mark.accept("L1")
def test_a_provider_alone_spreads_agents_and_a_name_of_the_ssh_config_is_enough(far: Far) -> None:
    for name in ("one", "two"):
        far.machines.add(name)
    made = [far.create(f"a{number}@.ssh") for number in range(4)]
    assert [sum(agent.host.name == name for agent in made) for name in ("one", "two")] == [2, 2]
    provider = far.machines.provider(far.world.host_dir, hosts={})
    manager = far.world.manager(ssh=provider)
    agent = mngr.create("met@one", args=SLEEP, manager=manager).agent
    assert agent.address == "met@one.ssh"
    with pytest.raises(UsageError, match="not mngr's to stop"):
        mngr.stop_host("@one.ssh", manager=manager)
    mngr.destroy("met", manager=manager)


def test_notes_of_creations_that_made_no_host_are_dropped(far: Far) -> None:
    far.machines.add("one")
    manager = far.manager()
    creator = this_process()
    note_creation(manager, HostRef("never", "ssh"), msgspec.structs.replace(creator, start="1"))
    note_creation(manager, HostRef("now", "ssh"), creator)
    remove_garbage(find_garbage(manager=manager), manager=manager)
    assert noted_creations(manager) == [HostRef("now", "ssh")]


def test_a_command_that_fails_there_is_no_absent_machine(far: Far) -> None:
    far.machines.add("one")
    with pytest.raises(MngrError, match="exit code 7") as caught:
        far.create("foo@one.ssh", setup="exit 7")
    assert not isinstance(caught.value, UnreachableError | CommandFailedError)
    assert left_on(far.machines.machines["one"]) == []


@pytest.mark.accept("K1")
def test_output_that_nobody_takes_ends_the_command_on_its_machine(far: Far) -> None:
    """TH-M3: over ssh, what was started there is gone when the error is raised here."""
    machine = far.machines.add("one")
    far.create("foo@one.ssh")

    def refuse(_: str, data: bytes) -> None:
        assert data
        raise BrokenPipeError

    for command in ("yes four-and-twenty", "sh -c 'echo x; exec sleep 2424'"):
        with pytest.raises(BrokenPipeError):
            mngr.exec_in("foo", ["sh", "-c", command], on_output=refuse, manager=far.manager())
        running = machine.run("cat /proc/[0-9]*/cmdline 2>/dev/null | tr '\\0' ' '; exit 0").text
        assert "four-and-twenty" not in running
        assert "2424" not in running
