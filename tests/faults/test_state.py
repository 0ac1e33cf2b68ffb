"""State is a fact: whatever happens to an agent, its row is there and true."""

import os
import signal
import subprocess
from pathlib import Path

import msgspec
import pytest
from tests.support.world import World

import mngr
from mngr.actions.list import look_and_list
from mngr.model.agent import Agent
from mngr.process import wait_until
from mngr.testing.waiting import PATIENCE_S

SLEEP = ("sleep", "1000")


def row(world: World, name: str = "foo") -> Agent:
    found = [
        agent for agent in mngr.list_agents(manager=world.manager()).agents if name in (agent.name, agent.id)
    ]
    assert len(found) == 1, found
    return found[0]


def when(world: World, state: str, name: str = "foo") -> Agent:
    assert wait_until(lambda: row(world, name).state == state, PATIENCE_S), row(world, name)
    return row(world, name)


def create(world: World, *argv: str, name: str = "foo", **fields: object) -> Agent:
    return mngr.create(name, args=argv, manager=world.manager(), **fields).agent  # type: ignore[arg-type]


def main_pid(world: World, agent: Agent) -> int:
    return int(Path(world.paths.agent(agent.id).pid).read_text().split()[0])


@pytest.mark.accept("K7")
def test_a_living_command_is_running_and_an_ended_one_is_done_with_its_code(world: World) -> None:
    assert create(world, "sh", "-c", "read x; exit 7").state == "RUNNING"
    mngr.message("foo", "go", manager=world.manager())
    agent = when(world, "DONE")
    assert (agent.exit_code, agent.signal, agent.ended_at is not None) == (7, None, True)


@pytest.mark.accept("K7")
def test_a_programs_own_137_and_a_kill_are_different_rows(world: World) -> None:
    create(world, "sh", "-c", "read x; exit 137")
    killed = create(world, *SLEEP, name="bar")
    mngr.message("foo", "go", manager=world.manager())
    os.kill(main_pid(world, killed), 9)
    assert (when(world, "DONE").exit_code, row(world).signal) == (137, None)
    assert (when(world, "DONE", "bar").exit_code, row(world, "bar").signal) == (None, "SIGKILL")


@pytest.mark.accept("K7")
def test_a_killed_tmux_server_gives_true_rows_and_a_start_brings_the_agent_back(world: World) -> None:
    create(world, "sh", "-c", "trap '' HUP; while :; do sleep 1; done")
    create(world, *SLEEP, name="bar")
    server = int(world.tmux("display-message", "-p", "#{pid}").text)
    os.kill(server, 9)
    bar = when(world, "UNKNOWN", "bar")
    assert "tmux server ended first" in bar.why
    survivor = row(world)
    assert survivor.state == "RUNNING"
    assert "session is gone" in survivor.why or survivor.why == "starting"
    assert mngr.start("bar", manager=world.manager()).agent.state == "RUNNING"
    assert mngr.stop("foo", manager=world.manager())[0].agent.state == "STOPPED"


@pytest.mark.accept("K7")
@pytest.mark.parametrize("damage", ["truncate", "garbage", "remove"])
def test_a_damaged_record_is_an_unknown_row_that_can_be_destroyed(world: World, damage: str) -> None:
    agent = create(world, *SLEEP)
    spec = Path(world.paths.agent(agent.id).spec)
    if damage == "remove":
        spec.unlink()
    else:
        spec.write_bytes(b"" if damage == "truncate" else b"\xff{")
    seen = row(world, agent.id)
    assert (seen.state, "agent.json" in seen.why) == ("UNKNOWN", True)
    mngr.destroy(agent.id, manager=world.manager())
    assert mngr.list_agents(manager=world.manager()).agents == ()
    assert world.processes() == {}


@pytest.mark.accept("K7")
@pytest.mark.parametrize("code", [5, 0])
def test_a_lost_exit_record_is_repaired_from_the_pane(world: World, code: int) -> None:
    agent = create(world, "sh", "-c", f"read x; exit {code}")
    world.tmux("set-hook", "-gu", "pane-died")
    mngr.message("foo", "go", manager=world.manager())
    assert when(world, "DONE").exit_code == code
    assert not os.path.exists(world.paths.agent(agent.id).exit)


