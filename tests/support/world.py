"""A world of one test's own: a home, a repository with spaces in its path, a host dir, and nothing left afterwards."""

import os
from collections.abc import Callable
from functools import cached_property
from pathlib import Path
from typing import NamedTuple, Unpack

from tests.support.processes import mentioning
from tests.support.repository import commit_all, copy_of

from mngr import process
from mngr.actions.create.create import create
from mngr.actions.create.request import CreateFields
from mngr.actions.destroy import destroy_rows
from mngr.actions.list import list_agents
from mngr.actions.manager import Manager
from mngr.actions.rows import look_at
from mngr.hosts.protocol import Provider
from mngr.model.agent import Agent
from mngr.process import Completed, wait_until
from mngr.store.paths import AgentPaths, HostPaths
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


def one_file(path: Path) -> None:
    """A repository with one file."""
    (path / "file.txt").write_text("one\n")
    commit_all(path, name="Ada", email="ada@example.com", message="first")


def file_and_ignored(path: Path) -> None:
    """A repository with one file, and a rule that ignores another."""
    (path / "file").write_text("one\n")
    (path / ".gitignore").write_text("ignored\n")
    commit_all(path, name="n", email="n@example.org", message="one")


class World:
    """Where one test happens. Paths hold spaces and quotes, so that nothing works by luck."""

    def __init__(self, folder: Path, repository: Callable[[Path], None] = one_file) -> None:
        self._repository = repository
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
        self.make_repo(self.repo)
        self.paths = HostPaths(str(self.host_dir))

    def make_repo(self, path: Path) -> None:
        """Another copy of the repository."""
        path.parent.mkdir(parents=True, exist_ok=True)
        copy_of(self._repository, path)

    def manager(self, **providers: Provider) -> Manager:
        return Manager(cwd=str(self.repo), env=self.env, providers=providers)

    def manager_in(self, folder: Path) -> Manager:
        return Manager(cwd=str(folder), env=self.env)

    @cached_property
    def manager_here(self) -> Manager:
        """The manager of `create`, `state`, `names` and `destroy_all`; a test may set another."""
        return self.manager()

    def git(self, *arguments: str, cwd: Path | None = None) -> str:
        env = {"HOME": str(self.home), "GIT_CONFIG_NOSYSTEM": "1"}
        return process.run(["git", *arguments], cwd=str(cwd or self.repo), env=env).check("git").text

    def git_in(self, folder: Path | str, *arguments: str) -> str:
        """What git prints in a folder, without the last line's end."""
        return self.git(*arguments, cwd=Path(folder)).strip()

    def sh(self, folder: Path | str, script: str) -> str:
        return process.run(("sh", "-c", script), cwd=str(folder), env=self.env).check(script).text

    def tmux(self, *arguments: str) -> Completed:
        return process.run(tmux(self.paths, *arguments))

    def commit(self, folder: Path | str, name: str, text: str) -> str:
        """Commits a file as an agent in that work dir would, and returns the commit's id."""
        Path(folder, name).write_text(text)
        self.git_in(folder, "add", name)
        author = ("-c", "user.name=n", "-c", "user.email=n@example.org")
        self.git_in(folder, *author, "commit", "-qm", f"add {name}")
        return self.git_in(folder, "rev-parse", "HEAD")

    def create(self, name: str, *argv: str, **fields: Unpack[CreateFields]) -> Agent:
        """An agent that sleeps, or runs `argv`, or is of the type or snapshot in `fields`."""
        if not fields.get("type") and not fields.get("snapshot"):
            fields["args"] = argv or ("sleep", "1000")
        return create(name, manager=self.manager_here, **fields).agent

    def own(self, agent: Agent) -> AgentPaths:
        return self.paths.agent(agent.id)

    def names(self) -> list[str]:
        return [agent.name for agent in list_agents(manager=self.manager_here).agents]

    def state(self, name: str) -> str:
        return next(
            agent.state for agent in list_agents(manager=self.manager_here).agents if agent.name == name
        )

    def branches(self) -> set[str]:
        return set(self.git("for-each-ref", "--format=%(refname:short)", "refs/heads").split())

    def refs(self) -> set[str]:
        return set(self.git("for-each-ref", "--format=%(refname)").split())

    def worktrees(self) -> list[str]:
        """The worktrees of agents, without the repository itself."""
        listed = self.git("worktree", "list", "--porcelain").split("\n")
        return [line.removeprefix("worktree ") for line in listed if line.startswith("worktree ")][1:]

    def tree(self, folder: Path | str) -> dict[str, str]:
        """Every file below a folder but git's own, with its text."""
        found = {}
        for root, folders, files in os.walk(folder):
            folders[:] = [name for name in folders if name != ".git"]
            for name in files:
                path = Path(root, name)
                if name != ".git":
                    found[str(path.relative_to(folder))] = path.read_text()
        return found

    def sessions(self) -> set[str]:
        listed = self.tmux("list-sessions", "-F", "#{session_name}")
        return set(listed.text.split()) if listed.code == 0 else set()

    def left_behind(self) -> list[str]:
        """Everything a creation could have left: worktrees, branches, sessions, directories, names."""
        left = [*self.worktrees(), *sorted(self.refs() - {"refs/heads/main"})]
        for folder in (self.paths.agents, self.paths.names, self.paths.work):
            if os.path.isdir(folder):
                left += [os.path.join(folder, name) for name in os.listdir(folder)]
        return [*left, *sorted(self.sessions())]

    def eventually(self, condition: Callable[[], object]) -> None:
        assert wait_until(condition, PATIENCE_S)

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

    def command_lines(self) -> list[str]:
        """What those processes run."""
        return [os.fsdecode(b" ".join(seen.argv)) for seen in self.processes().values()]

    def end(self) -> None:
        """Ends all that runs here; called by the fixture, also after a failure."""
        self.tmux("kill-server")
        for pid in self.processes():
            try:
                os.kill(pid, 9)
            except ProcessLookupError:
                pass
        assert wait_until(lambda: not self.processes(), PATIENCE_S), self.processes()

    def destroy_all(self) -> None:
        """Destroys all agents, ends the tmux server, and makes sure that this was all that ran."""
        here = self.manager_here
        destroy_rows(look_at(here.local, self.manager_in(Path("/"))), manager=here)
        self.tmux("kill-server")
        assert wait_until(lambda: not self.processes(), PATIENCE_S), self.processes()


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
