"""A failed or interrupted create leaves nothing."""

import os
import signal
import subprocess
import sys
import threading
from collections.abc import Mapping, Sequence
from typing import Any

import pytest
from tests.support.needs import needs
from tests.support.world import World

import mngr
from mngr.errors import MngrError, UnreachableError
from mngr.hosts.local import LocalHost, LocalProvider
from mngr.process import Completed, wait_until
from mngr.testing.waiting import PATIENCE_S

SLEEP = ("sleep", "1000")
CREATE = "import mngr, sys; mngr.create(sys.argv[1], args=('sleep', '1000'), transfer=sys.argv[2])"


class StumblingHost(LocalHost):
    """This machine, failing once: at the n-th thing it is asked to do."""

    def __init__(self, host_dir: str, fail_at: int) -> None:
        super().__init__(host_dir)
        self.asked, self._fail_at = 0, fail_at

    def _step(self) -> None:
        self.asked += 1
        if self.asked == self._fail_at:
            raise UnreachableError("the line dropped")

    def run(self, argv: Sequence[str], **options: Any) -> Completed:
        self._step()
        return super().run(argv, **options)

    def stream(
        self, argv: Sequence[str], *, env: Mapping[str, str] | None = None, cwd: str | None = None
    ) -> Any:
        self._step()
        return super().stream(argv, env=env, cwd=cwd)

    def write(self, path: str, data: bytes, mode: int = 0o600) -> None:
        self._step()
        super().write(path, data, mode)


class KillingHost(LocalHost):
    """This machine, where the first program of a creation is killed at its n-th write, with the file open."""

    def __init__(self, host_dir: str, kill_at: int) -> None:
        super().__init__(host_dir)
        # In a file, because a subshell would count for itself.
        count = f'echo >>"{host_dir}.count"; [ "$(wc -l <"{host_dir}.count")" -ne {kill_at} ] || kill -9 0'
        self._before = f'rm -f "{host_dir}.count"; printf() {{ {count}; command printf "$@"; }}\n'

    def run(self, argv: Sequence[str], *, stdin: bytes = b"", **options: Any) -> Completed:
        before, self._before = self._before, ""
        return super().run(argv, stdin=before.encode() + stdin if stdin else b"", **options)


class StumblingProvider(LocalProvider):
    def __init__(self, host: LocalHost) -> None:
        super().__init__(host.dir)
        self._host = host


def create_stumbling(world: World, fail_at: int, transfer: str) -> int:
    """Tries one creation; returns how many things the host was asked, raising what the creation raises."""
    host = StumblingHost(str(world.host_dir), fail_at)
    manager = world.manager(local=StumblingProvider(host))
    mngr.create("foo", args=SLEEP, transfer=transfer, setup="true", message="hi", manager=manager)
    return host.asked


@pytest.mark.accept("K4")
@pytest.mark.parametrize("transfer", ["worktree", "mirror", "copy"])
def test_a_failure_at_any_step_leaves_nothing(world: World, transfer: str) -> None:
    failed = 0
    for fail_at in range(1, 40):
        try:
            create_stumbling(world, fail_at, transfer)
        except (UnreachableError, mngr.BlockedError):
            failed += 1
            if world.left_behind():
                # Past the launch the agent is made: a failure there is the message's, and the agent stays.
                agents = mngr.list_agents(manager=world.manager()).agents
                assert [agent.state for agent in agents] == ["RUNNING"], world.left_behind()
                mngr.destroy("foo", manager=world.manager())
            assert world.left_behind() == [], f"step {fail_at}"
            continue
        break
    assert failed >= 4
    mngr.destroy("foo", manager=world.manager())
    assert world.left_behind() == []


@pytest.mark.accept("K4")
def test_a_claim_that_is_killed_in_the_middle_of_any_write_leaves_nothing(world: World) -> None:
    killed = 0
    for kill_at in range(1, 20):
        host = KillingHost(str(world.host_dir), kill_at)
        try:
            mngr.create("foo", args=SLEEP, manager=world.manager(local=StumblingProvider(host)))
        except MngrError:
            killed += 1
            assert world.left_behind() == [], f"write {kill_at}"
            continue
        break
    assert killed >= 3


