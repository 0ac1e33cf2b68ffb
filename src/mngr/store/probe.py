"""One look at a host: a portable sh program that prints every agent's files, panes and processes, and its reader.

It starts a fixed number of processes, however many agents there are, and runs in dash, busybox and bash. It reads
regular files up to a size and never follows a link; whatever else it finds in a file's place it names.
"""

from collections.abc import Callable, Iterator
from functools import partial
from typing import TypeVar

from msgspec import Struct

from mngr.model.agent import AgentSpec
from mngr.model.ids import is_agent_id
from mngr.store.fold import Folded
from mngr.store.paths import HostPaths
from mngr.store.untrusted import (
    ExitRecord,
    Pane,
    ProcessMark,
    UnfitError,
    fold_bytes,
    read_exit,
    read_fold,
    read_mark,
    read_number,
    read_pane,
    read_spec,
    read_time,
    start_time,
)

T = TypeVar("T")

EVERY_AGENT = "agent-" + "[0-9a-f]" * 32
"""A glob of the directories that can be an agent's: no other name reaches the program or its reader."""
TAIL_LIMIT = 4 << 20
"""So many bytes of a log one look reads; of more that is new it reads the end."""
_SPEC_LIMIT, _FOLD_LIMIT, _SMALL_LIMIT, _WHOLE_LIMIT = 4 << 20, 256 << 10, 4 << 10, 8 << 10
_LAST_OFFSET = 1 << 53

_PANE = (
    "P #{@mngr_id}|#{pane_pid}|#{pane_dead}|#{pane_dead_status}|#{pane_dead_signal}|#{pane_dead_time}"
    "|#{pane_tty}|#{session_name}|#{window_index}|#{pane_title}"
)

# Files `agent-…/pid` become the mark that a process left and the process that has its number now. They are read one by
# one: mawk gives up at the first that is gone.
_MARKS = """
BEGIN {
  for (i = 1; i < ARGC; i++) {
    dir = ARGV[i]; sub(/\\/pid$/, "", dir)
    while ((getline mark < ARGV[i]) > 0) {
      print "I", dir, mark
      split(mark, word, " ")
      if (word[1] !~ /^[0-9]+$/ || length(word[1]) > 7) continue
      file = "/proc/" word[1] "/stat"
      if ((getline now < file) > 0) print "A", dir, now
      close(file)
    }
    close(ARGV[i])
  }
}"""

# Names, "+", more names → those that come only after it. Asking `find` again would miss a log that grew meanwhile.
_OTHERS = """$0 == "+" { after = 1; next } !after { seen[$0] } after && !($0 in seen)"""

# The lines of a log's tail, each after the log's name, until they are as many bytes as one look reads.
_TAIL = f"""{{ bytes += length($0) + 1; if (bytes > {TAIL_LIMIT}) exit; print log_name ":" $0 }}"""

# A look whose manager is gone, or no longer waits, ends by itself: $1 seconds after it began the look is killed with
# all that it started. The watchdog ends with the look, and does nothing once it is nobody's child any more.
_WATCHDOG = """
mngr_watchdog() {
  (
    trap 'kill $!; exit 0' TERM
    sleep "$1" & wait $!
    read -r me rest </proc/self/stat || { kill -9 $$; exit 0; }
    rest=${rest##*) }; rest=${rest#* }
    [ "${rest%% *}" = $$ ] || exit 0
    # The look itself first: with its tmux killed before it, it would go on and report a host without panes.
    kill -9 $$ $(cat /proc/[0-9]*/stat 2>/dev/null | awk -v top=$$ -v me="$me" '
      { pid = $1; sub(/.*\\) /, ""); split($0, field, " "); parent[pid] = field[2] }
      END {
        below[top]
        do { grown = 0
          for (p in parent) if (p != me && !(p in below) && (parent[p] in below)) { below[p]; grown = 1 }
        } while (grown)
        for (p in below) print p
      }')
  ) </dev/null >/dev/null 2>&1 &
  mngr_dog=$!
  trap 'kill $mngr_dog 2>/dev/null' EXIT
}
"""

# What is neither a regular file nor small enough, of the five files of an agent that are read. Sizes are in blocks of
# 512 bytes.
_UNFIT = (
    (
        "-prune ! ( -type f ( "
        f"-size -{_SMALL_LIMIT // 512 + 1} -o -name events.jsonl -size -{_WHOLE_LIMIT // 512 + 1} "
        f"-o -name fold.json -size -{_FOLD_LIMIT // 512 + 1} -o -name agent.json -size -{_SPEC_LIMIT // 512 + 1} ) )"
    )
    .replace("(", "\\(")
    .replace(")", "\\)")
)

