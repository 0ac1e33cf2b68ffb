"""One look at a host: a portable sh program that prints every agent's files, panes and processes, and its reader.

It starts a fixed number of processes, however many agents there are, and runs in dash, busybox and bash.
"""

from collections.abc import Iterator
from typing import TypeVar

import msgspec
from msgspec import Struct

from mngr.model.agent import AgentSpec
from mngr.store.fold import Folded, decode_fold, fold_bytes
from mngr.store.paths import HostPaths

_Record = TypeVar("_Record", AgentSpec, "ExitRecord")

_PANE = (
    "P #{@mngr_id}|#{pane_pid}|#{pane_dead}|#{pane_dead_status}|#{pane_dead_signal}|#{pane_dead_time}"
    "|#{pane_tty}|#{session_name}|#{pane_title}"
)

# Lines `agent-…/pid:PID BOOT STAT` become the mark a process left and the process that has its number now.
_MARKS = """
!/^agent-[0-9a-f]*\\/pid:/ { print; next }
{
  at = index($0, ":"); dir = substr($0, 1, at - 5); mark = substr($0, at + 1)
  split(mark, word, " ")
  if (word[1] !~ /^[0-9]+$/) next
  print "I", dir, mark
  file = "/proc/" word[1] "/stat"
  if ((getline now < file) > 0) print "A", dir, now
  close(file)
}"""

# Names, "+", more names → those that come only after it. Asking `find` again would miss a log that grew meanwhile.
_OTHERS = """$0 == "+" { after = 1; next } !after { seen[$0] } after && !($0 in seen)"""

# $1 host dir, $2 tmux socket, $3 a glob of agent ids. Logs past 8 KB (16 blocks) are read from their fold's offset on.
# Each look renews the lease of a host that has one.
PROBE = f"""
LC_ALL=C; export LC_ALL
b=-; [ -r /proc/sys/kernel/random/boot_id ] && read -r b </proc/sys/kernel/random/boot_id
now=$(date +%s)
echo "B $b $now"
[ ! -e "$1/lease" ] || {{ echo "$now" >"$1/lease"; }} 2>/dev/null
cd "$1/agents" 2>/dev/null || exit 0
if command -v tmux >/dev/null 2>&1; then
  panes=$(tmux -u -N -S "$2" list-panes -a -F '{_PANE}' 2>/dev/null) || echo "T no server"
  # A dead pane without its status: tmux missed that child's end, and the end of another one wakes it.
  case $panes in *"|1||||/"*)
    tmux -N -S "$2" run-shell : && panes=$(tmux -u -N -S "$2" list-panes -a -F '{_PANE}' 2>/dev/null) ;;
  esac
  printf '%s\n' "$panes"
else
  echo "T no tmux"
fi
glob=$3
set -- $glob
[ -d "$1" ] || exit 0
printf 'D %s\\n' "$@"
for r in $glob/outbox/result.json; do [ -e "$r" ] && echo "R ${{r%%/*}}"; done
small=$glob/events.jsonl
large=$(find $small -size +16 2>/dev/null)
[ -z "$large" ] || small=$(printf '%s\\n' $large + $small | awk '{_OTHERS}')
# Not by `read`: dash reads byte by byte, which costs 0.2 s for a thousand agents.
grep -sH '' $glob/agent.json $glob/exit.json $glob/pid $small /dev/null | awk '{_MARKS}'
[ -d /proc/self ] || for f in $glob/pid; do
  p=; {{ read -r p rest <"$f"; }} 2>/dev/null
  [ -n "$p" ] && kill -0 "$p" 2>/dev/null && echo "A ${{f%%/*}} ?"
done
[ -n "$large" ] && wc -c $large /dev/null | while read -r size log; do
  case $log in agent-*) ;; *) continue ;; esac
  f=${{log%/*}}/fold.json o=0
  {{ read -r fold <"$f"; }} 2>/dev/null && {{ o=${{fold#*:}}; o=${{o%%,*}}; echo "$f:$fold"; }}
  case $o in ''|*[!0-9]*) o=0 ;; esac
  [ "$o" -gt "$size" ] && o=0
  echo "O ${{log%/*}} $o"
  [ "$o" -lt "$size" ] && tail -c +$((o + 1)) "$log" | sed "s|^|$log:|"
done
exit 0
"""


