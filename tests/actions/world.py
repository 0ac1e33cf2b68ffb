"""A small world: a repository, a home, a host dir and a manager; nothing of it outlives its test."""

import os
from pathlib import Path
from typing import Unpack

from tests.support.processes import mentioning
from tests.support.repository import commit_all, copy_of

from mngr import process
from mngr.actions.create.create import create
from mngr.actions.create.request import CreateFields
from mngr.actions.destroy import destroy_rows
from mngr.actions.list import list_agents
from mngr.actions.manager import Manager
from mngr.actions.rows import look_at
from mngr.model.agent import Agent
from mngr.process import wait_until
from mngr.store.paths import AgentPaths, HostPaths
from mngr.testing.waiting import PATIENCE_S
from mngr.tmux.server import tmux


class World:
    """Paths hold spaces and quotes, so that nothing works by luck."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.home = folder, folder / "home"
        self.repo = folder / "re po's"
        self.home.mkdir()
        self.host_dir = str(folder / "h")
        self.paths = HostPaths(self.host_dir)
        self.env = {
            **{name: value for name, value in os.environ.items() if name in ("PATH", "LANG")},
            "HOME": str(self.home),
            "MNGR_HOST_DIR": self.host_dir,
        }
        self.make_repo(self.repo)
        self.manager = self.manager_in(self.repo)

    def manager_in(self, folder: Path) -> Manager:
        return Manager(cwd=str(folder), env=self.env)

    def make_repo(self, path: Path) -> None:
        path.parent.mkdir(parents=True, exist_ok=True)
        copy_of(_make_repository, path)

    def git(self, folder: Path | str, *args: str) -> str:
        return process.run(("git", "-C", str(folder), *args)).check(f"git {args[0]}").text.strip()

    def sh(self, folder: Path | str, script: str) -> str:
        return process.run(("sh", "-c", script), cwd=str(folder), env=self.env).check(script).text

    def commit(self, folder: Path | str, name: str, text: str) -> str:
        """Commits a file as an agent in that work dir would, and returns the commit's id."""
        Path(folder, name).write_text(text)
        self.git(folder, "add", name)
        self.git(
            folder, "-c", "user.name=n", "-c", "user.email=n@example.org", "commit", "-qm", f"add {name}"
        )
        return self.git(folder, "rev-parse", "HEAD")

    def create(self, name: str, *argv: str, **fields: Unpack[CreateFields]) -> Agent:
        if not fields.get("type") and not fields.get("snapshot"):
            fields["args"] = argv or ("sleep", "1000")
        return create(name, manager=self.manager, **fields).agent

    def own(self, agent: Agent) -> AgentPaths:
        return self.paths.agent(agent.id)

    def names(self) -> list[str]:
        return [agent.name for agent in list_agents(manager=self.manager).agents]

    def state(self, name: str) -> str:
        return next(agent.state for agent in list_agents(manager=self.manager).agents if agent.name == name)

    def branches(self) -> set[str]:
        return set(self.git(self.repo, "for-each-ref", "--format=%(refname:short)", "refs/heads").split())

    def refs(self) -> set[str]:
        return set(self.git(self.repo, "for-each-ref", "--format=%(refname)").split())

    def worktrees(self) -> list[str]:
        listed = self.git(self.repo, "worktree", "list", "--porcelain").split("\n")
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
        done = process.run(tmux(self.paths, "list-sessions", "-F", "#{session_name}"))
        return set(done.text.split()) if done.code == 0 else set()

    def eventually(self, condition: object) -> None:
        assert callable(condition)
        assert wait_until(condition, PATIENCE_S)

    def close(self) -> None:
        """Destroys all agents, ends the tmux server, and makes sure that nothing is left."""
        destroy_rows(look_at(self.manager.local, Manager(cwd="/", env=self.env)), manager=self.manager)
        pid = process.run(tmux(self.paths, "display-message", "-p", "#{pid}")).text.strip()
        process.run(tmux(self.paths, "kill-server"))
        assert wait_until(lambda: not pid or not Path(f"/proc/{pid}").exists(), PATIENCE_S)
        assert wait_until(lambda: not processes_of(self.host_dir), PATIENCE_S), processes_of(self.host_dir)


def _make_repository(path: Path) -> None:
    (path / "file").write_text("one\n")
    (path / ".gitignore").write_text("ignored\n")
    commit_all(path, name="n", email="n@example.org", message="one")


def processes_of(host_dir: str) -> list[str]:
    """Command lines of the processes that were told this host dir."""
    mark = b"MNGR_HOST_DIR=" + os.fsencode(host_dir)
    found = []
    for pid in mentioning(mark):
        try:
            if mark in Path(f"/proc/{pid}/environ").read_bytes().split(b"\0"):
                found.append(Path(f"/proc/{pid}/cmdline").read_bytes().replace(b"\0", b" ").decode())
        except OSError:
            continue
    return found
