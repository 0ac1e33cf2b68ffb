"""A tmux server of our own per host dir: the user's server, sessions and keys are never touched."""

import zlib

from mngr.store.paths import HostPaths
from mngr.store.script import put, quote
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
set-hook -g pane-died "run-shell -b \\"sh #{q:@mngr_reap} #{q:@mngr_dir} #{pane_pid} '#{pane_dead_status}' \
'#{pane_dead_signal}' #{q:@mngr_bell}\\""
"""

# $1 the agent's dir, $2 pid, $3 status, $4 signal, $5 bell. Another pane of the session may die too: only ours counts.
_REAP = """\
[ -d "$1" ] || exit 0
{ read -r own rest <"$1/pid"; } 2>/dev/null
[ "${own-}" = "$2" ] || exit 0
at=$(date +%s)
code=${3:-null} signal=null
[ -n "$4" ] && code=null && signal="\\"SIG$(kill -l "$4" 2>/dev/null || echo "$4")\\""
printf '{"pid":%s,"exit_code":%s,"signal":%s,"at":%s}\\n' "$2" "$code" "$signal" "$at" >"$1/exit.json.new.$$" &&
  mv -f "$1/exit.json.new.$$" "$1/exit.json"
printf '{"at":%s,"kind":"exited","data":{"exit_code":%s,"signal":%s}}\\n' "$at" "$code" "$signal" >>"$1/events.jsonl"
printf '%s\\n' "$$ $at" >"$5.$$" && mv -f "$5.$$" "$5"
"""

# `kill -0` calls a zombie alive, and not every init reaps.
_LIVES = """\
mngr_lives() {
  kill -0 "$1" 2>/dev/null || return 1
  stat=; { read -r stat </proc/$1/stat; } 2>/dev/null
  case $stat in *') Z '*|*') X '*) return 1 ;; esac
}
"""

_FD_LIMIT = 65536
CLEAN_ENV = 'HOME="$HOME" PATH="$PATH" LANG="${LANG:-C.UTF-8}" TERM=xterm-256color SHELL=/bin/sh'
"""Shell words: all of the environment that reaches the server, and so every agent."""


def tmux(paths: HostPaths, *arguments: str) -> tuple[str, ...]:
    """The argv of a tmux command on our server; `-N` starts none, since that would inherit our environment."""
    return ("tmux", "-N", "-S", paths.socket, *arguments)


def tmux_sh(paths: HostPaths) -> str:
    """The same as the start of a shell command."""
    return f"tmux -N -S {quote(paths.socket)}"


def attach_argv(paths: HostPaths, session: str, *, read_only: bool = False) -> tuple[str, ...]:
    """What attaches a terminal to a session; its window takes the terminal's size, unless we only look."""
    attach = ("tmux", "-u", "-S", paths.socket, "attach-session")
    if read_only:
        return (*attach, "-r", "-f", "ignore-size", "-t", f"={session}")
    resize = ("set-option", "-w", "-t", f"={session}:", "window-size", "latest")
    return (*attach, "-t", f"={session}", ";", *resize)


def start_function(paths: HostPaths) -> str:
    """The sh function `mngr_server`, which starts our server with a clean environment unless it runs."""
    conf = f"{paths.tmux}/{_named('conf', _CONF)}"
    reap = f"{paths.tmux}/{_named('sh', _REAP)}"
    socket_dir = quote(paths.socket.rpartition("/")[0])
    return f"""\
{lock_shell(_lock(paths))}
mngr_server() {{
  (umask 077; mkdir -p {quote(paths.tmux)} {socket_dir}) || return 1
  [ -O {socket_dir} ] || {{ echo "{paths.socket.rpartition("/")[0]} belongs to someone else" >&2; return 1; }}
  mngr_take 20 || return 1
  if ! {tmux_sh(paths)} show-options -s exit-empty >/dev/null 2>&1; then
    [ -e {quote(conf)} ] || {put(conf, _CONF)}
    [ -e {quote(reap)} ] || {put(reap, _REAP)}
    (cd / && ulimit -S -n {_FD_LIMIT} 2>/dev/null || ulimit -S -n "$(ulimit -H -n)"
     cd / && exec env -i {CLEAN_ENV} \\
       tmux -S {quote(paths.socket)} -f {quote(conf)} start-server \\; \\
       set-option -g @mngr_reap {quote(reap)} \\; set-option -g @mngr_bell {quote(paths.bell)}) </dev/null 9>&-
  fi
  rc=$?
  mngr_drop
  return $rc
}}
"""


def end_if_empty(paths: HostPaths) -> str:
    """Shell lines that end the server when no session is left, and wait until it is gone.

    Asked and done inside the server, so that a session made meanwhile keeps it; a creation that comes too late
    finds no server and starts one, behind the same lock.
    """
    folder = paths.socket.rpartition("/")[0]
    leave_tmp = "" if folder == paths.tmux else f"; rmdir {quote(folder)} 2>/dev/null"
    return f"""\
{lock_shell(_lock(paths))}
{_LIVES}
[ ! -d {quote(paths.tmux)} ] || mngr_take 20 || exit 1
server=$({tmux_sh(paths)} display-message -p '#{{pid}}' 2>/dev/null)
if [ -n "$server" ]; then
  {tmux_sh(paths)} if-shell -F '#{{S:x}}' '' kill-server >/dev/null 2>&1
  n=0
  while mngr_lives "$server" && [ "$n" -lt 100 ] && ! {tmux_sh(paths)} has-session 2>/dev/null; do
    n=$((n + 1)); sleep 0.01
  done
  mngr_lives "$server" || rm -f {quote(paths.socket)}{leave_tmp}
fi
[ ! -d {quote(paths.tmux)} ] || mngr_drop
"""


def _lock(paths: HostPaths) -> str:
    return f"{paths.tmux}/lock"


def _named(ending: str, text: str) -> str:
    """A file name that changes with its text, so that managers of two versions do not fight over one file."""
    return f"mngr-{zlib.crc32(text.encode()):08x}.{ending}"
