"""A full disk: a verb has happened or it has not, and says which."""

import os
import shutil
import subprocess
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest
from tests.support.needs import needs
from tests.support.world import World

import mngr
from mngr.errors import MngrError
from mngr.hosts.local import LocalHost, LocalProvider
from mngr.model.agent import Change
from mngr.process import Completed

SLEEP = ("sleep", "1000")
SIZE = 512 * 1024

pytestmark = pytest.mark.accept("Q15")


@pytest.fixture
def small(tmp_path: Path) -> Iterator[World]:
    """A world whose host dir is a disk of half a megabyte."""
    needs("root, for a small tmpfs", "sh", "-c", "[ $(id -u) = 0 ]")
    world = World(tmp_path)
    world.host_dir.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", f"size={SIZE},mode=700", "none", str(world.host_dir)]
    subprocess.run(mount, check=True)
    try:
        yield world
    finally:
        world.end()
        subprocess.run(["umount", str(world.host_dir)], check=True)


def _fill(world: World, *, leave: int = 0) -> None:
    """Takes all pages of the disk but so many."""
    filler = world.host_dir / "filler"
    with open(filler, "ab", buffering=0) as file:
        try:
            while True:
                file.write(b"x" * 4096)
        except OSError:
            pass
        file.truncate(file.tell() // 4096 * 4096 - leave * 4096)


def _free(world: World) -> None:
    (world.host_dir / "filler").unlink()


def _agent(world: World) -> mngr.Agent:
    (agent,) = mngr.list_agents(manager=world.manager()).agents
    return agent


def _log(world: World, agent: mngr.Agent) -> Path:
    return Path(world.paths.agent(agent.id).events)


def _end_of_page(world: World, agent: mngr.Agent, room: int) -> None:
    """Lengthens the log with events that mean nothing, until so many bytes are left of its last page."""
    log = _log(world, agent)
    missing = -(log.stat().st_size + room) % 4096
    line = '{"at":1,"kind":"note","data":{"text":"%s"}}\n'
    log.write_bytes(log.read_bytes() + (line % ("x" * (missing - len(line) + 2))).encode())
    assert (log.stat().st_size + room) % 4096 == 0


def _tried(action: Callable[[], Change]) -> mngr.Agent | MngrError:
    try:
        return action().agent
    except MngrError as error:
        return error


def _is_full(outcome: mngr.Agent | MngrError) -> bool:
    return (
        isinstance(outcome, MngrError)
        and "could not write" in outcome.message
        and "disk full" in outcome.hint
        and "left behind" not in outcome.hint
    )


@pytest.mark.parametrize("room", [4000, 30])
def test_label_and_rename_on_a_full_disk_happen_or_fail(small: World, room: int) -> None:
    agent = mngr.create("foo", args=SLEEP, transfer="none", manager=small.manager()).agent
    _end_of_page(small, agent, room)
    _fill(small)
    labelled = _tried(lambda: mngr.label("foo", {"a": "ünï"}, manager=small.manager()))
    renamed = _tried(lambda: mngr.rename("foo", "bar", manager=small.manager()))
    name, labels = ("bar", {"a": "ünï"}) if room == 4000 else ("foo", {})
    assert [_is_full(labelled), _is_full(renamed)] == [room != 4000] * 2, (labelled, renamed)
    now = _agent(small)
    assert (now.name, now.labels) == (name, labels)
    assert os.listdir(small.paths.names) == [name]
    assert small.tmux("list-sessions", "-F", "#{session_name}").text.split() == [f"mngr-{name}"]
    _free(small)
    mngr.destroy(name, manager=small.manager())
    assert small.left_behind() == []


def test_an_event_that_was_torn_by_a_full_disk_harms_no_later_one(small: World) -> None:
    """TH-H2, as it happened: a torn event with a character cut in two, then one label."""
    agent = mngr.create("foo", args=SLEEP, transfer="none", manager=small.manager()).agent
    with open(_log(small, agent), "ab") as log:
        log.write('{"at":1,"kind":"labelled","data":{"labels":{"a":"ü'.encode()[:-1])
    mngr.label("foo", {"b": "2"}, manager=small.manager())
    assert _agent(small).labels == {"b": "2"}
    mngr.stop("foo", manager=small.manager())
    assert _agent(small).state == "STOPPED"


class FillingHost(LocalHost):
    """This machine, whose disk gets full at the moment a program is launched, and which does not wait long for it."""

    def __init__(self, host_dir: str) -> None:
        super().__init__(host_dir)
        self._programs = Path(f"{host_dir}.bin")
        self._programs.mkdir()
        fill = f"cat /dev/zero >>'{host_dir}/filler' 2>/dev/null"
        (self._programs / "tmux").write_text(f'#!/bin/sh\n{fill}\nexec {shutil.which("tmux")} "$@"\n')
        (self._programs / "tmux").chmod(0o755)

    def run(self, argv: Sequence[str], *, stdin: bytes = b"", **options: Any) -> Completed:
        if b"new-session " in stdin:
            stdin = f"PATH='{self._programs}':$PATH\nsleep() {{ :; }}\n".encode() + stdin
        return super().run(argv, stdin=stdin, **options)


class FillingProvider(LocalProvider):
    def __init__(self, host_dir: str) -> None:
        super().__init__(host_dir)
        self._host = FillingHost(host_dir)


def test_a_program_that_never_ran_on_a_full_disk_is_an_error(small: World) -> None:
    """`Created (DONE (73))`, exit 0, for a program that never ran."""
    before = mngr.create("other", args=SLEEP, transfer="none", manager=small.manager()).agent
    filling = small.manager(local=FillingProvider(str(small.host_dir)))
    with pytest.raises(MngrError, match='"foo" could not be started') as error:
        mngr.create("foo", args=SLEEP, transfer="none", manager=filling)
    assert _is_full(error.value)
    assert os.listdir(small.paths.agents) == [before.id]
    assert small.tmux("list-sessions", "-F", "#{session_name}").text.split() == ["mngr-other"]
    _free(small)
    mngr.stop("other", manager=small.manager())
    with pytest.raises(MngrError, match='"other" could not be started'):
        mngr.start("other", manager=filling)
    _free(small)
    assert mngr.start("other", manager=small.manager()).agent.state == "RUNNING"


def test_a_create_on_an_almost_full_disk_leaves_nothing_or_a_running_agent(small: World) -> None:
    mngr.create("other", args=SLEEP, transfer="none", manager=small.manager())
    refused = 0
    for pages in range(12):
        _fill(small, leave=pages)
        made = _tried(lambda: mngr.create("foo", args=SLEEP, transfer="none", manager=small.manager()))
        _free(small)
        if isinstance(made, mngr.Agent):
            assert made.state == "RUNNING", pages
            break
        refused += 1
        assert made.hint
        assert "left behind" not in made.hint
        assert [row.name for row in mngr.list_agents(manager=small.manager()).agents] == ["other"], pages
    assert refused > 2
    mngr.destroy(["foo", "other"], manager=small.manager())
    assert small.left_behind() == []


def test_stop_and_destroy_do_their_work_on_a_full_disk(small: World) -> None:
    agent = mngr.create("foo", args=SLEEP, transfer="none", manager=small.manager()).agent
    _end_of_page(small, agent, 0)
    _fill(small)
    manager = small.manager()
    mngr.stop("foo", manager=manager)
    assert "is its disk full?" in " ".join(manager.warnings)
    assert not [process for process in small.processes().values() if b"sleep" in process.argv]
    mngr.destroy("foo", manager=manager)
    assert small.left_behind() == []
