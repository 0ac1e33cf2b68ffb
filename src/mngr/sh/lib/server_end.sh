# How a tmux server of ours is ended: TMUX_DIR is the directory of its socket and of the file `pid`, which holds its
# process id and when that began.
# uses: lock tmux

# Sets `started` to the time at which the process $1 began, `-` where the system has no /proc; false once it has ended,
# also as a zombie: not every init buries it soon.
mngr_started() {
  if [ ! -d /proc/self ]; then started=-; kill -0 "$1" 2>/dev/null; return; fi
  stat=; { read -r stat <"/proc/$1/stat"; } 2>/dev/null
  # shellcheck disable=SC2086 # its fields
  set -- ${stat##*) }
  case ${1-Z} in Z|X) return 1 ;; esac
  started=${20}
}
# Waits for the end of the server with pid $1 that began at $2, and removes its socket; without them only that, so that
# another server can start. A server that was told to end may stay: a session that came in at that moment keeps it, and it
# closes every new connection.
mngr_end_server() {
  mngr_waited=0
  while [ -n "${2-}" ] && mngr_started "$1" && [ "$started" = "$2" ] && [ "$mngr_waited" -lt 500 ]; do
    case $mngr_waited in 100) kill -TERM "$1" ;; 300) kill -KILL "$1" ;; esac
    mngr_waited=$((mngr_waited + 1)); sleep 0.01
  done
  rm -f "$TMUX_DIR/socket"
}
mngr_end_recorded() {
  server= since=; { read -r server since <"$TMUX_DIR/pid"; } 2>/dev/null
  [ "$since" != - ] || since=
  mngr_end_server "$server" "$since"
}
# Ends the server when no session is left, waits until it is gone, and removes its socket.
#
# Asked and done inside the server, so that a session made meanwhile keeps it; one that comes too late is refused, and its
# launch starts another server behind the same lock. Where another mngr holds that lock for long the server stays: the
# next one that ends a session comes here again.
mngr_end_if_empty() {
  mngr_lock_at "$TMUX_DIR/lock"
  if [ -O "$TMUX_DIR" ] && mngr_take 30; then
    end="set-option -g @mngr_ending 1 ; display-message -p 'ending #{pid}' ; kill-server"
    answer=$(mngr_tmux if-shell -F '#{S:x}' 'display-message -p kept' "$end" 2>&1)
    case $answer in
      'ending '*) server=${answer#* }; started=; mngr_started "$server"; mngr_end_server "$server" "$started" ;;
      *"server exited"*|*"lost server"*) mngr_end_recorded ;;
      # No server listens.
      *"no server running"*|*"No such file"*) rm -f "$TMUX_DIR/socket" ;;
    esac
    mngr_drop
  fi
}
# Keeps the last screen of session $1 in the file $2 and ends the session.
mngr_kill() {
  # On a full disk there is no file to capture into, and tmux is not run at all.
  mngr_tmux capture-pane -p -e -S - -t "=$1:" \; kill-session -t "=$1" 2>/dev/null >"$2.new.$$" &&
    mv -f "$2.new.$$" "$2" || { rm -f "$2.new.$$"; mngr_tmux kill-session -t "=$1"; } 2>/dev/null
}
