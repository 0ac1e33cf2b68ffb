"""What a newcomer's machine may lack: each gives one clear message and the way out."""

import os
import shutil
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest
from tests.cli.command import Done, Mngr
from tests.support.needs import needs
from tests.support.world import World

from mngr import process
from mngr.process import OnlyEnv

pytestmark = pytest.mark.accept("U1", "U3")

ROOT = Path(__file__).parents[2]
_NOBODY = 65534
_SHELL = "sh env cat cp mkdir mktemp rm mv ln ls sed grep tail cmp dirname basename id date stat ps uname tar sleep"


class Machine:
    """A PATH of chosen programs, and a copy of what a clone has for its set-up."""

    def __init__(self, folder: Path) -> None:
        self.bin, self.clone = folder / "bin", folder / "clone"
        self.bin.mkdir()
        shutil.copytree(ROOT / "tools", self.clone / "tools")
        (self.clone / "web").mkdir()
        for name in ("package.json", "package-lock.json"):
            shutil.copy(ROOT / "web" / name, self.clone / "web")
        self.have(*_SHELL.split())

    def have(self, *names: str) -> None:
        for name in names:
            found = shutil.which(name)
            assert found, name
            (self.bin / name).symlink_to(found)

    def write(self, name: str, script: str) -> None:
        path = self.clone / name if "/" in name else self.bin / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.unlink(missing_ok=True)  # it may be a link to the real one
        path.write_text(f"#!/bin/sh\n{script}\n")
        path.chmod(0o755)

    def __call__(self, *argv: str, **env: str) -> Done:
        own = OnlyEnv({"PATH": str(self.bin), "HOME": str(self.clone), **env})
        ran = process.run(argv, timeout_s=180, env=own, cwd=str(self.clone))
        return Done(ran.code, ran.stdout.decode(), ran.stderr.decode())


@pytest.fixture
def machine(tmp_path: Path) -> Machine:
    return Machine(tmp_path)


@pytest.fixture
def world(tmp_path: Path) -> Iterator[World]:
    made = World(tmp_path)
    yield made
    made.end()


def as_nobody(argv: Sequence[str]) -> list[str]:
    if os.geteuid() != 0:
        return list(argv)
    needs("setpriv: apt-get install util-linux", "setpriv", "--version")
    setpriv = shutil.which("setpriv") or "setpriv"
    return [setpriv, f"--reuid={_NOBODY}", f"--regid={_NOBODY}", "--clear-groups", *argv]


def let_others_in(folder: Path) -> None:
    """pytest's temporary folders are closed to everyone else."""
    for one in [folder, *folder.parents]:
        if one != Path("/") and os.stat(one).st_uid == os.geteuid():
            one.chmod(one.stat().st_mode | 0o055)


def told(done: Done) -> list[str]:
    return [line for line in done.stderr.splitlines() if line]


def test_without_tmux_and_with_an_old_git_the_demo_names_both_and_how_to_get_them(
    machine: Machine, tmp_path: Path
) -> None:
    machine.write("git", "echo git version 2.20.1")
    machine.write("apt-get", "exit 1")
    done = machine(sys.executable, "-m", "mngr", "demo", "--dir", str(tmp_path / "demo"))
    assert done.code == 1
    error, hint = told(done)
    assert error.startswith("error: the demo cannot run here: tmux: not installed")
    assert "git: 2.20.1, older than 2.31" in error
    assert "apt-get install -y tmux" in hint
    assert "apt-get install -y git" in hint
    assert not (tmp_path / "demo").exists()


def test_without_tmux_create_names_it_and_leaves_nothing(world: World, machine: Machine) -> None:
    machine.have("git")
    done = Mngr(world)("create", "foo", "--", "sleep", "9", PATH=str(machine.bin))
    assert done.code == 5, done
    error, hint = told(done)
    assert error == 'error: host "local" has no tmux'
    assert "install tmux" in hint
    assert world.left_behind() == []