# $1 to $3 as above, $4 what the caller has seen, $5 how often to look. Answers when something else is to be seen, or
# at the end: first a checksum of what it saw, for the next call. The first line of a look holds the time of day.
LONG_PROBE = f"""
look() (
{PROBE}
)
n=0 last=
while :; do
  rung=; {{ read -r rung <"$1/bell"; }} 2>/dev/null
  if [ "$rung" != "$last" ] || [ $((n % 5)) = 0 ]; then
    last=$rung
    seen=$(look "$1" "$2" "$3")
    sum=$(printf '%s\n' "$seen" | sed 1d | cksum | tr ' ' -)
    [ "$sum" = "$4" ] && [ "$n" -lt "$5" ] || break
  fi
  n=$((n + 1)); sleep 0.2
done
printf '%s\n%s\n' "$sum" "$seen"
"""


class ExitRecord(Struct, frozen=True):
    """`exit.json`, written by tmux's pane-died hook."""

    pid: int = 0
    exit_code: int | None = None
    signal: str | None = None
    at: float = 0.0


class Pane(Struct, frozen=True):
    """What tmux says of an agent's pane."""

    pid: int
    dead: bool
    exit_code: int | None
    signal: str | None
    dead_at: float | None
    tty: str
    session: str
    title: str = ""


class ProcessMark(Struct, frozen=True):
    """A process, told from a later one with the same number by its start time and boot."""

    pid: int
    boot: str
    start: str


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


class HostEvidence(Struct, frozen=True):
    """One look at a host."""

    boot: str
    now: float
    tmux: str
    agents: tuple[Evidence, ...]


def probe_argv(paths: HostPaths, agent_glob: str = "agent-*") -> tuple[str, ...]:
    return ("sh", "-c", PROBE, "mngr-probe", paths.dir, paths.socket, agent_glob)


def long_probe_argv(paths: HostPaths, seen: str, at_most_s: float) -> tuple[str, ...]:
    """A look that waits, there, until it sees something else than `seen`."""
    ticks = str(max(1, int(at_most_s * 5)))
    return ("sh", "-c", LONG_PROBE, "mngr-watch", paths.dir, paths.socket, "agent-*", seen, ticks)


def read_probe(output: bytes) -> HostEvidence:
    """Decodes a probe's output; a corrupt file makes a gap in the evidence, never an error."""
    reader = _Reader()
    for line in output.split(b"\n"):
        reader.line(line)
    return HostEvidence(reader.boot, reader.now, reader.tmux, tuple(reader.agents()))


