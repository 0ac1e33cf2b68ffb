"""A world for one test: home, repository, temporary folder, tmux server, and mngr's state where mngr is installed."""

import os
import secrets
import shlex
import shutil
import stat
import sys
import tempfile
from collections.abc import Mapping
from contextlib import suppress

from msgspec import Struct

from mngr_e2e.session.runner import ask
from mngr_e2e.session.world.left_over import PREFIX, hold, release, sweep
from mngr_e2e.session.world.manager import manager_env, record_agents
from mngr_e2e.session.world.reaper import end_marked
from mngr_e2e.session.world.repository import make_repository, write_identity

MARK = "MNGR_E2E_SESSION"
ARTIFACTS = "MNGR_E2E_ARTIFACTS"

_STRAY_STARTS = ("MNGR_", "TMUX", "CLAUDE", "PYTEST_", "GIT_", "XDG_")
_STRAY = frozenset(("OLDPWD", "PWD", "COLUMNS", "LINES"))
# A socket's address holds 104 bytes on some systems, and tmux adds its own folder and name.
_SHORT = 40


class World(Struct, frozen=True):
    """Where a test lives and the environment its commands get."""

    id: str
    root: str
    env: dict[str, str]

    @property
    def home(self) -> str:
        return os.path.join(self.root, "home")

    @property
    def repo(self) -> str:
        return os.path.join(self.root, "repo")

    @property
    def socket(self) -> str:
        """The tmux server that `e2e.terminal` drives."""
        return os.path.join(self.root, "terminal")

    @property
    def marks(self) -> tuple[bytes, ...]:
        """Texts that only this test's processes have in their environment."""
        return (f"{MARK}={self.id}".encode(), f"={self.root}/".encode())


def make_world(artifacts: str, inherited: Mapping[str, str], *, record: bool = True) -> World:
    """Makes the folders of a new world; nothing in it is shared with another."""
    usual = tempfile.gettempdir()
    folder = usual if len(os.fsencode(usual)) <= _SHORT else "/tmp"
    sweep(folder)
    root = tempfile.mkdtemp(prefix=PREFIX, dir=folder)
    hold(root)
    session = secrets.token_hex(6)
    env = {
        name: value
        for name, value in inherited.items()
        if not (name in _STRAY or name.startswith(_STRAY_STARTS))
    }
    # The programs of the running Python come first, unless they are there already.
    paths, programs = inherited.get("PATH", os.defpath), os.path.dirname(sys.executable)
    env["PATH"] = paths if programs in paths.split(os.pathsep) else f"{programs}{os.pathsep}{paths}"
    env["HOME"] = f"{root}/home"
    env["TMPDIR"] = env["TMUX_TMPDIR"] = f"{root}/tmp"
    env |= {MARK: session, **manager_env(root, session), ARTIFACTS: artifacts}
    world = World(session, root, env)
    try:
        for name in ("home", "repo", "tmp"):
            os.mkdir(os.path.join(root, name), 0o700)
        write_identity(world.home)
        make_repository(world.repo, env)
        if record:
            record_agents(env)
    except BaseException:
        end_world(world)
        raise
    return world


def end_world(world: World) -> list[int]:
    """Ends every process of the world and removes its folder; returns pids that survived. Twice is safe."""
    for socket in tmux_sockets(world):
        # From its directory: the whole path may be too long for a socket's address.
        folder, name = os.path.split(socket)
        ask(("tmux", "-N", "-S", name, "kill-server"), world.env, timeout_s=3, cwd=folder)
    left = end_marked(world.marks)
    release(world.root)

    # Removes a folder with what a test made read-only in it. Of what is outside, nothing is changed.
    def try_again(_: object, path: str, __: object) -> None:
        try:
            if path != world.root:
                os.chmod(os.path.dirname(path), 0o700)
            if os.path.isdir(path) and not os.path.islink(path):
                os.chmod(path, 0o700)
                shutil.rmtree(path, ignore_errors=True)
            else:
                os.unlink(path)
        except OSError:
            pass

    shutil.rmtree(world.root, onerror=try_again)
    return left


def tmux_sockets(world: World) -> list[str]:
    """The sockets of tmux servers that were started in this world: ours, mngr's, or one below TMUX_TMPDIR."""
    found = []
    for folder, _, names in os.walk(world.root):
        for path in (os.path.join(folder, name) for name in names):
            if path == world.socket or os.path.basename(folder).startswith("tmux"):
                with suppress(OSError):
                    found += [path] if stat.S_ISSOCK(os.lstat(path).st_mode) else []
    return sorted(found)


def keep_world(world: World, artifacts: str) -> str:
    """Leaves the world as it is, with a script that enters it and one that removes it; returns how to use them."""
    release(world.root)
    env_file = os.path.join(world.root, "env.sh")
    cleanup = os.path.join(artifacts, "cleanup.sh")
    lines = [f"export {name}={shlex.quote(value)}\n" for name, value in sorted(world.env.items())]
    _write_script(env_file, "".join(lines))
    with open(os.path.join(os.path.dirname(__file__), "cleanup.sh"), encoding="utf-8") as file:
        program = file.read()
    given = f"MARK={shlex.quote(f'{MARK}={world.id}')}\nROOT={shlex.quote(world.root)}\n"
    _write_script(cleanup, f"#!/bin/sh\n{given}{program}")
    places = [map(shlex.quote, os.path.split(path)) for path in tmux_sockets(world)]
    attach = [f"attach:  cd {folder} && tmux -S {name} attach\n" for folder, name in places]
    look = f"look:    cd {shlex.quote(world.repo)} && . {shlex.quote(env_file)}\n"
    return f"{look}{''.join(attach)}remove:  sh {shlex.quote(cleanup)}\n"


def _write_script(path: str, text: str) -> None:
    with open(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o700), "w") as file:
        file.write(text)
