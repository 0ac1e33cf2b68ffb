"""A probe of a host, which prints every agent's files, panes and processes, and the reader of what it prints.

The programs are `sh/probe.sh` and `sh/watch.sh`.
"""

from collections.abc import Callable, Iterator
from functools import partial
from typing import TypeVar

from msgspec import Struct

from mngr.model.agent import AgentSpec
from mngr.model.ids import is_agent_id
from mngr.sh.program import argv
from mngr.store.fold import Folded
from mngr.store.paths import HostPaths
from mngr.store.rules import UnfitError
from mngr.store.untrusted import (
    ExitRecord,
    Pane,
    ProcessMark,
    fold_bytes,
    read_exit,
    read_fold,
    read_mark,
    read_number,
    read_pane,
    read_spec,
    read_time,
)
from mngr_lib.proc import start_time

T = TypeVar("T")

EVERY_AGENT = "agent-" + "[0-9a-f]" * 32
"""A glob of the directories that can be an agent's: no other name reaches the program or its reader."""
TAIL_LIMIT = 4 << 20
"""How many bytes of a log one probe reads; of more that is new it reads the end."""
_LAST_OFFSET = 1 << 53

_WHY_NOT_READ = {"kind": "it is not a regular file", "size": "it is too large"}


class Evidence(Struct, frozen=True):
    """All that a host says about one agent, undecided."""

    id: str
    spec: AgentSpec | None = None
    folded: Folded = Folded()
    exit: ExitRecord | None = None
    mark: ProcessMark | None = None
    alive: bool = False
    pane: Pane | None = None
    result: bool = False
    tail_bytes: int = 0
    faults: tuple[str, ...] = ()
    """Which of its files cannot be read, and why; that of its spec comes first."""
    has_bad_fold: bool = False


class HostEvidence(Struct, frozen=True):
    """One look at a host."""

    boot: str
    now: float
    tmux: str
    agents: tuple[Evidence, ...]


def probe_argv(paths: HostPaths, agent_glob: str = EVERY_AGENT, *, ends_after_s: int = 0) -> tuple[str, ...]:
    """The command of a probe; with `ends_after_s` it ends by itself after so many seconds."""
    return argv("sh/probe", paths.dir, paths.tmux, agent_glob, str(ends_after_s or ""), tail_limit=TAIL_LIMIT)


def long_probe_argv(
    paths: HostPaths, seen: str, at_most_s: float, *, ends_after_s: int = 0
) -> tuple[str, ...]:
    """The command of a probe that waits, on the host, until something other than `seen` is to be seen."""
    where = (paths.dir, paths.tmux, EVERY_AGENT)
    tries, end = str(max(1, int(at_most_s * 5))), str(ends_after_s or "")
    return argv("sh/watch", *where, seen, tries, end, tail_limit=TAIL_LIMIT)


def read_probe(output: bytes) -> HostEvidence:
    """Decodes a probe's output; what does not fit makes a gap in the evidence that says so, never an error."""
    reader = _Reader()
    for line in output.split(b"\n"):
        reader.line(line)
    return HostEvidence(reader.boot, reader.now, reader.tmux, tuple(reader.agents()))


