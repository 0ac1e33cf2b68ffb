# The steps of a paste into pane TARGET, between which an agent type may have lines of its own. LOCK is the lock that
# senders take in turns.
# uses: lock tmux

mngr_dead() { mngr_tmux display-message -p -t "$TARGET" '#{pane_dead}' 2>/dev/null </dev/null || echo 1; }
# Takes the lock. Ends the shell if another sender holds it for $1 seconds or the program has ended.
mngr_take_pane() {
  mngr_lock_at "$LOCK"
  mngr_take "$1" || exit "$EXIT_HELD"
  [ "$(mngr_dead)" = 0 ] || { mngr_drop; exit "$EXIT_DEAD"; }
}
# Ends the shell unless the terminal at $1 still has the settings $2.
mngr_check_terminal() {
  [ "$(stty -a <"$1" 2>/dev/null)" = "$2" ] || { mngr_drop; exit "$EXIT_CHANGED"; }
}
# Runs the tmux command "$@", which pastes from the buffer BUFFER. Prints 0 if process PID and its pane still live. Ends the
# shell if tmux could not paste.
mngr_paste() {
  if [ $# -gt 0 ] && ! mngr_tmux "$@" 9>&-; then
    mngr_tmux delete-buffer -b "$BUFFER" 2>/dev/null; mngr_drop; exit 1
  fi
  kill -0 "$PID" 2>/dev/null && mngr_dead || echo 1
}