def test_an_end_that_tmux_misses_is_seen(world: World) -> None:
    """tmux 3.3a misses a child that ends while libutempter runs its helper, which begins when the terminal is closed.

    Every other one of these ends is missed, and is known as soon as another child of the server has ended.
    """
    for code in range(1, 9):
        name = f"a{code}"
        agent = create(
            world, "sh", "-c", f"trap '' HUP; read x; exec <&- >&- 2>&-; sleep 0; exit {code}", name=name
        )
        world.tmux("send-keys", "-t", f"={agent.session}:", "Enter")
        assert when(world, "DONE", name).exit_code == code
        world.eventually(Path(world.own(agent).exit).exists)


@pytest.mark.accept("K7", "K5")
def test_after_a_reboot_rows_say_stopped_and_start_works(world: World) -> None:
    agent = create(world, *SLEEP)
    world.tmux("kill-server")
    pid_file = Path(world.paths.agent(agent.id).pid)
    pid, _, rest = pid_file.read_text().split(" ", 2)
    assert wait_until(lambda: not os.path.exists(f"/proc/{pid}"), PATIENCE_S)
    pid_file.write_text(f"{pid} 00000000-another-boot {rest}")
    Path(world.paths.agent(agent.id).exit).unlink(missing_ok=True)
    log = Path(world.paths.agent(agent.id).events)
    log.write_bytes(b"".join(line for line in log.read_bytes().splitlines(True) if b'"exited"' not in line))
    seen = row(world)
    assert (seen.state, seen.why) == ("STOPPED", "reboot")
    assert mngr.start("foo", manager=world.manager()).agent.state == "RUNNING"


@pytest.mark.accept("K5")
def test_stop_ends_the_whole_tree_detached_deaf_and_orphaned_ones_too(world: World) -> None:
    deaf = "setsid sh -c 'trap \"\" TERM HUP; sleep 1000' &"
    orphan = "(setsid sleep 1000 &) ;"
    script = f"trap '' TERM HUP; {deaf} {orphan} nohup sleep 1000 & wait; sleep 1000"
    agent = create(world, "sh", "-c", script)
    mark = f"MNGR_AGENT_ID={agent.id}".encode()

    def tree() -> list[int]:
        return [pid for pid, seen in world.processes().items() if mark in seen.environ]

    assert wait_until(lambda: len(tree()) >= 4, PATIENCE_S)
    change = mngr.stop("foo", grace_s=0.3, manager=world.manager())[0]
    assert (change.agent.state, change.changed) == ("STOPPED", True)
    assert tree() == []


@pytest.mark.accept("K5")
@pytest.mark.parametrize("shell", ["bash --norc -i", "sh -i"])
def test_stop_ends_an_interactive_shell_by_hup_and_does_not_wait_to_kill_it(world: World, shell: str) -> None:
    # Its parent outlives both signals and tells how the shell ended; a KILL would have ended the parent too.
    agent = create(world, "sh", "-c", f"trap : TERM HUP; {shell}; echo $? >ended")
    up, ended = (Path(agent.work_dir) / name for name in ("up", "ended"))
    mngr.message("foo", "echo >up", manager=world.manager())
    assert wait_until(up.exists, PATIENCE_S)
    mngr.stop("foo", grace_s=PATIENCE_S, manager=world.manager())
    assert ended.read_text() == f"{128 + signal.SIGHUP}\n"


@pytest.mark.accept("K5")
def test_stop_lets_a_program_finish_what_it_does_on_term(world: World) -> None:
    # Its handler ignores the next TERM, as many do, and outlasts a second signal that would end it.
    handler = "trap '' TERM; sleep 0.3; echo >ended; exit"
    agent = create(world, "sh", "-c", f'trap "{handler}" TERM; echo >up; while :; do sleep 0.05; done')
    up, ended = (Path(agent.work_dir) / name for name in ("up", "ended"))
    assert wait_until(up.exists, PATIENCE_S)
    mngr.stop("foo", grace_s=PATIENCE_S, manager=world.manager())
    assert ended.exists()


@pytest.mark.accept("K5")
def test_a_process_that_wiped_its_environment_cannot_escape_a_pid_namespace(world: World) -> None:
    script = "env -i setsid sleep 4242 & sleep 1000"
    create(world, "sh", "-c", script, isolate="pid")

    def escaped() -> bool:
        return subprocess.run(["pgrep", "-f", "^sleep 4242$"], capture_output=True).returncode == 0

    assert wait_until(escaped, PATIENCE_S)
    mngr.stop("foo", grace_s=1, manager=world.manager())
    assert wait_until(lambda: not escaped(), PATIENCE_S)