class _Reader:
    """Sorts the lines of a probe by agent."""

    def __init__(self) -> None:
        self.boot, self.now, self.tmux = "", 0.0, "running"
        self._ids: list[str] = []
        self._files: dict[str, list[bytes]] = {}
        self._panes: dict[str, list[Pane]] = {}
        self._marks: dict[str, ProcessMark] = {}
        self._stats: dict[str, str] = {}
        self._offsets: dict[str, int] = {}
        self._results: set[str] = set()
        self._handlers = {
            "B": self._host,
            "T": self._tmux,
            "D": self._ids.append,
            "P": self._pane,
            "I": self._mark,
        }

    def line(self, line: bytes) -> None:
        if line.startswith(b"agent-"):
            path, _, text = line.partition(b":")
            self._files.setdefault(path.decode(errors="replace"), []).append(text)
            return
        kind, _, rest = line.decode(errors="replace").partition(" ")
        handle = self._handlers.get(kind)
        if handle:
            handle(rest)
        elif kind == "A":
            agent, _, stat = rest.partition(" ")
            self._stats[agent] = stat
        elif kind == "O":
            agent, _, offset = rest.partition(" ")
            self._offsets[agent] = int(offset) if _is_number(offset) else 0
        elif kind == "R":
            self._results.add(rest)

    def agents(self) -> Iterator[Evidence]:
        for agent in self._ids:
            folded, tail = self._folded(agent)
            mark = self._marks.get(agent)
            yield Evidence(
                id=agent,
                spec=self._decode(agent, "agent.json", AgentSpec),
                folded=folded,
                exit=self._decode(agent, "exit.json", ExitRecord),
                mark=mark,
                alive=mark is not None
                and mark.boot in ("-", self.boot)
                and _is_same(mark, self._stats.get(agent)),
                pane=self._own_pane(agent, mark),
                result=agent in self._results,
                tail_bytes=tail,
            )

    def _host(self, rest: str) -> None:
        self.boot, _, now = rest.partition(" ")
        self.now = float(now) if _is_number(now) else 0.0

    def _tmux(self, rest: str) -> None:
        self.tmux = rest

    def _pane(self, rest: str) -> None:
        words = rest.split("|", 8)
        if len(words) < 9 or not _is_number(words[1]):
            return
        agent, pid, dead, status, signal, at, tty, session, title = words
        self._panes.setdefault(agent, []).append(
            Pane(
                pid=int(pid),
                # tmux calls a pane dead before it has collected how the process ended.
                dead=dead == "1" and (_is_number(status) or _is_number(at)),
                exit_code=int(status) if _is_number(status) else None,
                signal=signal_name(signal),
                dead_at=float(at) if _is_number(at) else None,
                tty=tty,
                session=session,
                title=title,
            )
        )

    def _mark(self, rest: str) -> None:
        agent, pid, boot, stat = (rest + "   ").split(" ", 3)
        if _is_number(pid):
            self._marks[agent] = ProcessMark(int(pid), boot, _start_time(stat))

    def _own_pane(self, agent: str, mark: ProcessMark | None) -> Pane | None:
        panes = self._panes.get(agent, [])
        return next(
            (pane for pane in panes if mark and pane.pid == mark.pid),
            panes[0] if panes and not mark else None,
        )

    def _folded(self, agent: str) -> tuple[Folded, int]:
        before = Folded()
        if agent in self._offsets:
            fold_lines = self._files.get(f"{agent}/fold.json", [b""])
            before = decode_fold(fold_lines[0])
            if before.offset != self._offsets[agent]:
                before = Folded()
        lines = self._files.get(f"{agent}/events.jsonl", [])
        tail = b"".join(line + b"\n" for line in lines)
        return fold_bytes(before, tail), len(tail)

    def _decode(self, agent: str, file: str, kind: type[_Record]) -> _Record | None:
        lines = self._files.get(f"{agent}/{file}")
        if not lines:
            return None
        try:
            return msgspec.json.decode(b"\n".join(lines), type=kind)
        except msgspec.DecodeError:
            return None


def signal_name(number: str) -> str | None:
    """`9` → `SIGKILL`; None when there was no signal."""
    if not _is_number(number):
        return None
    from signal import Signals

    try:
        return Signals(int(number)).name
    except ValueError:
        return f"SIG{number}"


def _is_number(text: str) -> bool:
    return text.isascii() and text.isdigit()


def _start_time(stat: str) -> str:
    """Field 22 of /proc/PID/stat; the program's name before it may hold spaces and parentheses."""
    fields = stat.rpartition(")")[2].split()
    return fields[19] if len(fields) > 19 else ""


def _is_same(mark: ProcessMark, stat_now: str | None) -> bool:
    if stat_now is None:
        return False
    if stat_now == "?":
        return True
    fields = stat_now.rpartition(")")[2].split()
    is_zombie = bool(fields) and fields[0] in "ZX"
    return not is_zombie and (not mark.start or _start_time(stat_now) == mark.start)
