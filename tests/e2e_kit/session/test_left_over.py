"""What a killed run of tests left behind goes with the next one; what lives or is kept stays."""

import os
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from mngr.process import wait_until
from mngr_e2e.session.world.isolation import end_world, keep_world, make_world
from mngr_e2e.session.world.left_over import PREFIX, hold, release, sweep
from mngr_e2e.session.world.reaper import find_marked

_RUN = """
import os, subprocess, sys
from mngr_e2e.session.world.isolation import make_world
world = make_world(sys.argv[1], os.environ, record=False)
subprocess.Popen(["sleep", "1000"], env=world.env, start_new_session=True, stdout=subprocess.DEVNULL)
print(world.root, flush=True)
input()
"""

_SWEEP = """
import sys
from mngr_e2e.session.world.left_over import sweep
print("begun", flush=True)
while True:
    sweep.cache_clear()
    sweep(sys.argv[1])
"""


@pytest.fixture
def folder(monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A temporary folder of its own, short enough for sockets."""
    with tempfile.TemporaryDirectory(prefix="lo-") as made:
        monkeypatch.setattr(tempfile, "tempdir", made)
        yield Path(made)


@pytest.mark.accept("F10")
def test_the_next_run_removes_what_a_killed_one_left(folder: Path) -> None:
    children = [_run(folder) for _ in range(2)]
    (dead, dead_root), (_, alive_root) = children
    kept = make_world(str(folder), os.environ, record=False)
    mine = make_world(str(folder), os.environ, record=False)
    try:
        keep_world(kept, str(folder))
        dead.send_signal(signal.SIGKILL)
        dead.wait()
        assert _living(dead_root)
        sweep.cache_clear()
        sweep(str(folder))
        assert not os.path.exists(dead_root)
        assert wait_until(lambda: not _living(dead_root), 60)
        assert all(os.path.isdir(root) for root in (alive_root, kept.root, mine.root))
        assert _living(alive_root)
    finally:
        for child, _ in children:
            child.kill()
            child.communicate()
        sweep.cache_clear()
        sweep(str(folder))
        for world in (kept, mine):
            end_world(world)
    assert not _living(alive_root)


@pytest.mark.accept("F10")
def test_no_folder_is_taken_for_left_over_while_it_is_made_or_given_away(folder: Path) -> None:
    with subprocess.Popen([sys.executable, "-c", _SWEEP, str(folder)], stdout=subprocess.PIPE) as sweeper:
        try:
            assert sweeper.stdout
            assert sweeper.stdout.readline()
            for _ in range(500):
                root = tempfile.mkdtemp(prefix=PREFIX, dir=folder)
                hold(root)
                assert os.path.isdir(root)
                release(root)
                os.rmdir(root)
            assert sweeper.poll() is None
        finally:
            sweeper.kill()


def _run(folder: Path) -> tuple["subprocess.Popen[str]", str]:
    child = subprocess.Popen(
        [sys.executable, "-c", _RUN, str(folder)],
        env={**os.environ, "TMPDIR": str(folder)},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert child.stdout
    return child, child.stdout.readline().strip()


def _living(root: str) -> list[int]:
    return find_marked((f"={root}/".encode(),))