@pytest.mark.accept("K5")
def test_stop_leaves_other_agents_running(world: World) -> None:
    create(world, *SLEEP)
    create(world, *SLEEP, name="foo-2")
    mngr.stop("foo", manager=world.manager())
    assert (row(world).state, row(world, "foo-2").state) == ("STOPPED", "RUNNING")


@pytest.mark.accept("K5")
def test_start_brings_back_argv_environment_and_directory(world: World) -> None:
    script = 'echo "$GREETING $1" >>seen; pwd >>seen; sleep 1000'
    agent = create(world, "sh", "-c", script, "x", "a  'b'", env={"GREETING": "$(hi)\nthere"})
    seen = Path(agent.work_dir) / "seen"
    mngr.stop("foo", manager=world.manager())
    first = seen.read_text()
    mngr.start("foo", manager=world.manager())
    assert wait_until(lambda: seen.read_text() == first * 2, PATIENCE_S)
    assert first == f"$(hi)\nthere a  'b'\n{agent.work_dir}\n"


@pytest.mark.accept("Q9", "K9")
def test_one_agents_environment_reaches_nobody_else(world: World) -> None:
    os.environ["LEAKY_SECRET"] = "canary-in-our-own-environment"
    try:
        first = create(world, *SLEEP, env={"TOKEN": "canary-7f3a"})
    finally:
        del os.environ["LEAKY_SECRET"]
    create(world, "sh", "-c", "env >env.txt; sleep 1000", name="bar")
    other = Path(row(world, "bar").work_dir) / "env.txt"
    assert wait_until(lambda: other.exists() and "MNGR_AGENT_ID" in other.read_text(), PATIENCE_S)
    assert "canary" not in other.read_text()
    server = int(world.tmux("display-message", "-p", "#{pid}").text)
    assert b"canary" not in Path(f"/proc/{server}/environ").read_bytes()
    holders = [
        path for path in world.host_dir.rglob("*") if path.is_file() and b"canary-7f3a" in path.read_bytes()
    ]
    assert [str(path) for path in holders] == [world.paths.agent(first.id).run]
    assert holders[0].stat().st_mode & 0o777 == 0o600
    words = [word for seen in world.processes().values() for word in seen.argv]
    assert not any(b"canary" in word for word in words)


@pytest.mark.accept("K9")
def test_the_users_own_tmux_server_and_git_config_are_untouched(world: World, tmp_path: Path) -> None:
    own = ["tmux", "-S", str(tmp_path / "own"), "-f", "/dev/null"]
    subprocess.run([*own, "new-session", "-d", "-s", "mine", "sleep 1000"], check=True)
    try:
        look = [
            [*own, "list-keys"],
            [*own, "show-options", "-g"],
            [*own, "list-sessions", "-F", "#{session_name}"],
        ]
        before = [subprocess.run(argv, capture_output=True, check=True).stdout for argv in look]
        config = (world.repo / ".git/config").read_bytes()
        manager = mngr.Manager(str(world.repo), {**world.env, "TMUX": f"{tmp_path}/own,1,0"})
        mngr.create("foo", args=SLEEP, manager=manager)
        mngr.destroy("foo", manager=manager)
        assert [subprocess.run(argv, capture_output=True, check=True).stdout for argv in look] == before
        assert (world.repo / ".git/config").read_bytes() == config
        assert not (world.home / ".gitconfig").exists()
    finally:
        subprocess.run([*own, "kill-server"], check=True)


@pytest.mark.accept("Q8")
def test_an_agent_of_a_newer_mngr_can_be_listed_stopped_and_destroyed(world: World) -> None:
    agent = create(world, *SLEEP)
    spec = Path(world.paths.agent(agent.id).spec)
    data = msgspec.json.decode(spec.read_bytes())
    spec.write_bytes(msgspec.json.encode({**data, "schema": 99, "hovercraft": {"eels": 3}}))
    with open(world.paths.agent(agent.id).events, "ab") as log:
        log.write(b'{"at":1,"kind":"teleported","data":{"to":"moon"},"extra":true}\n')
    assert row(world).state == "RUNNING"
    assert mngr.stop("foo", manager=world.manager())[0].agent.state == "STOPPED"
    mngr.destroy("foo", manager=world.manager())
    assert world.left_behind() == []


def test_list_explains_its_evidence(world: World) -> None:
    from mngr.actions.explain import explain
    from mngr.actions.rows import key_of

    agent = create(world, *SLEEP)
    _, rows = look_and_list(manager=world.manager())
    said = "\n".join(explain(rows[key_of(agent)]))
    assert f"process {main_pid(world, agent)}" in said
    assert "alive" in said