class _Reader:
    """Sorts the lines of a probe by agent."""

    def __init__(self) -> None:
        self.boot, self.now, self.tmux = "", 0.0, "running"
        self._ids: dict[str, None] = {}
        self._files: dict[str, list[bytes]] = {}
        self._path, self._lines = b"", list[bytes]()
        self._unread: dict[str, str] = {}
        self._panes: dict[str, list[Pane]] = {}
        self._marks: dict[str, tuple[str, str, str]] = {}
        self._stats: dict[str, str] = {}
        self._offsets: dict[str, tuple[int, int]] = {}
        self._results: set[str] = set()
        self._handlers = {
            "B": self._host,
            "T": self._tmux,
            "D": self._agent,
            "P": self._pane,
            "I": self._mark,
            "A": self._stat,
            "O": self._offset,
            "R": self._results.add,
            "X": self._not_read,
        }

    def line(self, line: bytes) -> None:
        if line.startswith(b"agent-"):
            path, _, text = line.partition(b":")
            if path != self._path:
                self._path, self._lines = path, self._files.setdefault(path.decode(errors="replace"), [])
            self._lines.append(text)
            return
        kind, _, rest = line.decode(errors="replace").partition(" ")
        handle = self._handlers.get(kind)
        if handle:
            handle(rest)

    def agents(self) -> Iterator[Evidence]:
        for agent in self._ids:
            faults: list[str] = []
            spec = self._decoded(agent, "agent.json", partial(read_spec, agent), faults)
            if spec is None and not faults:
                faults.append("agent.json is missing, empty or not ours to read")
            record = self._decoded(agent, "exit.json", read_exit, faults)
            mark = self._own_mark(agent, faults)
            folded, tail, has_bad_fold = self._folded(agent, faults)
            yield Evidence(
                id=agent,
                spec=spec,
                folded=folded,
                exit=record,
                mark=mark,
                alive=mark is not None and self._is_alive(agent, mark),
                pane=self._own_pane(agent, mark),
                result=agent in self._results,
                tail_bytes=tail,
                faults=tuple(faults),
                has_bad_fold=has_bad_fold,
            )

    def _host(self, rest: str) -> None:
        boot, _, now = rest.partition(" ")
        self.boot, self.now = boot[:64], read_time(now) or 0.0

    def _tmux(self, rest: str) -> None:
        self.tmux = rest[:64]

    def _agent(self, rest: str) -> None:
        if is_agent_id(rest):
            self._ids[rest] = None

    def _pane(self, rest: str) -> None:
        found = read_pane(rest)
        if found:
            self._panes.setdefault(found[0], []).append(found[1])

    def _mark(self, rest: str) -> None:
        agent, pid, boot, stat = (rest + "   ").split(" ", 3)
        self._marks[agent] = (pid, boot, stat)

    def _stat(self, rest: str) -> None:
        agent, _, stat = rest.partition(" ")
        self._stats[agent] = stat

    def _offset(self, rest: str) -> None:
        agent, fold_end, start = (rest + "  ").split(" ", 2)
        places = read_number(fold_end, _LAST_OFFSET), read_number(start.strip(), _LAST_OFFSET)
        self._offsets[agent] = (places[0] or 0, places[1] or 0)

    def _not_read(self, rest: str) -> None:
        path, _, reason = rest.partition(" ")
        self._unread[path] = _WHY_NOT_READ.get(reason, "it cannot be read")

    def _own_mark(self, agent: str, faults: list[str]) -> ProcessMark | None:
        path = f"{agent}/pid"
        if path in self._unread:
            faults.append(f"pid: {self._unread[path]}")
        if agent not in self._marks:
            return None
        try:
            return read_mark(*self._marks[agent])
        except UnfitError as error:
            faults.append(f"pid: {error}")
            return None

    def _is_alive(self, agent: str, mark: ProcessMark) -> bool:
        """Whether the process that left the mark is there now, and not another one with its number."""
        stat_now = self._stats.get(agent)
        if mark.boot not in ("-", self.boot) or stat_now is None:
            return False
        if stat_now == "?":
            return True
        fields = stat_now.rpartition(")")[2].split()
        is_zombie = bool(fields) and fields[0] in "ZX"
        return not is_zombie and (not mark.start or start_time(stat_now) == mark.start)

    def _own_pane(self, agent: str, mark: ProcessMark | None) -> Pane | None:
        """The pane of the process it left its number of; else that of its first window, whatever the number says."""
        panes = self._panes.get(agent, [])
        return next(
            (pane for pane in panes if mark and pane.pid == mark.pid),
            next((pane for pane in panes if pane.window == "0"), None),
        )

    def _folded(self, agent: str, faults: list[str]) -> tuple[Folded, int, bool]:
        """What the log says, how much of it was read, and whether its fold could not be used."""
        path = f"{agent}/events.jsonl"
        if path in self._unread:
            faults.append(f"events.jsonl: {self._unread[path]}")
        tail = b"".join(line + b"\n" for line in self._files.get(path, ()))
        if agent not in self._offsets:
            return fold_bytes(Folded(), tail), len(tail), False
        fold_end, start = self._offsets[agent]
        before = self._decoded(agent, "fold.json", read_fold, faults)
        if before and before.offset != fold_end:
            before = None
            faults.append("fold.json: it is not of this log")
        return fold_bytes(before or Folded(), tail, start), len(tail), before is None and fold_end > 0

    def _decoded(self, agent: str, file: str, read: Callable[[bytes], T], faults: list[str]) -> T | None:
        path = f"{agent}/{file}"
        if path in self._unread:
            faults.append(f"{file}: {self._unread[path]}")
            return None
        lines = self._files.get(path)
        if not lines:
            return None
        try:
            return read(b"\n".join(lines))
        except UnfitError as error:
            faults.append(f"{file}: {error}")
            return None
