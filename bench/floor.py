"""The floor: what the bare git and tmux commands cost, with no program around them."""

from collections.abc import Sequence

from bench.results import FLOOR
from bench.stage import Stage
from bench.timing import Step


class Floor:
    """Worktrees by git, sessions by tmux on a private socket."""

    name = FLOOR

    def __init__(self, stage: Stage) -> None:
        self.stage = stage
        self._tmux = ("tmux", "-S", f"{stage.home}/socket", "-f", "/dev/null")

    def create(self, name: str) -> Step:
        return Step((self._add(name), self._session(name, self._work_dir(name))))

    def run(self, name: str, program: Sequence[str]) -> Step:
        return Step((self._session(name, self.stage.repo, program),))

    def create_many(self, names: Sequence[str]) -> Step:
        return Step(tuple(argv for name in names for argv in self.create(name).commands))

    def fill(self, names: Sequence[str]) -> Step:
        return Step(tuple(self._session(name, self.stage.repo) for name in names))

    def list(self) -> Step:
        return Step(((*self._tmux, "list-panes", "-a"),))

    def exec(self, name: str) -> Step:
        return Step((("sh", "-c", 'cd "$1" && echo hello', "sh", self._work_dir(name)),))

    def message(self, name: str) -> Step:
        return Step(((*self._tmux, "send-keys", "-t", f"={name}:", "hello", "Enter"),))

    def stop(self, names: Sequence[str]) -> Step:
        return Step((self._kill(names),))

    def destroy(self, names: Sequence[str]) -> Step:
        """For running agents: sessions in one call, branches in one call; git has none for worktrees."""
        removals = (("git", "worktree", "remove", "--force", self._work_dir(name)) for name in names)
        branches = ("git", "branch", "-q", "-D", *(f"bench/{name}" for name in names))
        return Step((self._kill(names), *removals, branches))

    def destroy_stopped(self, names: Sequence[str]) -> Step:
        return Step(self.destroy(names).commands[1:])

    def _add(self, name: str) -> tuple[str, ...]:
        return ("git", "worktree", "add", "-q", "-b", f"bench/{name}", self._work_dir(name))

    def _session(
        self, name: str, directory: str, program: Sequence[str] = ("sleep", "100000")
    ) -> tuple[str, ...]:
        return (*self._tmux, "new-session", "-d", "-s", name, "-c", directory, *program)

    def _kill(self, names: Sequence[str]) -> tuple[str, ...]:
        joined = [word for name in names for word in ("kill-session", "-t", f"={name}", ";")]
        return (*self._tmux, *joined[:-1])

    def _work_dir(self, name: str) -> str:
        return f"{self.stage.home}/work/{name}"
