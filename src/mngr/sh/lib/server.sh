# Starts our tmux server. CONF and REAP are the files of its configuration and of the program of its hook, CONF_TEXT and
# REAP_TEXT what they hold, REAP_WORD the second as a word of the shell, FD_LIMIT how
# many files it may have open.
# uses: lock tmux clean_env files server_end

# Whether the directory of the socket is ours.
mngr_own() {
  [ -O "$TMUX_DIR" ] && [ ! -L "$TMUX_DIR" ] && return
  printf '%s\n' "$TMUX_DIR belongs to another user" >&2; return 1
}
# Starts the server with a clean environment unless it runs.
mngr_server() {
  (umask 077; mkdir -p "$TMUX_DIR") && mngr_own || return 1
  mngr_lock_at "$TMUX_DIR/lock"
  mngr_take 30 || { printf '%s\n' "$TMUX_DIR/lock is held by another mngr" >&2; return 1; }
  answer= rc=0
  if [ ! -S "$TMUX_DIR/socket" ] || ! answer=$(mngr_tmux show-options -s exit-empty 2>&1); then
    # The connection was closed by a server that exits.
    case $answer in *"server exited"*|*"lost server"*) mngr_end_recorded ;; esac
    mngr_begin || rc=1
  fi
  mngr_drop
  return $rc
}
mngr_begin() {
  [ -e "$CONF" ] || mngr_put "$CONF" "$CONF_TEXT" || return 1
  [ -e "$REAP" ] || mngr_put "$REAP" "$REAP_TEXT" || return 1
  server=$(
    # shellcheck disable=SC3045 # dash, busybox and bash have these options
    ulimit -S -n "$FD_LIMIT" 2>/dev/null || ulimit -S -n "$(ulimit -H -n)"
    if [ "$SOCKET" = socket ]; then cd "$TMUX_DIR" && [ -O . ]; else cd /; fi &&
      mngr_clean tmux -f "$CONF" -S "$SOCKET" start-server \; set-option -g @mngr_reap "$REAP_WORD" \; \
        display-message -p '#{pid}' </dev/null 9>&-
  ) || return 1
  # shellcheck disable=SC2154 # `started` is set by mngr_started
  mngr_started "$server" && printf '%s %s\n' "$server" "$started" >"$TMUX_DIR/pid"
  :
}
