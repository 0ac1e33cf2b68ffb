"""A tmux server of our own per host dir: the user's server, sessions and keys are never touched."""

import os
import zlib

from mngr.sh.lines import put
from mngr.sh.quote import quote, words
from mngr.store.paths import HostPaths
from mngr.tmux.lock import lock_shell

_CONF = """\
set -s exit-empty off
set -s escape-time 0
set -g remain-on-exit on
set -g remain-on-exit-format ""
set -g update-environment ""
set -g default-terminal screen-256color
set -g history-limit 20000
set -g status off
set -g automatic-rename off
set -g allow-rename off
set -g set-titles off
set -g base-index 0
set -g pane-base-index 0
set -g prefix None
set -g prefix2 None
unbind -a
bind -n C-q detach-client
set-hook -g pane-died "run-shell -b \\"sh #{@mngr_reap} #{@mngr_id} #{pane_pid} '#{pane_dead_status}' \
'#{pane_dead_signal}'\\""
"""

# $0 in the directory of the socket, $1 the agent's id, $2 pid, $3 status, $4 signal. Another pane of the session may
# die too: only the agent's own counts.
_REAP = """\
host=${0%/tmux/*}
dir=$host/agents/${1:?}
[ -d "$dir" ] || exit 0
{ read -r own rest <"$dir/pid"; } 2>/dev/null
[ "${own-}" = "$2" ] || exit 0
at=$(date +%s)
code=${3:-null} signal=null
[ -n "$4" ] && code=null && signal="\\"SIG$(kill -l "$4" 2>/dev/null || echo "$4")\\""
printf '{"pid":%s,"exit_code":%s,"signal":%s,"at":%s}\\n' "$2" "$code" "$signal" "$at" >"$dir/exit.json.new.$$" &&
  mv -f "$dir/exit.json.new.$$" "$dir/exit.json"
printf '{"at":%s,"kind":"exited","data":{"exit_code":%s,"signal":%s}}\\n' "$at" "$code" "$signal" >>"$dir/events.jsonl"
printf '%s\\n' "$$ $at" >"$host/bell.$$" && mv -f "$host/bell.$$" "$host/bell"
"""

# $1: a process. `started` becomes the time it began, `-` where the system has no /proc. A zombie has ended: not every
# init buries it soon.
_STARTED = """\
mngr_started() {
  if [ ! -d /proc/self ]; then started=-; kill -0 "$1" 2>/dev/null; return; fi
  stat=; { read -r stat </proc/$1/stat; } 2>/dev/null
  set -- ${stat##*) }
  case ${1-Z} in Z|X) return 1 ;; esac
  started=${20}
}
"""

# A server that was told to end may stay: a session that came in at that moment keeps it, and it closes every new
# connection. $1 is its pid, $2 when it began; without them only its socket is removed, so that another can start.
_END_SERVER = """\
mngr_end_server() {
  mngr_waited=0
  while [ -n "${2-}" ] && mngr_started "$1" && [ "$started" = "$2" ] && [ "$mngr_waited" -lt 500 ]; do
    case $mngr_waited in 100) kill -TERM "$1" ;; 300) kill -KILL "$1" ;; esac
    mngr_waited=$((mngr_waited + 1)); sleep 0.01
  done
  rm -f SOCKET
}
mngr_end_recorded() {
  server= since=; { read -r server since <PID_FILE; } 2>/dev/null
  [ "$since" != - ] || since=
  mngr_end_server "$server" "$since"
}
"""

# What tmux says when a connection was closed by a server that exits.
_EXITING = '*"server exited"*|*"lost server"*'
# Where no server listens.
_ABSENT = '*"no server running"*|*"No such file"*'

_FD_LIMIT = 65536
CLEAN_ENV = 'HOME="$HOME" PATH="$PATH" LANG="${LANG:-C.UTF-8}" TERM=xterm-256color SHELL=/bin/sh'
"""Shell words: all of the environment that reaches the server, and so every agent."""


# sockaddr_un holds 108 bytes, 104 on some systems.
_ADDRESS_LIMIT = 100
ENDING = "mngr:ending"
"""What tmux says when a session is refused because its server is about to end."""


def tmux(paths: HostPaths, *arguments: str) -> tuple[str, ...]:
    """The argv of a tmux command on our server; `-N` starts none, since that would inherit our environment."""
    return (*_client(paths, "-N"), *arguments)


def tmux_sh(paths: HostPaths) -> str:
    """The same as the start of a shell command."""
    return words(*tmux(paths))


def attach_argv(paths: HostPaths, session: str, *, read_only: bool = False) -> tuple[str, ...]:
    """What attaches a terminal to a session; its window takes the terminal's size, unless we only look."""
    attach = (*_client(paths, "-u"), "attach-session")
    if read_only:
        return (*attach, "-r", "-f", "ignore-size", "-t", f"={session}")
    resize = ("set-option", "-w", "-t", f"={session}:", "window-size", "latest")
    return (*attach, "-t", f"={session}", ";", *resize)