@pytest.mark.accept("K4", "K16")
@pytest.mark.parametrize(
    ("fields", "says"),
    [
        ({"args": ("no-such-program-here",)}, "could not be started"),
        ({"args": SLEEP, "setup": "echo broken >&2; exit 9"}, "broken"),
        ({"args": SLEEP, "upload": ("missing:x",)}, "missing"),
        ({"args": SLEEP, "transfer": "worktree", "branch": "nowhere"}, "nowhere"),
        ({"args": SLEEP, "env": {"A=B": "x"}}, "A=B"),
        ({"args": SLEEP, "pass_env": ("NOT_SET_ANYWHERE",)}, "NOT_SET_ANYWHERE"),
        ({"args": SLEEP, "image": "debian"}, "--image"),
        ({"type": "nosuch"}, "nosuch"),
        ({}, "what should the agent run"),
    ],
)
def test_every_bad_request_says_why_and_leaves_nothing(
    world: World, fields: dict[str, Any], says: str
) -> None:
    with pytest.raises(MngrError, match=says) as error:
        mngr.create("foo", manager=world.manager(), **fields)
    assert error.value.hint
    assert world.left_behind() == []


@pytest.mark.accept("K16")
def test_a_type_whose_program_cannot_be_run_is_named_even_when_nothing_was_said(world: World) -> None:
    world.host_dir.mkdir()
    (world.host_dir / "config.toml").write_text(
        "[agent_types.reviewer]\ncommand = ['sh', '-c', 'exit 127']\n"
    )
    with pytest.raises(MngrError, match='"foo" could not be started: reviewer') as error:
        mngr.create("foo", type="reviewer", manager=world.manager())
    assert error.value.hint.startswith("is reviewer installed")
    assert world.left_behind() == []


@pytest.mark.accept("K16")
def test_a_program_that_dies_at_once_is_an_error_with_its_last_words_and_code(world: World) -> None:
    with pytest.raises(mngr.AgentDiedError, match="exit code 7") as error:
        mngr.create("foo", args=("sh", "-c", "echo last words; exit 7"), manager=world.manager())
    assert "last words" in error.value.message
    assert (error.value.change.agent.state, error.value.change.agent.exit_code) == ("DONE", 7)


def start_create(world: World, name: str, transfer: str) -> "subprocess.Popen[bytes]":
    return subprocess.Popen(
        [sys.executable, "-c", CREATE, name, transfer],
        cwd=world.repo,
        env={**world.env, "PYTHONPATH": os.pathsep.join(sys.path)},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )


@pytest.mark.slow
@pytest.mark.accept("K4")
@pytest.mark.parametrize("transfer", ["worktree", "mirror"])
def test_an_interrupt_at_any_moment_leaves_nothing_or_a_running_agent(world: World, transfer: str) -> None:
    interrupted = 0
    for step in range(30):
        child = start_create(world, "foo", transfer)
        threading.Event().wait(0.06 + step * 0.008)
        child.send_signal(signal.SIGINT)
        if child.wait(PATIENCE_S) == 0 or "mngr-foo" in world.tmux("list-sessions").text:
            mngr.destroy("foo", manager=world.manager())
        else:
            interrupted += 1
        assert world.left_behind() == [], f"step {step}"
    assert interrupted > 5


@pytest.mark.slow
@pytest.mark.accept("K4")
def test_what_a_killed_create_leaves_is_garbage_that_gc_removes(world: World) -> None:
    dirty = 0
    for step in range(20):
        child = start_create(world, "foo", "worktree")
        assert wait_until(lambda: _has_begun(world) or child.poll() is not None, PATIENCE_S, every_s=0.002)  # noqa: B023
        threading.Event().wait(step * 0.01)
        child.kill()
        child.wait()
        # What it had started may still go on, and even bring the creation to its end.
        assert wait_until(lambda: not _in_flight(world), PATIENCE_S)
        manager = world.manager()
        for agent in mngr.list_agents(manager=manager).agents:
            if agent.state == "RUNNING":
                mngr.destroy(agent, manager=manager)
        dirty += bool(world.left_behind())
        mngr.remove_garbage(mngr.find_garbage(manager=manager), manager=manager)
        assert world.left_behind() == [], f"step {step}"
    assert dirty


def _has_begun(world: World) -> bool:
    """Whether a creation has left its first trace."""
    return os.path.isdir(world.paths.names) and bool(os.listdir(world.paths.names))


def _in_flight(world: World) -> list[list[bytes]]:
    lines = [seen.argv for seen in world.processes().values()]
    return [argv for argv in lines if argv[0] == b"git" or b'eval "$(cat)"' in argv]


