"""Sessions: one per agent, window 0 runs the agent, made in one tmux call so that no output is lost."""

from msgspec import Struct

from mngr.errors import MngrError, RefusedError, UnreachableError
from mngr.hosts.protocol import Host
from mngr.model.agent import AgentSpec
from mngr.process import Completed
from mngr.sh.program import READ_AND_RUN, encode
from mngr.sh.quote import quote, words
from mngr.store.paths import AgentPaths, HostPaths
from mngr.store.untrusted import LAST_PID, read_number
from mngr.tmux.pane import COLUMNS, ROWS
from mngr.tmux.recording import RECORDER, ensure_index_writer
from mngr.tmux.server import ENDING, end_if_empty, start_function, tmux_sh, unless_ending

NO_TMUX = 70
TAKEN = 71


class Launched(Struct, frozen=True):
    """A session that runs: its process and, when that ended at once, how."""

    pid: int
    exit_json: bytes = b""
    screen: str = ""
    has_settled: bool = False
    """The program was seen waiting for something, twice in a row."""
    said: str = ""
    """What the lines before the launch printed."""


def launch(host: Host, spec: AgentSpec, *, before: str = "", after: str = "") -> Launched:
    """Starts the agent's session and looks until its program has settled or ended.

    `before` and `after` are shell lines run around the start in the same round trip, `after` while the program comes
    up. On failure no session is left.
    """
    script = launch_script(HostPaths(host.dir), spec, before=before, after=after)
    return read_launch(run_there(host, script), host, spec)


def run_there(host: Host, script: str) -> Completed:
    """Runs the lines of a launch."""
    return host.run(READ_AND_RUN, stdin=encode(script), timeout_s=60)


def read_launch(done: Completed, host: Host, spec: AgentSpec) -> Launched:
    """What became of a launch, from how its script ended."""
    if done.code == NO_TMUX:
        raise UnreachableError(
            f'host "{host.name}" has no tmux',
            hint=f"install it there (apt-get install tmux), or set providers.{host.provider}.bootstrap = true",
        )
    if done.code == TAKEN:
        raise RefusedError(
            f'a tmux session "{spec.session}" is there already', hint="its agent is gone? mngr gc removes it"
        )
    if done.code != 0:
        raise MngrError(
            f'could not start "{spec.name}": {done.complaint}', hint="mngr doctor looks for the cause"
        )
    head, _, rest = done.stdout.partition(b"\n")
    exit_json, _, screen = rest.partition(b"\n")
    *said, calm, pid = ["", "", *head.decode(errors="replace").split()]
    number = read_number(pid, LAST_PID)
    if number is None:
        raise MngrError(f'could not start "{spec.name}": "{host.name}" did not say which process it is')
    settled = (read_number(calm, LAST_PID) or 0) > 1 and not exit_json
    return Launched(number, exit_json, screen.decode(errors="replace"), settled, " ".join(said).strip())


def launch_script(paths: HostPaths, spec: AgentSpec, *, before: str, after: str) -> str:
    """The shell lines of a launch, for a visit that does more; `read_launch` says what became of it."""
    agent = paths.agent(spec.id)
    return f"""\
command -v tmux >/dev/null 2>&1 || exit {NO_TMUX}
{start_function(paths)}
[ ! -e {quote(paths.tmux)} ] || mngr_own || exit 1
D={quote(agent.dir)}
{before}
[ ! -e "$D/exit.json" ] && [ ! -e "$D/pid" ] || rm -f "$D/exit.json" "$D/pid"
[ -S {quote(paths.socket)} ] || mngr_server || exit 1
n=0
until out=$({tmux_sh(paths)} {_new_session(agent, spec)} 2>&1 </dev/null); do
  case $out in
    *"duplicate session"*) exit {TAKEN} ;;
    *{ENDING}*) sleep 0.01; mngr_server || exit 1 ;;
    *"no server"*|*"error connecting"*|*"server exited"*|*"lost server"*|*"No such file"*) mngr_server || exit 1 ;;
    *) echo "$out" >&2; exit 1 ;;
  esac
  n=$((n + 1))
  [ "$n" -lt 50 ] || {{ echo "$out" >&2; exit 1; }}
done
{ensure_index_writer(paths) if spec.record else ""}
{after}
{_SETTLE}
echo "$calm ${{pid:-0}}"
if [ -e "$D/exit.json" ]; then
  cat "$D/exit.json"
  {tmux_sh(paths)} capture-pane -p -t {quote(f"={spec.session}:")} 2>/dev/null
else
  echo
fi
exit 0
"""


