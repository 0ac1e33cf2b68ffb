"""SIGKILL of mngr and its children at random moments of every verb: destroy and gc remove whatever that leaves."""

import os
import random
import re
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import closing, suppress
from pathlib import Path

import pytest
from tests.support.world import World

import mngr
from mngr.process import wait_until
from mngr.testing.waiting import PATIENCE_S
from mngr.transfer.refs import CLONE, DIRTY, INCOMING

KILLS = int(os.environ.get("MNGR_TEST_SIGKILLS", "15"))
SEED = int(os.environ.get("MNGR_TEST_SEED", "7"))
# Verbs meet what kills before them left; then all is removed and looked at.
KILLS_A_ROUND = 5
SLEEP = ("sleep", "1000")
LONG_AGO_S = 3 * 3600
# What the shells of steps run on files: one that was started just before its shell was killed goes on alone.
TOOLS = (b"git", b"rm", b"mv", b"cp", b"tar")
# Files that tmux's hook, and the shell that becomes an agent, rename once they are written. Neither ends with a verb.
RENAMED = re.compile(r".*\.new\.[0-9]+|bell\.[0-9]+|\.pid")

# Runs a verb per line in a process of its own that has nothing left to import, and says how it ended.
VERBS = """
import os, sys, traceback
import mngr

for name in mngr.__all__:
    getattr(mngr, name)
SLEEP = ("sleep", "1000")
def print_nothing(*_):
    pass


VERBS = {
    "create worktree": lambda n: mngr.create(f"w{n}", args=SLEEP, transfer="worktree"),
    "create mirror": lambda n: mngr.create(f"m{n}", args=SLEEP, transfer="mirror", setup="true"),
    "create none": lambda n: mngr.create(f"n{n}", args=SLEEP, transfer="none", message="hi"),
    "create from snapshot": lambda n: mngr.create(f"s{n}", args=SLEEP, snapshot="base"),
    "clone worktree": lambda n: mngr.clone("foo", f"c{n}"),
    "clone mirror": lambda n: mngr.clone("bar", f"d{n}"),
    "rename": lambda n: (mngr.rename("foo", f"foo{n}"), mngr.rename(f"foo{n}", "foo")),
    "label": lambda n: mngr.label("foo", {"n": n}),
    "stop": lambda n: mngr.stop(["foo", "bar"]),
    "start": lambda n: (mngr.stop("foo"), mngr.start("foo")),
    "destroy": lambda n: mngr.destroy(["foo", "bar"]),
    "snapshot create": lambda n: mngr.create_snapshot("bar", f"snap{n}"),
    "snapshot restore": lambda n: mngr.restore_snapshot("base"),
    "snapshot destroy": lambda n: mngr.destroy_snapshot("base"),
    "pull worktree": lambda n: mngr.pull("foo", include_dirty=True),
    "pull mirror": lambda n: mngr.pull("bar", include_dirty=True),
    "push": lambda n: mngr.push("bar"),
    "exec": lambda n: mngr.exec_in("foo", ("sh", "-c", "sleep 0.05; cat file.txt"), on_output=print_nothing),
    "message": lambda n: mngr.message("foo", "hello"),
    "gc": lambda n: mngr.remove_garbage(mngr.find_garbage()),
}
print(*VERBS, sep="|", flush=True)
for line in sys.stdin:
    verb, _, n = line.strip().rpartition(" ")
    pid = os.fork()
    if not pid:
        try:
            VERBS[verb](n)
        except mngr.MngrError as error:
            pass
        except BaseException:
            sys.stderr.write(f"{verb}: {traceback.format_exc()}")
        os._exit(0)
    print(pid, flush=True)
    print(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]), flush=True)
"""


class Killer:
    """A process that runs verbs, each until it is killed."""

    def __init__(self, world: World, rng: random.Random) -> None:
        self._rng, self._errors = rng, world.folder / "errors"
        with open(self._errors, "wb") as errors:
            self._child = subprocess.Popen(
                [sys.executable, "-c", VERBS],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=errors,
                cwd=world.repo,
                env={**world.env, "PYTHONPATH": os.pathsep.join(sys.path)},
                text=True,
            )
        self.pid = self._child.pid
        self.verbs = self._line().split("|")
        self._lasts = dict.fromkeys(self.verbs, 0.5)

    def kill(self, call: str) -> bool:
        """Starts a verb and kills it at some moment, mostly with its children; whether it had not ended before."""
        assert self._child.stdin
        self._child.stdin.write(f"{call}\n")
        self._child.stdin.flush()
        verb = call.rpartition(" ")[0]
        pid, began = int(self._line()), time.monotonic()
        time.sleep(self._rng.uniform(0, self._lasts[verb]))
        # Stopped first, or it would start another child while its children are being found.
        _signal(pid, signal.SIGSTOP)
        children = _descendants(pid) if self._rng.random() < 0.8 else []
        for each in (*children, pid):
            _signal(each, signal.SIGKILL)
        was_killed = int(self._line()) == -signal.SIGKILL
        if not was_killed:
            self._lasts[verb] = min(time.monotonic() - began, 5.0)
        return was_killed

    def raised(self) -> str:
        """What verbs raised that no verb may raise."""
        return self._errors.read_text()

    def close(self) -> None:
        with self._child:
            self._child.kill()

    def _line(self) -> str:
        assert self._child.stdout
        return self._child.stdout.readline().strip()