# $1 host dir, $2 the directory of the tmux socket, $3 a glob of agent ids. Logs past 8 KB are read from their fold's
# offset on. Each look renews the lease of a host that has one.
_PROBE = f"""
LC_ALL=C; export LC_ALL
b=-; [ -r /proc/sys/kernel/random/boot_id ] && read -r b </proc/sys/kernel/random/boot_id
now=$(date +%s)
echo "B $b $now"
[ ! -f "$1/lease" ] || [ -L "$1/lease" ] || {{ echo "$now" >"$1/lease"; }} 2>/dev/null
cd "$1/agents" 2>/dev/null || exit 0
if command -v tmux >/dev/null 2>&1; then
  # From inside its directory: the whole path may be too long for a socket's address.
  panes=$(cd "$2" 2>/dev/null && [ -O . ] && tmux -u -N -S socket list-panes -a -F '{_PANE}' 2>/dev/null) ||
    echo "T no server"
  # A dead pane without its status: tmux missed that child's end, and the end of another one wakes it.
  case $panes in *"|1||||/"*)
    again=$(cd "$2" && tmux -u -N -S socket run-shell : \\; list-panes -a -F '{_PANE}' 2>/dev/null) && panes=$again ;;
  esac
  printf '%s\n' "$panes"
else
  echo "T no tmux"
fi
glob=$3
set -- $glob
[ -e "$1" ] || [ -L "$1" ] || exit 0
printf 'D %s\\n' "$@"
for r in $glob/outbox/result.json; do [ -f "$r" ] && echo "R ${{r%%/*}}"; done
pids=$glob/pid
set -- $glob/agent.json $glob/exit.json $glob/events.jsonl $glob/fold.json
unfit=$(find $pids "$@" {_UNFIT} -print 2>/dev/null)
[ -z "$unfit" ] || {{
  set -- $(printf '%s\\n' $unfit + "$@" | awk '{_OTHERS}')
  pids=$(printf '%s\\n' $unfit + $pids | awk '{_OTHERS}')
}}
# Not by `read`: dash reads byte by byte, which costs 0.2 s for a thousand agents.
grep -asH '' "$@" /dev/null
awk '{_MARKS}' $pids
[ -d /proc/self ] || for f in $glob/pid; do
  p=; [ ! -f "$f" ] || [ -L "$f" ] || {{ read -r p rest <"$f"; }} 2>/dev/null
  [ -n "$p" ] && kill -0 "$p" 2>/dev/null && echo "A ${{f%%/*}} ?"
done
large=
for f in $unfit; do
  if [ -L "$f" ] || [ ! -f "$f" ]; then echo "X $f kind"; continue; fi
  case $f in */events.jsonl) large="$large $f" ;; *) echo "X $f size" ;; esac
done
# Not by `wc`: busybox reads the whole file for it.
[ -n "$large" ] && ls -ln $large 2>/dev/null | while read -r mode links user group size month day time log; do
  f=${{log%/*}}/fold.json o=0 fold=
  case "$unfit" in *"$f"*) ;; *) {{ read -r fold <"$f"; }} 2>/dev/null ;; esac
  [ -z "$fold" ] || {{ o=${{fold#*:}}; o=${{o%%,*}}; }}
  case $o in ''|*[!0-9]*|????????????????*) o=0 ;; 0?*) o=0 ;; esac
  [ "$o" -gt "$size" ] && o=0
  s=$o
  [ $((size - o)) -le {TAIL_LIMIT} ] || s=$((size - {TAIL_LIMIT}))
  echo "O ${{log%/*}} $o $s"
  [ "$s" -ge "$size" ] || tail -c +$((s + 1)) "$log" | awk -v log_name="$log" '{_TAIL}'
done
exit 0
"""

# $4 after how many seconds the look ends by itself, whatever holds it up; empty: never.
PROBE = f"""{_WATCHDOG}
[ -z "$4" ] || mngr_watchdog "$4"
{_PROBE}"""

# $1 to $3 as above, $4 what the caller has seen, $5 how often to look, $6 as $4 above. Answers when something else is
# to be seen, or at the end: first a checksum of what it saw, for the next call. The first line of a look holds the
# time of day.
LONG_PROBE = f"""{_WATCHDOG}
[ -z "$6" ] || mngr_watchdog "$6"
look() (
{_PROBE}
)
n=0 last=
while :; do
  rung=; [ ! -f "$1/bell" ] || {{ read -r rung <"$1/bell"; }} 2>/dev/null
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
    """A look. On a host that may lose us it ends by itself after so many seconds."""
    watchdog = str(ends_after_s or "")
    return ("sh", "-c", PROBE, "mngr-probe", paths.dir, paths.tmux, agent_glob, watchdog)


def long_probe_argv(
    paths: HostPaths, seen: str, at_most_s: float, *, ends_after_s: int = 0
) -> tuple[str, ...]:
    """A look that waits, there, until it sees something else than `seen`."""
    ticks, watchdog = str(max(1, int(at_most_s * 5))), str(ends_after_s or "")
    return (
        *("sh", "-c", LONG_PROBE, "mngr-watch", paths.dir, paths.tmux, EVERY_AGENT),
        *(seen, ticks, watchdog),
    )


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
                alive=mark is not None
                and mark.boot in ("-", self.boot)
                and _is_same(mark, self._stats.get(agent)),
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


def _is_same(mark: ProcessMark, stat_now: str | None) -> bool:
    if stat_now is None:
        return False
    if stat_now == "?":
        return True
    fields = stat_now.rpartition(")")[2].split()
    is_zombie = bool(fields) and fields[0] in "ZX"
    return not is_zombie and (not mark.start or start_time(stat_now) == mark.start)