class PausingHost(LocalHost):
    """This machine, where the steps of a creation wait after each of their writes until the test lets them go on."""

    def run(self, argv: Sequence[str], *, stdin: bytes = b"", **options: Any) -> Completed:
        wait = f": >'{self.dir}.paused'; while [ -e '{self.dir}.paused' ]; do sleep 0.05; done"
        paused = '{name}() {{ command {name} "$@"; rc=$?; {wait}; return $rc; }}\n'
        before = "".join(paused.format(name=name, wait=wait) for name in ("printf", "mv", "ln"))
        return super().run(argv, stdin=before.encode() + stdin if stdin else b"", **options)


@pytest.mark.accept("Q15")
@pytest.mark.parametrize("transfer", ["worktree", "none"])
def test_a_creation_under_way_is_never_garbage_wherever_it_pauses(world: World, transfer: str) -> None:
    """TH-M7."""
    paused, seen, garbage = world.folder / "h.paused", list[str](), list[object]()
    host = PausingHost(str(world.host_dir))
    manager = world.manager(local=StumblingProvider(host))
    outcomes: list[object] = []
    creating = threading.Thread(
        target=lambda: outcomes.append(mngr.create("foo", args=SLEEP, transfer=transfer, manager=manager))
    )
    creating.start()
    while creating.is_alive():
        if wait_until(lambda: paused.exists() or not creating.is_alive(), PATIENCE_S) and paused.exists():
            garbage += [(len(seen), item) for item in mngr.find_garbage(manager=world.manager())]
            seen += [agent.state for agent in mngr.list_agents(manager=world.manager()).agents]
            paused.unlink()
    assert garbage == []
    assert outcomes
    assert {"CREATING", "RUNNING"} <= set(seen) <= {"UNKNOWN", "CREATING", "RUNNING"}
    assert len(seen) > 8


@pytest.mark.slow
@pytest.mark.accept("K6")
def test_a_hundred_separate_creates_at_once_all_succeed(world: World) -> None:
    children = [start_create(world, f"a{n}", "worktree") for n in range(100)]
    assert [child.wait(300) for child in children] == [0] * 100
    agents = mngr.list_agents(manager=world.manager()).agents
    assert sorted(agent.name for agent in agents) == sorted(f"a{n}" for n in range(100))
    assert {agent.state for agent in agents} == {"RUNNING"}
    assert len({agent.branch for agent in agents}) == 100
    mngr.destroy([agent.id for agent in agents], manager=world.manager())
    assert world.left_behind() == []


@pytest.mark.accept("K4", "K7")
def test_a_full_disk_is_one_clear_error_and_leaves_nothing(world: World) -> None:
    needs("root, for a small tmpfs", "sh", "-c", "[ $(id -u) = 0 ]")
    world.host_dir.mkdir()
    subprocess.run(
        ["mount", "-t", "tmpfs", "-o", "size=64k,mode=700", "none", str(world.host_dir)], check=True
    )
    try:
        (world.host_dir / "filler").write_bytes(b"x" * 60_000)
        with pytest.raises(MngrError) as error:
            mngr.create("foo", args=SLEEP, manager=world.manager())
        assert "could not write" in error.value.message
        assert "disk full" in error.value.hint
        assert world.left_behind() == []
    finally:
        world.end()
        subprocess.run(["umount", str(world.host_dir)], check=True)


def test_a_disk_that_cannot_link_is_not_taken_for_a_taken_name(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    (world.folder / "ln").write_text("#!/bin/sh\necho 'ln: Operation not permitted' >&2; exit 1\n")
    (world.folder / "ln").chmod(0o755)
    monkeypatch.setenv("PATH", f"{world.folder}{os.pathsep}{os.environ['PATH']}")
    with pytest.raises(MngrError, match=r"could not write .* not permitted"):
        mngr.create("foo", args=SLEEP, manager=world.manager())
    assert world.left_behind() == []


def test_a_taken_name_is_refused_and_harms_nobody(world: World) -> None:
    first = mngr.create("foo", args=SLEEP, manager=world.manager()).agent
    before = world.left_behind()
    with pytest.raises(mngr.RefusedError, match="there already"):
        mngr.create("foo", args=SLEEP, manager=world.manager())
    assert world.left_behind() == before
    assert mngr.list_agents(manager=world.manager()).agents[0].id == first.id


def test_reuse_returns_the_one_that_is_there(world: World) -> None:
    first = mngr.create("foo", args=SLEEP, manager=world.manager()).agent
    again = mngr.create("foo", args=SLEEP, reuse=True, manager=world.manager())
    assert (again.agent.id, again.changed) == (first.id, False)


def test_destroy_then_create_with_the_same_name_works(world: World) -> None:
    for _ in range(3):
        mngr.create("foo", args=SLEEP, manager=world.manager())
        mngr.destroy("foo", manager=world.manager())
    assert world.left_behind() == []
