# The steps of a launch, around which the manager puts lines of its own. AGENT_DIR is the agent's directory.
# uses: server

mngr_launch_check() {
  command -v tmux >/dev/null 2>&1 || exit "$EXIT_NO_TMUX"
  [ ! -e "$TMUX_DIR" ] || mngr_own || exit 1
}
# Starts the session by the tmux command "$@", which prints LAUNCHED, and the server where none runs. ENDING is the answer
# of a server that is about to end. tmux exits with 0 also where a server ended before it read the command of a client
# that it had accepted: then nothing is printed.
mngr_launch() {
  [ ! -e "$AGENT_DIR/exit.json" ] && [ ! -e "$AGENT_DIR/pid" ] || rm -f "$AGENT_DIR/exit.json" "$AGENT_DIR/pid"
  [ -S "$TMUX_DIR/socket" ] || mngr_server || exit 1
  n=0
  until out=$(mngr_tmux "$@" 2>&1 </dev/null) && [ -n "$out" ] && [ -z "${out##*"$LAUNCHED"*}" ]; do
    case $out in
      *"duplicate session"*) exit "$EXIT_TAKEN" ;;
      *"$ENDING"*) sleep 0.01; mngr_server || exit 1 ;;
      ''|*"no server"*|*"error connecting"*|*"server exited"*|*"lost server"*|*"No such file"*) mngr_server || exit 1 ;;
      *) echo "$out" >&2; exit 1 ;;
    esac
    n=$((n + 1))
    [ "$n" -lt 50 ] || { echo "$out" >&2; exit 1; }
  done
}
# Waits until the program sleeps on two looks in a row, or ended, or 0.3 s are over, without /proc 0.1 s: one that starts
# is busy, and one that waits for something has come up. Then prints how often it was seen asleep and its pid, then its
# exit record and the screen of SESSION, or an empty line. Ends the shell.
mngr_settle() {
  n=0
  until [ -e "$AGENT_DIR/pid" ] || [ -e "$AGENT_DIR/exit.json" ] || [ "$n" -ge 1000 ]; do
    n=$((n + 1)); sleep 0.002
  done
  # shellcheck disable=SC2034 # only the first word counts
  { pid=0; read -r pid rest <"$AGENT_DIR/pid"; } 2>/dev/null
  n=0; calm=0; gone=0
  while [ "$n" -lt 60 ] && [ "$calm" -lt 2 ] && [ ! -e "$AGENT_DIR/exit.json" ]; do
    stat=; { read -r stat <"/proc/$pid/stat"; } 2>/dev/null
    state=${stat##*) }
    case $state in S*) calm=$((calm + 1)) ;; *) calm=0 ;; esac
    # Until the exec it is still sh, which sleeps for its own reasons.
    line=; { read -r line <"/proc/$pid/cmdline"; } 2>/dev/null
    case $line in *run.sh*launch) calm=0 ;; esac
    [ -d /proc/self ] || [ "$n" -lt 20 ] || break
    # It is dead and tmux's hook has yet to write the record: wait for that rather than count.
    case $state in Z*|X*|'') [ -d /proc/self ] && [ "$gone" -lt 400 ] && n=$((n - 1)) && gone=$((gone + 1)) ;; esac
    # tmux misses the death of a child that ends while libutempter runs its helper; the signal makes it look again.
    # shellcheck disable=SC2086 # its fields
    case $state in Z*) set -- $state; kill -CHLD "$2" 2>/dev/null ;; esac
    n=$((n + 1)); [ "$calm" -ge 2 ] || sleep 0.005
  done
  echo "$calm ${pid:-0}"
  if [ -e "$AGENT_DIR/exit.json" ]; then
    cat "$AGENT_DIR/exit.json"
    mngr_tmux capture-pane -p -t "=$SESSION:" 2>/dev/null
  else
    echo
  fi
  exit 0
}
