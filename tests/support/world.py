"""A world of one test's own: a home, a repository with spaces in its path, a host dir, and nothing left afterwards."""

import os
from pathlib import Path
from typing import NamedTuple

from tests.support.processes import mentioning
from tests.support.repository import commit_all, copy_of

from mngr import process
from mngr.actions.manager import Manager
from mngr.hosts.protocol import Provider
from mngr.process import Completed, wait_until
from mngr.store.paths import HostPaths
from mngr.testing.waiting import PATIENCE_S
from mngr.tmux.server import tmux

LEAN_FLAGS = ("-p", "no:hypothesispytest", "-p", "no:anyio")
"""pytest without what our own tests have installed beside it, which is half of its start."""
LEAN = {
    "PYTEST_ADDOPTS": " ".join(LEAN_FLAGS),
    "MNGR__TMR__PYTEST": " ".join(("python3", "-m", "pytest", *LEAN_FLAGS)),
}
"""The same for programs that run pytest themselves, or let agents do so."""
TEMPORARY = {"TMPDIR": os.environ["TMPDIR"]} if "TMPDIR" in os.environ else {}
"""Where this run has its temporary files; what agents of tests leave goes with it."""


class World:
    """Where one test happens."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.home = folder / "home"
        self.repo = folder / "my repo's"
        self.host_dir = folder / "h"
        self.home.mkdir()
        self.env = {
            "HOME": str(self.home),
            "MNGR_HOST_DIR": str(self.host_dir),
            "PATH": os.environ["PATH"],
            "LANG": "C.UTF-8",
            "GIT_CONFIG_NOSYSTEM": "1",
            **LEAN,
            **TEMPORARY,
        }
        copy_of(_make_repository, self.repo)
        self.paths = HostPaths(str(self.host_dir))

    def manager(self, **providers: Provider) -> Manager:
        return Manager(cwd=str(self.repo), env=self.env, providers=providers)

    def git(self, *arguments: str, cwd: Path | None = None) -> str:
        env = {"HOME": str(self.home), "GIT_CONFIG_NOSYSTEM": "1"}
        return process.run(["git", *arguments], cwd=str(cwd or self.repo), env=env).check("git").text

    def tmux(self, *arguments: str) -> Completed:
        return process.run(tmux(self.paths, *arguments))

    def left_behind(self) -> list[str]:
        """Everything a creation could have left: worktrees, branches, sessions, directories, names."""
        left = [
            line
            for line in self.git("worktree", "list", "--porcelain").split("\n")
            if line.startswith("worktree")
        ][1:]
        left += [
            ref for ref in self.git("for-each-ref", "--format=%(refname)").split() if ref != "refs/heads/main"
        ]
        for folder in (self.paths.agents, self.paths.names, self.paths.work):
            if os.path.isdir(folder):
                left += [os.path.join(folder, name) for name in os.listdir(folder)]
        sessions = self.tmux("list-sessions", "-F", "#{session_name}")
        left += sessions.text.split() if sessions.code == 0 else []
        return left

    def processes(self) -> dict[int, "Seen"]:
        """Processes that carry this world's host dir in their environment or are its tmux server."""
        mark = f"MNGR_HOST_DIR={self.host_dir}".encode()
        tmux = os.fsencode(self.paths.tmux)
        seen = {pid: look(pid) for pid in mentioning(mark, tmux)}
        return {
            pid: one
            for pid, one in seen.items()
            if one and (mark in one.environ or any(word.startswith(tmux) for word in one.argv))
        }

    def end(self) -> None:
        """Ends all that runs here; called by the fixture, also after a failure."""
        self.tmux("kill-server")
        for pid in self.processes():
            try:
                os.kill(pid, 9)
            except ProcessLookupError:
                pass
        assert wait_until(lambda: not self.processes(), PATIENCE_S), self.processes()


def _make_repository(path: Path) -> None:
    (path / "file.txt").write_text("one\n")
    commit_all(path, name="Ada", email="ada@example.com", message="first")


class Seen(NamedTuple):
    """A process as it was at one moment; it may be gone by now."""

    argv: list[bytes]
    environ: list[bytes]


def look(pid: int) -> Seen | None:
    """The process, or None when it is gone or only waits to be buried."""
    try:
        environ = Path(f"/proc/{pid}/environ").read_bytes()
        line = Path(f"/proc/{pid}/cmdline").read_bytes()
        stat = Path(f"/proc/{pid}/stat").read_text()
    except (OSError, ValueError):
        return None
    return (
        None if stat.rpartition(")")[2].split()[0] in "ZX" else Seen(line.split(b"\0"), environ.split(b"\0"))
    )
