"""Sessions: one per agent, window 0 runs the agent, made in one tmux call so that no output is lost."""

import zlib

from msgspec import Struct

from mngr.errors import MngrError, RefusedError, UnreachableError
from mngr.hosts.protocol import Host
from mngr.model.agent import AgentSpec
from mngr.process import Completed
from mngr.sh.codes import Exit
from mngr.sh.lines import put
from mngr.sh.program import READ_AND_RUN, encode, program, quote, words
from mngr.store.paths import AgentPaths, HostPaths
from mngr.store.rules import LAST_PID
from mngr.store.untrusted import read_number
from mngr.tmux.pane import COLUMNS, ROWS
from mngr.tmux.server import ENDING, LAUNCHED, server_values, tmux_values, unless_ending

RAW_LIMIT = 64 * 1024 * 1024
"""Where a recording stops; twice that where the host's sh counts its limits in KB."""

# One `cat`, which writes at once and ends at the limit. tmux expands formats and times in this command, but not in
# the value of an option: that is where the quoted path is.
RECORDER = f"umask 077; ulimit -c 0; ulimit -f {RAW_LIMIT // 512}; exec cat >>#{{@mngr_raw}}"
"""The shell command that takes a recorded pane's output: raw bytes by tmux's own pipe."""


class Launched(Struct, frozen=True):
    """A session that runs: its process and, when that ended at once, how."""

    pid: int
    exit_json: bytes = b""
    screen: str = ""
    has_settled: bool = False
    """The program was seen waiting for something, twice in a row."""
    printed: str = ""
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
    if done.code == Exit.NO_TMUX:
        raise UnreachableError(
            f'host "{host.name}" has no tmux',
            hint=f"install it there (apt-get install tmux), or set providers.{host.provider}.bootstrap = true",
        )
    if done.code == Exit.TAKEN:
        raise RefusedError(
            f'a tmux session "{spec.session}" is there already', hint="its agent is gone? mngr gc removes it"
        )
    if done.code != 0:
        raise MngrError(
            f'could not start "{spec.name}": {done.complaint}', hint="mngr doctor looks for the cause"
        )
    head, _, rest = done.stdout.partition(b"\n")
    exit_json, _, screen = rest.partition(b"\n")
    *printed, calm, pid = ["", "", *head.decode(errors="replace").split()]
    number = read_number(pid, LAST_PID)
    if number is None:
        raise MngrError(f'could not start "{spec.name}": "{host.name}" did not say which process it is')
    settled = (read_number(calm, LAST_PID) or 0) > 1 and not exit_json
    return Launched(number, exit_json, screen.decode(errors="replace"), settled, " ".join(printed).strip())


def launch_script(paths: HostPaths, spec: AgentSpec, *, before: str, after: str) -> str:
    """The shell lines of a launch, for a visit that does more; `read_launch` says what became of it."""
    agent = paths.agent(spec.id)
    values = {**server_values(paths), "agent_dir": agent.dir, "session": spec.session}
    values |= {"ending": ENDING, "launched": LAUNCHED}
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
    parts.append(f"display-message -p {LAUNCHED}")
    steps = (
        "mngr_launch_check",
        before,
        f"mngr_launch {unless_ending(*parts)}",
        ensure_index_writer(paths) if spec.record else "",
        after,
        "mngr_settle\n",
    )
    return program("sh/lib/launch", **values) + "\n".join(filter(None, steps))


def kill_script(paths: HostPaths, sessions: list[tuple[str, AgentPaths]]) -> str:
    """Shell lines that keep each session's last screen and end the session; the server goes with the last one."""
    kills = [f"mngr_kill {words(session, agent.screen)}\n" for session, agent in sessions]
    return program("sh/lib/server_end", **tmux_values(paths)) + "".join(kills) + "mngr_end_if_empty\n"


def ensure_index_writer(paths: HostPaths) -> str:
    """Shell lines that start the host's index writer unless one runs.

    It ends by itself with the last living recorded pane. Without it a recording only loses its times, so
    nothing here ever fails.
    """
    values = {**tmux_values(paths), "agents": paths.agents, "lock": f"{paths.tmux}/index.lock"}
    text = program("sh/index_writer", **values)
    file = f"{paths.tmux}/mngr-{zlib.crc32(text.encode()):08x}.index"
    detach = (
        "if command -v setsid >/dev/null 2>&1; then exec setsid sh {0}; else trap '' HUP; exec sh {0}; fi"
    )
    return f"""\
{{ [ -e {quote(file)} ] || {put(file, text)}; }} 2>/dev/null
({detach.format(quote(file))}) </dev/null >/dev/null 2>&1 3>&- 4>&- 5>&- 6>&- 7>&- 8>&- 9>&- &
"""
