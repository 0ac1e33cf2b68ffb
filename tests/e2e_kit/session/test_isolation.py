"""Worlds do not touch each other, and nothing of them is left."""

import os
import shutil
import stat
import subprocess
import sys
import tempfile
import threading
from contextlib import suppress
from pathlib import Path

import pytest

from mngr.store.paths import HostPaths
from mngr_e2e import E2eSession, expect
from mngr_e2e.session.artifacts import claim_attempt
from mngr_e2e.session.world.isolation import end_world, make_world
from mngr_e2e.session.world.reaper import end_marked, find_marked


@pytest.mark.accept("F9")
def test_a_world_has_a_clean_repository_with_one_commit(session: E2eSession) -> None:
    other = E2eSession(claim_attempt(str(session.artifacts), "run", "x::y"))
    try:
        for one in (session, other):
            expect(one.run("git status --porcelain && git diff-files").stdout).to_be_empty()
            expect(one.run("git log --format=%s").stdout).to_equal("the first commit\n")
            expect(one.run("git fsck --strict && git commit -q --allow-empty -m more")).to_succeed()
    finally:
        other.finish("passed")


@pytest.mark.accept("F9", "F10")
def test_two_worlds_have_agents_of_the_same_name_and_leave_no_server(session: E2eSession) -> None:
    other = E2eSession(claim_attempt(str(session.artifacts), "run", "x::y"))
    world = other._world
    try:
        for one in (session, other):
            expect(one.run("mngr create same --no-connect -- sleep 300")).to_succeed()
        listed = expect(session.run("mngr list --json").stdout).to_be_json()
        expect(listed.value["agents"]).to_have_length(1)
        listed.to_have("agents[0].name", "same")
        assert len(find_marked(world.marks)) >= 2
    finally:
        other.finish("passed")
    assert find_marked(world.marks) == []
    assert not os.path.exists(world.root)
    expect(session.run("mngr list").stdout).to_contain("same")


@pytest.mark.accept("F9", "F10")
def test_a_plain_tmux_is_the_tests_own_and_ends_with_it(tmp_path: Path) -> None:
    session = E2eSession(claim_attempt(str(tmp_path), "run", "x::y"))
    world = session._world
    made = session.run("tmux new-session -d 'sleep 300' && tmux display-message -p '#{socket_path}'")
    expect(made.stdout).to_contain(f"{world.root}/tmp/")
    session.run("setsid sleep 300 >/dev/null 2>&1 &")
    session.finish("failed")
    assert find_marked(world.marks) == []
    assert not os.path.exists(world.root)


@pytest.mark.accept("F10")
def test_agents_below_paths_too_long_for_a_socket_end_with_the_world(tmp_path: Path) -> None:
    session = E2eSession(claim_attempt(str(tmp_path / "runs"), "run", "x::y"))
    world = session._world
    folders = (f"{session.home}/{'long-' * 20}", str(tmp_path / ("far-" * 30)))
    try:
        for folder in folders:
            session.env["MNGR_HOST_DIR"] = folder
            expect(session.run("mngr create foo --no-connect -- sleep 300")).to_succeed()
            assert os.path.exists(HostPaths(folder).socket)
    finally:
        session.finish("passed")
    assert find_marked((*world.marks, os.fsencode(f"MNGR_HOST_DIR={tmp_path}"))) == []
    assert not os.path.exists(world.root)


@pytest.mark.accept("F10")
def test_a_process_that_ignores_term_is_killed() -> None:
    mark = b"E2E_TEST_MARK=" + os.urandom(8).hex().encode()
    name, _, value = mark.decode().partition("=")
    script = "import signal, time; signal.signal(signal.SIGTERM, signal.SIG_IGN); print(1, flush=True); time.sleep(300)"
    child = subprocess.Popen(
        [sys.executable, "-c", script], env={**os.environ, name: value}, stdout=subprocess.PIPE
    )
    assert child.stdout
    child.stdout.readline()
    assert find_marked((mark,)) == [child.pid]
    assert end_marked((mark,), grace_s=0.2) == []
    assert child.wait(90) == -9
    child.stdout.close()


@pytest.mark.accept("F10")
def test_folders_made_read_only_are_removed_too(tmp_path: Path) -> None:
    world = make_world(str(tmp_path), os.environ)
    locked = Path(world.repo, "locked/inner")
    locked.mkdir(parents=True)
    (locked / "file").write_text("x")
    locked.chmod(0o500)
    assert end_world(world) == []
    assert not os.path.exists(world.root)
    assert end_world(world) == []


@pytest.mark.accept("F10")
def test_the_folder_that_worlds_are_in_stays_as_it_is_when_one_is_removed_twice(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As root, with worlds in /tmp, all other users were locked out of it."""
    with tempfile.TemporaryDirectory(prefix="w", dir="/tmp") as short:
        os.chmod(short, 0o755)
        monkeypatch.setattr(tempfile, "tempdir", short)
        world = make_world(str(tmp_path), os.environ)
        assert os.path.dirname(world.root) == short
        assert end_world(world) == end_world(world) == []
        assert stat.S_IMODE(os.stat(short).st_mode) == 0o755


@pytest.mark.accept("F10")
def test_a_world_that_cannot_be_removed_changes_nothing_outside_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Something writes into it until the end: its parent, such as /tmp, keeps its mode."""
    above = Path(tempfile.mkdtemp())  # pytest's own folder is too long for sockets in it
    monkeypatch.setattr(tempfile, "tempdir", str(above))
    above.chmod(0o1777)
    world, is_over = make_world(str(tmp_path), os.environ), threading.Event()
    assert Path(world.root).parent == above

    def write() -> None:
        while not is_over.is_set():
            with suppress(OSError):
                Path(world.root, os.urandom(8).hex()).touch()

    writer = threading.Thread(target=write)
    writer.start()
    try:
        end_world(world)
    finally:
        is_over.set()
        writer.join()
    assert above.stat().st_mode & 0o7777 == 0o1777
    shutil.rmtree(above)


@pytest.mark.accept("F20")
def test_what_an_agent_or_a_hook_left_in_the_environment_is_removed(tmp_path: Path) -> None:
    stray = ("MNGR_AGENT_ID", "MNGR__A__B", "TMUX", "TMUX_PANE", "CLAUDECODE", "CLAUDE_CODE_X", "GIT_DIR")
    world = make_world(str(tmp_path), {"PATH": os.environ["PATH"], "KEPT": "1", **dict.fromkeys(stray, "x")})
    try:
        assert not set(stray) & set(world.env)
        assert world.env["KEPT"] == "1"
        assert world.env["MNGR_E2E_ARTIFACTS"] == str(tmp_path)
    finally:
        end_world(world)