def _new_session(agent: AgentPaths, spec: AgentSpec) -> str:
    target = quote(f"={spec.session}:")
    size = f"-x {COLUMNS} -y {ROWS}"
    parts = [
        f"new-session -d -s {quote(spec.session)} -n agent {size} -c / {words('sh', agent.run, 'launch')}",
        f"set-option -t {target} @mngr_id {spec.id}",
        # Read by the hook of servers that an earlier mngr has started.
        f"set-option -t {target} @mngr_dir {quote(agent.dir)}",
        f"set-option -w -t {target} window-size manual",
    ]
    if spec.record:
        parts.append(f"set-option -t {target} @mngr_raw {quote(quote(agent.raw))}")
        parts.append(f"pipe-pane -t {target} {quote(RECORDER)}")
    for name, command in spec.windows.items():
        shell = words("sh", agent.run, "--", "sh", "-c", command)
        # tmux expands formats in a window's name.
        parts.append(f"new-window -d -t {target} -n {quote(name.replace('#', '##'))} -c / {shell}")
    return unless_ending(*parts)


# Waits until the program sleeps on two looks in a row, or ended, or 0.3 s are over. A program that starts is busy; one
# that waits for something has come up. Without /proc: 0.1 s.
_SETTLE = """\
n=0
until [ -e "$D/pid" ] || [ -e "$D/exit.json" ] || [ "$n" -ge 1000 ]; do n=$((n + 1)); sleep 0.002; done
pid=0; { read -r pid rest <"$D/pid"; } 2>/dev/null
n=0; calm=0; gone=0
while [ "$n" -lt 60 ] && [ "$calm" -lt 2 ] && [ ! -e "$D/exit.json" ]; do
  stat=; { read -r stat </proc/$pid/stat; } 2>/dev/null
  state=${stat##*) }
  case $state in S*) calm=$((calm + 1)) ;; *) calm=0 ;; esac
  # Until the exec it is still sh, which sleeps for its own reasons.
  line=; { read -r line </proc/$pid/cmdline; } 2>/dev/null
  case $line in *run.sh*launch) calm=0 ;; esac
  [ -d /proc/self ] || [ "$n" -lt 20 ] || break
  # It is dead and tmux's hook has yet to write the record: wait for that rather than count.
  case $state in Z*|X*|'') [ -d /proc/self ] && [ "$gone" -lt 400 ] && n=$((n - 1)) && gone=$((gone + 1)) ;; esac
  # tmux misses the death of a child that ends while libutempter runs its helper; the signal makes it look again.
  case $state in Z*) set -- $state; kill -CHLD "$2" 2>/dev/null ;; esac
  n=$((n + 1)); [ "$calm" -ge 2 ] || sleep 0.005
done
"""


def kill_script(paths: HostPaths, sessions: list[tuple[str, AgentPaths]]) -> str:
    """Shell lines that keep each session's last screen and end the session; the server goes with the last one."""
    lines = []
    for session, agent in sessions:
        # A name that nobody can have put a FIFO at.
        target, screen, new = quote(f"={session}:"), quote(agent.screen), quote(f"{agent.screen}.new.") + "$$"
        kill = f"kill-session -t {quote('=' + session)}"
        # On a full disk there is no file to capture into, and tmux is not run at all.
        lines.append(
            f"{tmux_sh(paths)} capture-pane -p -e -S - -t {target} \\; {kill} 2>/dev/null >{new} && "
            f"mv -f {new} {screen} || {{ rm -f {new}; {tmux_sh(paths)} {kill}; }} 2>/dev/null"
        )
    return "\n".join(lines) + "\n" + end_if_empty(paths)