def unless_ending(*commands: str) -> str:
    """The words of one tmux command that runs all of these, or fails with ENDING in a server that is about to end.

    A server that was told to end still runs what connected clients have sent. Were that a new session, it would
    never end, and nobody could reach the session. The commands are quoted for the shell, which tmux reads alike.
    """
    # There is no such buffer: the error is the answer. It would not keep tmux from running commands joined by `;`.
    return f"if-shell -F '#{{@mngr_ending}}' 'delete-buffer -b {ENDING}' {quote(' ; '.join(commands))}"


def start_function(paths: HostPaths) -> str:
    """The sh functions `mngr_server`, which starts our server with a clean environment unless it runs, and `mngr_own`,
    which tells whether the directory of the socket is ours."""
    conf = f"{paths.tmux}/{_named('conf', _CONF)}"
    reap = f"{paths.tmux}/{_named('sh', _REAP)}"
    folder, socket = quote(paths.tmux), quote(paths.socket)
    start = words(*_client(paths, "-f", conf), "start-server")
    return f"""\
{lock_shell(_lock(paths))}
{_end_functions(paths)}
mngr_own() {{
  [ -O {folder} ] && [ ! -L {folder} ] && return
  printf '%s\\n' {quote(paths.tmux + " belongs to another user")} >&2; return 1
}}
mngr_server() {{
  (umask 077; mkdir -p {folder}) && mngr_own || return 1
  mngr_take 30 || {{ printf '%s\\n' {quote(_lock(paths) + " is held by another mngr")} >&2; return 1; }}
  answer= rc=0
  if [ ! -S {socket} ] || ! answer=$({tmux_sh(paths)} show-options -s exit-empty 2>&1); then
    case $answer in {_EXITING}) mngr_end_recorded ;; esac
    mngr_begin || rc=1
  fi
  mngr_drop
  return $rc
}}
mngr_begin() {{
  [ -e {quote(conf)} ] || {{ {put(conf, _CONF)}; }} || return 1
  [ -e {quote(reap)} ] || {{ {put(reap, _REAP)}; }} || return 1
  server=$(
    ulimit -S -n {_FD_LIMIT} 2>/dev/null || ulimit -S -n "$(ulimit -H -n)"
    cd / && exec env -i {CLEAN_ENV} {start} \\; set-option -g @mngr_reap {quote(quote(reap))} \\; \
      display-message -p '#{{pid}}' </dev/null 9>&-
  ) || return 1
  mngr_started "$server" && printf '%s %s\\n' "$server" "$started" >{quote(_pid_file(paths))}
  :
}}
"""


def end_if_empty(paths: HostPaths) -> str:
    """Shell lines that end the server when no session is left, wait until it is gone, and remove its socket.

    Asked and done inside the server, so that a session made meanwhile keeps it; one that comes too late is refused
    (`unless_ending`), and its launch starts another server behind the same lock. Where another mngr holds that lock
    for long the server stays: the next one that ends a session comes here again.
    """
    end = "set-option -g @mngr_ending 1 ; display-message -p 'ending #{pid}' ; kill-server"
    return f"""\
{lock_shell(_lock(paths))}
{_end_functions(paths)}
if [ -O {quote(paths.tmux)} ] && mngr_take 30; then
  answer=$({tmux_sh(paths)} if-shell -F '#{{S:x}}' 'display-message -p kept' {quote(end)} 2>&1)
  case $answer in
    'ending '*) server=${{answer#* }}; started=; mngr_started "$server"; mngr_end_server "$server" "$started" ;;
    {_EXITING}) mngr_end_recorded ;;
    {_ABSENT}) rm -f {quote(paths.socket)} ;;
  esac
  mngr_drop
fi
"""


def _client(paths: HostPaths, *flags: str) -> tuple[str, ...]:
    """The first words of a tmux command on our server.

    Where the socket's path is too long for an address, tmux is run in its directory: another place for the socket,
    such as /tmp, would be one that other users reach.
    """
    if len(os.fsencode(paths.socket)) <= _ADDRESS_LIMIT:
        return ("tmux", *flags, "-S", paths.socket)
    return ("sh", "-c", 'cd "$0" && [ -O . ] && exec tmux "$@"', paths.tmux, *flags, "-S", "socket")


def _end_functions(paths: HostPaths) -> str:
    end = _END_SERVER.replace("SOCKET", quote(paths.socket)).replace("PID_FILE", quote(_pid_file(paths)))
    return _STARTED + end


def _lock(paths: HostPaths) -> str:
    return f"{paths.tmux}/lock"


def _pid_file(paths: HostPaths) -> str:
    """The server's process id and when it began."""
    return f"{paths.tmux}/pid"


def _named(ending: str, text: str) -> str:
    """A file name that changes with its text, so that managers of two versions do not fight over one file."""
    return f"mngr-{zlib.crc32(text.encode()):08x}.{ending}"