def test_a_home_that_cannot_be_written_is_named_once_with_the_variable_that_moves_ours(
    tmp_path: Path, machine: Machine
) -> None:
    home = tmp_path / "home"
    home.mkdir(0o555)
    let_others_in(tmp_path)
    words = (sys.executable, "-m", "mngr", "create", "foo", "--transfer", "none", "--", "sleep", "9")
    machine.have("git", "tmux")
    done = machine(*as_nobody(words), HOME=str(home))
    assert done.code == 1
    error, hint = told(done)
    assert f"could not write to {home}/.mngr" in error
    assert "MNGR_HOST_DIR names another folder" in hint
    assert "left behind" not in hint
    doctor = machine(*as_nobody((sys.executable, "-m", "mngr", "doctor")), HOME=str(home))
    assert "or set MNGR_HOST_DIR to a folder of yours" in doctor.stdout


def test_who_is_not_root_is_told_what_to_install_before_anything_else_happens(machine: Machine) -> None:
    missing = as_nobody(["tools/debian-packages", "--needed", "git", "no-such-program"])
    machine.have("git")
    let_others_in(machine.clone)
    done = machine(*missing)
    assert done.code == 1
    error, hint = told(done)
    assert error == "error: this needs no-such-program, and only root can install that"
    assert "sudo apt-get install -y no-such-program" in hint
    assert machine(*missing[:-1]).code == 0


def test_root_without_a_way_to_a_mirror_is_told_so(machine: Machine) -> None:
    machine.write("id", "echo 0")
    machine.write("apt-get", "exit 100")
    done = machine("tools/debian-packages", "--needed", "no-such-program")
    assert done.code == 1
    assert told(done)[-2] == "error: apt-get could not install no-such-program"
    assert "mirror" in told(done)[-1]


def test_a_python_that_is_missing_or_old_or_cannot_install_is_named(machine: Machine) -> None:
    gone = machine("tools/python-env", "python9", ".venv", "demo")
    assert (gone.code, told(gone)[0]) == (1, "error: there is no python9 here")
    machine.write("python3", "case $1 in --version) echo Python 3.9.2 ;; *) exit 1 ;; esac")
    old = machine("tools/python-env", "python3", ".venv", "demo")
    assert (old.code, told(old)[0]) == (1, "error: Python 3.9.2 is too old")
    machine.write(".venv/bin/pip", "exit 1")
    offline = machine("tools/python-env", sys.executable, ".venv", "demo")
    assert (offline.code, told(offline)[0]) == (1, "error: pip could not install what is needed")
    assert "PIP_INDEX_URL" in told(offline)[1]


def test_without_node_and_without_a_way_to_get_one_the_page_says_so(machine: Machine) -> None:
    machine.write("node", "exit 1")
    machine.write("npm", "exit 1")
    machine.write(".venv/bin/pip", "exit 1")
    done = machine("tools/page")
    assert done.code == 1
    assert told(done)[0].startswith("error: the page is built with Node 20.19 or newer")
    assert ".venv/bin/mngr demo" in told(done)[1]


def test_an_old_node_is_passed_over_for_one_from_pypi(machine: Machine) -> None:
    machine.write("node", "exit 1")
    machine.write("npm", "exit 0")
    made = "cat >.venv/bin/node </dev/null; chmod +x .venv/bin/node; cp .venv/bin/node .venv/bin/npm"
    machine.write(".venv/bin/pip", made)
    machine.have("chmod")
    done = machine("tools/node")
    assert (done.code, done.stdout) == (0, f"{machine.clone}/.venv/bin\n"), done


def test_without_a_way_to_the_npm_registry_the_page_says_so(machine: Machine) -> None:
    needs("Node 20.19 with npm", str(ROOT / "tools/node"))
    node = process.run([str(ROOT / "tools/node")]).text.strip()
    away = {"npm_config_registry": "http://127.0.0.1:9", "npm_config_fetch_retries": "0"}
    done = machine("tools/page", PATH=f"{node}:{machine.bin}", **away)
    assert done.code == 1
    assert "error: npm could not install what builds the page" in told(done)
    assert any("npm_config_registry=URL" in line for line in told(done))
    assert len(told(done)) <= 6, "npm's own words are in a file"
    assert (machine.clone / "build/npm.log").stat().st_size
