"""Agents on a throw-away host dir with its own tmux server."""

import os
import time
from pathlib import Path

from mngr import process
from mngr.hosts.local import LocalHost
from mngr.model.agent import AgentSpec
from mngr.model.ids import new_agent_id
from mngr.process import Completed, wait_until
from mngr.sh.program import encode
from mngr.store.paths import HostPaths
from mngr.store.runfile import RunFile, run_file_text
from mngr.testing.waiting import PATIENCE_S
from mngr.tmux.pane import AgentPane, capture
from mngr.tmux.server import tmux
from mngr.tmux.session import launch


class Stage:
    """Starts programs in panes and ends everything it started."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.host = LocalHost(str(folder / "h"))
        self.paths = HostPaths(self.host.dir)
        self.specs: dict[str, AgentSpec] = {}

    def start(
        self, *argv: str, name: str = "a", record: bool = False, windows: dict[str, str] | None = None
    ) -> AgentPane:
        spec = AgentSpec(
            id=new_agent_id(),
            name=name,
            type="command",
            argv=argv,
            work_dir=str(self.folder),
            created_at=time.time(),
            record=record,
            windows=windows or {},
        )
        own = self.paths.agent(spec.id)
        self.host.write(own.run, encode(run_file_text(RunFile(spec.work_dir, argv), own)))
        launch(self.host, spec)
        self.specs[name] = spec
        return AgentPane(self.host, spec.id, spec.session)

    def shell(self, script: str, *, name: str = "a", record: bool = False) -> AgentPane:
        return self.start("sh", "-c", script, name=name, record=record)

    def when_up(self, pane: AgentPane, word: str = "up") -> AgentPane:
        """The pane once its program has shown a word."""
        assert wait_until(lambda: word in capture(pane), PATIENCE_S), capture(pane)
        return pane

    def tmux(self, *arguments: str) -> Completed:
        return process.run(tmux(self.paths, *arguments))

    def file(self, name: str, size: int) -> bytes:
        """The file in the work dir once it has at least that many bytes."""
        path = self.folder / name
        wait_until(lambda: path.exists() and path.stat().st_size >= size, PATIENCE_S)
        return path.read_bytes() if path.exists() else b""

    def close(self) -> None:
        pid = self.tmux("display-message", "-p", "#{pid}").text.strip()
        self.tmux("kill-server")
        if pid:
            assert wait_until(lambda: not is_alive(int(pid)), PATIENCE_S)


def is_alive(pid: int) -> bool:
    """Whether it runs; one that only waits to be buried does not."""
    try:
        stat = Path(f"/proc/{pid}/stat").read_text()
    except (FileNotFoundError, ProcessLookupError):
        return False
    return stat.rpartition(")")[2].split()[0] not in "ZX"


def path_without(folder: Path, missing: str) -> str:
    """A PATH with every program of this machine but one."""
    folder.mkdir()
    for source in reversed(os.environ["PATH"].split(":")):
        for name in os.listdir(source) if os.path.isdir(source) else ():
            if name != missing:
                link = folder / name
                link.unlink(missing_ok=True)
                link.symlink_to(os.path.join(source, name))
    return str(folder)