@pytest.fixture
def world(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[World]:
    made = World(tmp_path)
    monkeypatch.setenv("HOME", str(made.home))
    yield made
    made.end()


@pytest.mark.accept("Q15")
def test_whatever_a_kill_of_any_verb_leaves_can_be_removed(world: World) -> None:
    """TH-M2, TH-M7."""
    rng = random.Random(SEED)
    first = world.git("rev-parse", "HEAD").strip()
    killed = 0
    with closing(Killer(world, rng)) as killer:
        while killed < KILLS:
            _prepare(world)
            story = []
            for _ in range(KILLS_A_ROUND):
                story.append(f"{rng.choice(killer.verbs)} {killed}")
                killed += killer.kill(story[-1])
            _clean(world, story)
            left = _left(world, killer)
            assert left == [], (SEED, story, left)
            assert killer.raised() == "", (SEED, story)
            world.git("checkout", "-q", "-B", "main", first)


def _prepare(world: World) -> None:
    """Two agents with work of their own, one committed and one not, and a snapshot."""
    manager = world.manager()
    for name, transfer in (("foo", "worktree"), ("bar", "mirror")):
        agent = mngr.create(name, args=SLEEP, transfer=transfer, manager=manager).agent
        work = Path(agent.work_dir)
        (work / "file.txt").write_text(name)
        world.git("-c", "user.name=n", "-c", "user.email=n@x", "commit", "-qam", name, cwd=work)
        (work / "dirty").write_text("d\n")
    mngr.create_snapshot("foo", "base", manager=manager)


def _clean(world: World, story: list[str]) -> None:
    """What a user would do, hours later."""
    manager = world.manager()
    assert wait_until(lambda: not _in_flight(world), PATIENCE_S), (story, _in_flight(world))
    _age(world.host_dir)
    _age_refs(world)
    mngr.destroy([agent.id for agent in mngr.list_agents(manager=manager).agents], manager=manager)
    for snapshot in mngr.list_snapshots(manager=manager):
        mngr.destroy_snapshot(snapshot.name, manager=manager)
    for _ in range(3):
        mngr.remove_garbage(mngr.find_garbage(manager=manager), manager=manager)
    assert mngr.find_garbage(manager=manager) == [], (SEED, story)


def _left(world: World, killer: Killer) -> list[str]:
    """What is left in the repository, under the host dir and of processes; kept work, which is meant to stay, goes."""
    world.git("worktree", "prune")
    for branch in world.git("for-each-ref", "--format=%(refname:short)", "refs/heads/mngr").split():
        if world.git("rev-list", branch, "--not", "main").strip():
            world.git("branch", "-q", "-D", branch)
    kept = ("bell", "names.lock", "tmux/lock", "tmux/index.lock", "tmux/pid")
    files = (
        path.relative_to(world.host_dir).as_posix() for path in world.host_dir.rglob("*") if path.is_file()
    )
    stray = [
        path for path in files if path not in kept and not path.startswith(("tmux/mngr-", "snapshots/store-"))
    ]
    running = [repr(process.argv) for pid, process in world.processes().items() if pid != killer.pid]
    return [*world.left_behind(), *stray, *running]


def _in_flight(world: World) -> list[list[bytes]]:
    """Steps of a verb that go on although their mngr was killed."""
    seen = [process.argv for process in world.processes().values()]
    return [argv for argv in seen if argv[0] in TOOLS or b'eval "$(cat)"' in argv]


def _age(folder: Path) -> None:
    """Makes every file look as old as what `gc` takes for forgotten."""
    then = time.time() - LONG_AGO_S
    for path in (folder, *folder.rglob("*")):
        if path.is_symlink():
            continue
        try:
            os.utime(path, (then, then))
        except FileNotFoundError:
            assert RENAMED.fullmatch(path.name), f"{path} was removed by what still goes on"


def _age_refs(world: World) -> None:
    """The same for references of operations, whose names hold the time."""
    for ref in world.git("for-each-ref", "--format=%(refname)", INCOMING, CLONE, DIRTY).split():
        began = ref.split("/")[3].partition("-")[0]
        if began.isdigit():
            world.git("update-ref", ref.replace(began, str(int(began) - LONG_AGO_S), 1), ref)
            world.git("update-ref", "-d", ref)


def _signal(pid: int, number: int) -> None:
    with suppress(ProcessLookupError):
        os.kill(pid, number)


def _descendants(pid: int) -> list[int]:
    """Children and their children; what has left them, like the tmux server, is none."""
    parents: dict[int, list[int]] = {}
    for entry in filter(str.isdigit, os.listdir("/proc")):
        try:
            stat = Path(f"/proc/{entry}/stat").read_text()
        except OSError:
            continue
        parents.setdefault(int(stat.rpartition(")")[2].split()[1]), []).append(int(entry))
    found, todo = list[int](), [pid]
    while todo:
        children = parents.get(todo.pop(), [])
        found += children
        todo += children
    return found
